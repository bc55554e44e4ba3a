package engine

import (
	"maps"
	"slices"
	"strings"
)

// registered names the registered handlers, for a message.
func (h Handlers) registered() string {
	if len(h.Named) == 0 {
		return "; no named handlers are registered"
	}
	names := slices.Sorted(maps.Keys(h.Named))
	return "; registered: " + strings.Join(names, ", ")
}
