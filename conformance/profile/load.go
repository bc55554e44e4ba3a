package profile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/pugcheck/pugcheck/conformance/strictyaml"
)

// Load reads the profile at path. An empty path means DefaultFile where that
// exists, else the defaults. Mistakes in the file are reported all at once, each
// with file and line.
func Load(path string) (Profile, error) {
	name := path
	if name == "" {
		name = DefaultFile
	}
	data, err := os.ReadFile(name)
	if path == "" && errors.Is(err, fs.ErrNotExist) {
		return Profile{Runtime: Default()}, nil
	}
	if err != nil {
		return Profile{}, fmt.Errorf("profile: %w", err)
	}
	return Parse(name, data)
}

// Parse is Load for a file that has been read; name is used in messages.
func Parse(name string, data []byte) (Profile, error) {
	p := Profile{File: name, Runtime: Default()}
	r := &reader{strictyaml.Reader{File: name}}
	content, err := r.Document(data, "a profile")
	if err != nil {
		return Profile{}, err
	}
	if content == nil {
		return p, nil
	}
	r.profile(content, &p)
	if err := r.Err(); err != nil {
		return Profile{}, err
	}
	return p, nil
}

// reader reads the sections of a profile.
type reader struct{ strictyaml.Reader }

// key is a known key of a mapping and what reads its value.
type key struct {
	name string
	read func(*yaml.Node)
}

func (r *reader) mapping(n *yaml.Node, what string, keys []key) {
	known := make([]strictyaml.Key, len(keys))
	for i, k := range keys {
		known[i] = strictyaml.Key{Name: k.name, Read: k.read}
	}
	r.Mapping(n, what, known)
}

func (r *reader) profile(n *yaml.Node, p *Profile) {
	rt := &p.Runtime
	r.mapping(n, "the profile", []key{
		{"requirements", func(n *yaml.Node) { r.Text(n, &p.Requirements) }},
		{"runtime", func(n *yaml.Node) { r.runtime(n, p) }},
		{"handler", func(n *yaml.Node) { r.handler(n, p) }},
		{"assumed", func(n *yaml.Node) { r.assumed(n, &rt.Assumed) }},
	})
}

func (r *reader) runtime(n *yaml.Node, p *Profile) {
	rt := &p.Runtime
	access := []string{"session", "bucket", "endpoint", "region", "access_key", "secret_key"}
	common := append([]string{"runtime"}, access...)
	running := append([]string{"handlers", "handler"}, common...)
	template := func(t *Template, allowed ...string) func(*yaml.Node) {
		return func(n *yaml.Node) { r.template(n, t, allowed) }
	}
	r.mapping(n, "runtime", []key{
		{"command", func(n *yaml.Node) { r.Words(n, &rt.Command) }},
		{"run", template(&rt.Run, running...)},
		{"rpc", template(&rt.RPC, running...)},
		{"create", template(&rt.Create, append([]string{"agent", "handler_name", "metadata", "name"}, common...)...)},
		{"rename", template(&rt.Rename, append([]string{"from", "to"}, common...)...)},
		{"push", template(&rt.Push, append([]string{"type", "name", "content_type", "files"}, common...)...)},
		{"delete", template(&rt.Delete, append([]string{"name"}, common...)...)},
		{"lookup", template(&rt.Lookup, append([]string{"name"}, common...)...)},
		{"log", template(&rt.Log, append([]string{"version"}, common...)...)},
		{"handler_arg", func(n *yaml.Node) { r.handlerArg(n, &rt.HandlerArg) }},
		{"env", func(n *yaml.Node) { r.env(n, rt, access) }},
		{"without", func(n *yaml.Node) { r.without(n, &rt.Without) }},
		{"timeout", func(n *yaml.Node) { r.timeout(n, &rt.Timeout) }},
		{"known_failing", func(n *yaml.Node) { r.Path(n, &p.KnownFailing.Runtime) }},
	})
	r.reaches(n, rt)
}

// reaches checks that a run can be told what to do: the session, the bucket and
// the handler have to arrive on the command line or in the environment.
func (r *reader) reaches(n *yaml.Node, rt *Runtime) {
	for _, name := range []string{"session", "bucket", "handler"} {
		used := rt.Run.uses(name)
		for _, value := range rt.Env {
			used = used || slices.Contains(placeholders(value), name)
		}
		if !used {
			r.Fail(n, "neither run nor env mentions {%s}, so the runtime could not be told", name)
		}
	}
}

func (r *reader) assumed(n *yaml.Node, a *Assumed) {
	text := func(s *string) func(*yaml.Node) { return func(n *yaml.Node) { r.Text(n, s) } }
	r.mapping(n, "assumed", []key{
		{"query", func(n *yaml.Node) {
			r.mapping(n, "assumed.query", []key{
				{"agent", text(&a.Query.Agent)}, {"session", text(&a.Query.Session)}, {"version", text(&a.Query.Version)},
			})
		}},
		{"environment", func(n *yaml.Node) {
			r.mapping(n, "assumed.environment", []key{
				{"snapshot_version", text(&a.Environment.SnapshotVersion)},
				{"rpc_address", text(&a.Environment.RPCAddress)},
				{"rpc_port", text(&a.Environment.RPCPort)},
			})
		}},
		{"cache_control", func(n *yaml.Node) {
			r.mapping(n, "assumed.cache_control", []key{
				{"snapshots", text(&a.Cache.Snapshots)}, {"memory", text(&a.Cache.Memory)}, {"manifests", text(&a.Cache.Manifests)},
			})
		}},
	})
}

func (r *reader) template(n *yaml.Node, t *Template, allowed []string) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.Fail(n, "a command is a list of words, not %s", strictyaml.Describe(n))
		return
	}
	*t = Template{}
	for _, item := range n.Content {
		if item.Kind == yaml.SequenceNode {
			var group []string
			r.Words(item, &group)
			for _, w := range group {
				r.known(item, w, without(allowed, "handlers", "handler", "runtime", "files"))
			}
			*t = append(*t, Item{Group: group})
			continue
		}
		var w string
		if !r.Text(item, &w) {
			continue
		}
		if w != "{handlers}" {
			r.known(item, w, without(allowed, "handlers"))
		} else if !slices.Contains(allowed, "handlers") {
			r.known(item, w, allowed)
		}
		*t = append(*t, Item{Word: w})
	}
	if len(*t) > 0 && (*t)[0].Word == "" {
		r.Fail(n, "a command begins with a program, or with {runtime}")
	}
}

func (r *reader) handlerArg(n *yaml.Node, t *Template) {
	var ws []string
	r.Words(n, &ws)
	*t = Template{}
	for _, w := range ws {
		r.known(n, w, []string{"name", "command"})
		*t = append(*t, Item{Word: w})
	}
	for _, name := range []string{"name", "command"} {
		if !t.uses(name) {
			r.Fail(n, "handler_arg must mention {%s}", name)
		}
	}
}

func (r *reader) env(n *yaml.Node, rt *Runtime, allowed []string) {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "env must be a mapping of names to values, not %s", strictyaml.Describe(n))
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		var value string
		if !r.Text(v, &value) {
			continue
		}
		if k.Value == "" || strings.ContainsAny(k.Value, "=\x00") {
			r.Fail(k, "%q cannot be the name of an environment variable", k.Value)
		}
		if _, twice := rt.Env[k.Value]; twice {
			r.Fail(k, "key %q stands twice in env", k.Value)
		}
		r.known(v, value, append([]string{"handler"}, allowed...))
		rt.Env[k.Value] = value
	}
}

func (r *reader) without(n *yaml.Node, out *[]string) {
	if n.Kind == yaml.SequenceNode && len(n.Content) == 0 {
		*out = []string{}
		return
	}
	r.Words(n, out)
	for _, c := range *out {
		if !IsCapability(c) {
			r.Fail(n, "unknown capability %q; known are %s", c, strings.Join(Capabilities, ", "))
		}
	}
}

func (r *reader) timeout(n *yaml.Node, out *time.Duration) {
	var s string
	if !r.Text(n, &s) {
		return
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		r.Fail(n, "timeout must be a positive duration such as 20s, not %q", s)
		return
	}
	*out = d
}

// known checks the placeholders of one word.
func (r *reader) known(n *yaml.Node, word string, allowed []string) {
	for _, name := range placeholders(word) {
		if !slices.Contains(allowed, name) {
			r.Fail(n, "{%s} has no meaning here (for these braces as text, write {{%s}}); known are {%s}", name, name, strings.Join(allowed, "} {"))
		}
	}
}

func without(list []string, drop ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(drop, s) })
}
