package runtime

import (
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// plainLog lays out the default session: agent and metadata in the manifest,
// checkpoint 1 = [a, b], checkpoint 2 = [c], checkpoint 3 = [d, e]. Names and
// bodies are distinct; the names are their places, the bodies are random words.
func (x *Lab) plainLog() *wire.Session {
	s := x.Session(wire.SessionSpec{Agent: "agent-7", Metadata: map[string]string{"team": "blue", "lang": "de"}})
	s.Commit(wire.Checkpoint, x.text("a"), x.text("b"))
	s.Commit(wire.Checkpoint, x.text("c"))
	s.Commit(wire.Checkpoint, x.text("d"), x.text("e"))
	return s
}

// text is a small named entry whose body occurs nowhere else.
func (x *Lab) text(name string) wire.Entry { return wire.Text(name, x.Word("body of "+name)) }

// texts are entries named by prefix and number, from first to last.
func (x *Lab) texts(prefix string, first, last int) []wire.Entry {
	var out []wire.Entry
	for i := first; i <= last; i++ {
		out = append(out, x.text(fmt.Sprintf("%s%d", prefix, i)))
	}
	return out
}

// output is a small named Output whose body occurs nowhere else.
func (x *Lab) output(name string) wire.OutputRecord {
	return wire.OutputRecord{Name: name, Data: []byte(x.Word("output " + name)), ContentType: "text/plain"}
}

// names are the names of descriptors in order.
func names(ds []wire.Descriptor) []string {
	out := []string{}
	for _, d := range ds {
		out = append(out, d.Name)
	}
	return out
}

// entries are the descriptors without control messages, whose number and place
// the text leaves to the runtime.
func entries(s wire.Snapshot) []wire.Descriptor {
	var out []wire.Descriptor
	for _, d := range s.Descriptors {
		if !d.IsControl() {
			out = append(out, d)
		}
	}
	return out
}

// bodyCommitted tells whether a snapshot holds a descriptor of the given body.
func (x *Lab) bodyCommitted(id wire.SessionID, version uint32, body []byte) bool {
	snap, ok := x.Snapshot(id, version)
	if !ok {
		return false
	}
	for _, d := range snap.Descriptors {
		if d.Digest == wire.Digest(body) {
			return true
		}
	}
	return false
}

func splitDash(s string) []string { return strings.Split(s, "-") }
