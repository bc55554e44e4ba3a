package runtime

import (
	"bytes"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// carrying finds the replayed entry that leads to a body: by data, or by url, which
// names the body even when the invocation is over.
func (i *Invocation) carrying(body []byte) (wire.Input, bool) {
	for _, in := range i.Replay() {
		if !in.HasData && strings.HasSuffix(in.URL, "/"+wire.Digest(body)) {
			return in, true
		}
		if got, ok, _ := i.Body(in); ok && bytes.Equal(got, body) {
			return in, true
		}
	}
	return wire.Input{}, false
}

// named finds the replayed entry of a name that occurs once.
func (i *Invocation) named(name string) (wire.Input, bool) {
	list := i.Replay()
	k := slices.IndexFunc(list, func(in wire.Input) bool { return in.Name == name })
	if k < 0 {
		return wire.Input{}, false
	}
	return list[k], true
}
