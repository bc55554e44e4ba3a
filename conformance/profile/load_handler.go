package profile

import (
	"path/filepath"

	"go.yaml.in/yaml/v3"
)

// handler reads the section on a handler. Files in it are relative to the profile.
func (r *reader) handler(n *yaml.Node, h *Handler) {
	r.mapping(n, "handler", []key{
		{"command", func(n *yaml.Node) { r.words(n, &h.Command) }},
		{"url", func(n *yaml.Node) { r.text(n, &h.URL) }},
		{"rpc", func(n *yaml.Node) { r.flag(n, &h.RPC) }},
		{"logs", func(n *yaml.Node) {
			r.pairs(n, "handler.logs", func(name, path string) {
				h.Logs = append(h.Logs, NamedFile{name, r.relative(path)})
			})
		}},
		{"memory", func(n *yaml.Node) {
			if r.text(n, &h.Memory) {
				h.Memory = r.relative(h.Memory)
			}
		}},
		{"metadata", func(n *yaml.Node) {
			h.Metadata = map[string]string{}
			r.pairs(n, "handler.metadata", func(k, v string) { h.Metadata[k] = v })
		}},
		{"agent", func(n *yaml.Node) { r.text(n, &h.Agent) }},
		{"timeout", func(n *yaml.Node) { r.timeout(n, &h.Timeout) }},
	})
	if len(h.Command) > 0 && h.URL != "" {
		r.fail(n, "a handler has a command or a url, not both")
	}
	if h.RPC && h.URL != "" {
		r.fail(n, "rpc is for a command that hosts the service; one that runs already has a url alone")
	}
}

// relative is a path of the profile as seen from the working directory.
func (r *reader) relative(path string) string {
	if filepath.IsAbs(path) {
		return path
	}
	return filepath.Join(filepath.Dir(r.file), path)
}

func (r *reader) flag(n *yaml.Node, out *bool) {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.fail(n, "true or false is expected, not %s", describe(n))
		return
	}
	*out = n.Value == "true" || n.Value == "True" || n.Value == "TRUE"
}

// pairs reads a mapping of names to texts, each name once.
func (r *reader) pairs(n *yaml.Node, what string, add func(name, value string)) {
	if n.Kind != yaml.MappingNode {
		r.fail(n, "%s must be a mapping of names to values, not %s", what, describe(n))
		return
	}
	seen := map[string]bool{}
	for i := 0; i < len(n.Content); i += 2 {
		k, v := n.Content[i], n.Content[i+1]
		var value string
		if !r.text(v, &value) {
			continue
		}
		if k.Value == "" || seen[k.Value] {
			r.fail(k, "the name %q is empty, or stands twice in %s", k.Value, what)
			continue
		}
		seen[k.Value] = true
		add(k.Value, value)
	}
}
