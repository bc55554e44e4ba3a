package profile

import (
	"go.yaml.in/yaml/v3"

	"github.com/pugcheck/pugcheck/conformance/strictyaml"
)

// handler reads the section on a handler. Files in it are relative to the profile.
func (r *reader) handler(n *yaml.Node, p *Profile) {
	h := &p.Handler
	r.mapping(n, "handler", []key{
		{"command", func(n *yaml.Node) { r.Words(n, &h.Command) }},
		{"url", func(n *yaml.Node) { r.Text(n, &h.URL) }},
		{"rpc", func(n *yaml.Node) { r.Flag(n, &h.RPC) }},
		{"logs", func(n *yaml.Node) {
			r.pairs(n, "handler.logs", func(name, path string) {
				h.Logs = append(h.Logs, NamedFile{name, r.Relative(path)})
			})
		}},
		{"memory", func(n *yaml.Node) { r.Path(n, &h.Memory) }},
		{"metadata", func(n *yaml.Node) {
			h.Metadata = map[string]string{}
			r.pairs(n, "handler.metadata", func(k, v string) { h.Metadata[k] = v })
		}},
		{"agent", func(n *yaml.Node) { r.Text(n, &h.Agent) }},
		{"timeout", func(n *yaml.Node) { r.timeout(n, &h.Timeout) }},
		{"known_failing", func(n *yaml.Node) { r.Path(n, &p.KnownFailing.Handler) }},
	})
	if len(h.Command) > 0 && h.URL != "" {
		r.Fail(n, "a handler has a command or a url, not both")
	}
	if h.RPC && h.URL != "" {
		r.Fail(n, "rpc is for a command that hosts the service; one that runs already has a url alone")
	}
}

// pairs reads a mapping of names to texts, each name once.
func (r *reader) pairs(n *yaml.Node, what string, add func(name, value string)) {
	if n.Kind != yaml.MappingNode {
		r.Fail(n, "%s must be a mapping of names to values, not %s", what, strictyaml.Describe(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		var value string
		if !r.Text(v, &value) {
			continue
		}
		if k.Value == "" || seen[k.Value] {
			r.Fail(k, "the name %q is empty, or stands twice in %s", k.Value, what)
			continue
		}
		seen[k.Value] = true
		add(k.Value, value)
	}
}
