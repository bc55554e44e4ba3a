package profile

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
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
	r := &reader{file: name}
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, more yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return p, nil
	case err != nil:
		return Profile{}, fmt.Errorf("%s: %w", name, err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return Profile{}, fmt.Errorf("%s: a profile is one YAML document; a second one begins after it", name)
	}
	if doc.Content[0].Tag == "!!null" {
		return p, nil
	}
	r.profile(doc.Content[0], &p)
	if len(r.errs) > 0 {
		return Profile{}, errors.Join(r.errs...)
	}
	return p, nil
}

// reader walks the YAML tree and collects mistakes.
type reader struct {
	file string
	errs []error
}

func (r *reader) fail(n *yaml.Node, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("%s:%d: %s", r.file, n.Line, fmt.Sprintf(format, args...)))
}

// key is a known key of a mapping and what reads its value.
type key struct {
	name string
	read func(*yaml.Node)
}

func (r *reader) profile(n *yaml.Node, p *Profile) {
	rt := &p.Runtime
	r.mapping(n, "the profile", []key{
		{"requirements", func(n *yaml.Node) { r.text(n, &p.Requirements) }},
		{"runtime", func(n *yaml.Node) { r.runtime(n, rt) }},
		{"handler", func(n *yaml.Node) { r.handler(n, &p.Handler) }},
		{"assumed", func(n *yaml.Node) { r.assumed(n, &rt.Assumed) }},
	})
}

func (r *reader) runtime(n *yaml.Node, rt *Runtime) {
	access := []string{"session", "bucket", "endpoint", "region", "access_key", "secret_key"}
	common := append([]string{"runtime"}, access...)
	running := append([]string{"handlers", "handler"}, common...)
	template := func(t *Template, allowed ...string) func(*yaml.Node) {
		return func(n *yaml.Node) { r.template(n, t, allowed) }
	}
	r.mapping(n, "runtime", []key{
		{"command", func(n *yaml.Node) { r.words(n, &rt.Command) }},
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
			r.fail(n, "neither run nor env mentions {%s}, so the runtime could not be told", name)
		}
	}
}

func (r *reader) assumed(n *yaml.Node, a *Assumed) {
	text := func(s *string) func(*yaml.Node) { return func(n *yaml.Node) { r.text(n, s) } }
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

// mapping reads a mapping whose keys are known, each at most once.
func (r *reader) mapping(n *yaml.Node, what string, keys []key) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s must be a mapping, not %s", what, describe(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		at := slices.IndexFunc(keys, func(known key) bool { return known.name == k.Value })
		switch {
		case at < 0:
			var names []string
			for _, known := range keys {
				names = append(names, known.name)
			}
			r.fail(k, "unknown key %q in %s; known are %s", k.Value, what, strings.Join(names, ", "))
		case seen[k.Value]:
			r.fail(k, "key %q stands twice in %s", k.Value, what)
		default:
			seen[k.Value] = true
			keys[at].read(v)
		}
	}
}

func (r *reader) text(n *yaml.Node, s *string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.fail(n, "a text is expected, not %s", describe(n))
		return false
	}
	*s = n.Value
	return true
}

func (r *reader) words(n *yaml.Node, out *[]string) {
	if n.Kind == yaml.ScalarNode {
		n = &yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{n}, Line: n.Line}
	}
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.fail(n, "a list of words is expected, not %s", describe(n))
		return
	}
	*out = []string{}
	for _, item := range n.Content {
		var s string
		if r.text(item, &s) {
			*out = append(*out, s)
		}
	}
}

func (r *reader) template(n *yaml.Node, t *Template, allowed []string) {
	if n.Kind != yaml.SequenceNode || len(n.Content) == 0 {
		r.fail(n, "a command is a list of words, not %s", describe(n))
		return
	}
	*t = Template{}
	for _, item := range n.Content {
		if item.Kind == yaml.SequenceNode {
			var group []string
			r.words(item, &group)
			for _, w := range group {
				r.known(item, w, without(allowed, "handlers", "handler", "runtime", "files"))
			}
			*t = append(*t, Item{Group: group})
			continue
		}
		var w string
		if !r.text(item, &w) {
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
		r.fail(n, "a command begins with a program, or with {runtime}")
	}
}

func (r *reader) handlerArg(n *yaml.Node, t *Template) {
	var ws []string
	r.words(n, &ws)
	*t = Template{}
	for _, w := range ws {
		r.known(n, w, []string{"name", "command"})
		*t = append(*t, Item{Word: w})
	}
	for _, name := range []string{"name", "command"} {
		if !t.uses(name) {
			r.fail(n, "handler_arg must mention {%s}", name)
		}
	}
}

func (r *reader) env(n *yaml.Node, rt *Runtime, allowed []string) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "env must be a mapping of names to values, not %s", describe(n))
		return
	}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		var value string
		if !r.text(v, &value) {
			continue
		}
		if k.Value == "" || strings.ContainsAny(k.Value, "=\x00") {
			r.fail(k, "%q cannot be the name of an environment variable", k.Value)
		}
		if _, twice := rt.Env[k.Value]; twice {
			r.fail(k, "key %q stands twice in env", k.Value)
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
	r.words(n, out)
	for _, c := range *out {
		if !IsCapability(c) {
			r.fail(n, "unknown capability %q; known are %s", c, strings.Join(Capabilities, ", "))
		}
	}
}

func (r *reader) timeout(n *yaml.Node, out *time.Duration) {
	var s string
	if !r.text(n, &s) {
		return
	}
	d, err := time.ParseDuration(s)
	if err != nil || d <= 0 {
		r.fail(n, "timeout must be a positive duration such as 20s, not %q", s)
		return
	}
	*out = d
}

// known checks the placeholders of one word.
func (r *reader) known(n *yaml.Node, word string, allowed []string) {
	for _, name := range placeholders(word) {
		if !slices.Contains(allowed, name) {
			r.fail(n, "{%s} has no meaning here (for these braces as text, write {{%s}}); known are {%s}", name, name, strings.Join(allowed, "} {"))
		}
	}
}

func without(list []string, drop ...string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(s string) bool { return slices.Contains(drop, s) })
}

func describe(n *yaml.Node) string {
	switch {
	case n.Kind == yaml.MappingNode:
		return "a mapping"
	case n.Kind == yaml.SequenceNode && len(n.Content) == 0:
		return "an empty list"
	case n.Kind == yaml.SequenceNode:
		return "a list"
	case n.Kind == yaml.AliasNode:
		return "an alias"
	case n.Tag == "!!null":
		return "nothing"
	}
	return fmt.Sprintf("%q", n.Value)
}
