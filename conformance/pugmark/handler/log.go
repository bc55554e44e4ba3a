package handler

import (
	"fmt"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// A Log is what a session holds when the handler is invoked, and the event that the
// invocation begins with.
type Log struct {
	Name      string
	Entries   []Entry
	Lifecycle string // wake, fork, start, or "" (P4.2-13)
}

// An Entry is one object of the log. Whether its body travels inline or by URL is a
// scenario's choice.
type Entry struct {
	Event                                         string // push, or ""
	ContentType, ContentEncoding, SchemaURL, Name string
	Metadata                                      map[string]string
	Body                                          []byte
}

// inlineLimit is the longest body that is sent inline, in bytes (P7.1-1).
const inlineLimit = 1024

// key is where the object server has the entry's body.
func (e Entry) key() string { return "/" + wire.Digest(e.Body) }

// input is the entry as an Input record without its body.
func (e Entry) input() wire.InputRecord {
	return wire.InputRecord{Event: e.Event, Size: int64(len(e.Body)), ContentType: e.ContentType,
		ContentEncoding: e.ContentEncoding, SchemaURL: e.SchemaURL, Name: e.Name, Metadata: e.Metadata}
}

// builtIn are the logs that every handler is tried on: small, and of the kinds that
// handlers commonly act upon. word makes the bodies those of one run of the suite.
func builtIn(word string) []Log {
	// Whoever gives a body back shows which base64 alphabet it writes: in any
	// alignment these bytes are spelled with + and /.
	const both = " >>>>> ?????"
	text := func(event, name, body string) Entry {
		return Entry{Event: event, ContentType: "text/plain", Name: name, Body: []byte(body)}
	}
	said := func(event, role, body string) Entry {
		return Entry{Event: event, ContentType: "application/json", Name: "messages/" + role,
			Metadata: map[string]string{"role": role}, Body: []byte(`{"role":"` + role + `","content":"` + body + `"}`)}
	}
	return []Log{
		{Name: "conversation", Entries: []Entry{
			text("", "question", "What is "+word+"?"),
			text("", "answer-ü日本😀", "A word, »"+word+"«."),
			said("", "assistant", "Go on with "+word+"."),
			text("push", "question", "Say more about "+word+both),
		}},
		{Name: "message", Lifecycle: "start", Entries: []Entry{text("push", "", "hello "+word+both)}},
		{Name: "json", Lifecycle: "start", Entries: []Entry{said("push", "user", "hello "+word+both)}},
		{Name: "large", Entries: []Entry{
			text("", "notes.txt", strings.Repeat("The notes of "+word+".\n", 150)),
			text("push", "book.txt", strings.Repeat("A line in the book of "+word+".\n", 3000)),
		}},
		{Name: "fork", Lifecycle: "fork", Entries: []Entry{
			text("", "question", "Who looks after "+word+"?"),
			text("push", "task", "Look after "+word+both),
		}},
		{Name: "wake", Lifecycle: "wake", Entries: []Entry{
			text("", "question", "Wait for "+word+"."),
			text("push", "answer", "Here is "+word+both),
		}},
		{Name: "empty", Lifecycle: "start"},
	}
}

// emptyLog is the session without an entry.
func emptyLog(lifecycle string) Log { return Log{Name: "empty", Lifecycle: lifecycle} }

// with is the log with another lifecycle event.
func (l Log) with(lifecycle string) Log {
	l.Lifecycle = lifecycle
	return l
}

// otherBodies is the log with bodies of the same kind that say something else. Text
// and JSON keep their form: only letters and digits within strings change.
func (l Log) otherBodies() Log {
	l.Entries = slices.Clone(l.Entries)
	for i, e := range l.Entries {
		l.Entries[i].Body = another(e.Body, strings.Contains(e.ContentType, "json"))
	}
	return l
}

// another replaces letters of a text by the next ones: all of a plain text's, of a
// JSON text's only those in strings that are no keys.
func another(body []byte, isJSON bool) []byte {
	out := slices.Clone(body)
	if !isJSON {
		for i := range out {
			out[i] = nextLetter(out[i])
		}
		return out
	}
	for i := 0; i < len(out); i++ {
		if out[i] != '"' {
			continue
		}
		end := i + 1
		for end < len(out) && out[end] != '"' {
			if out[end] == '\\' {
				end++
			}
			end++
		}
		rest := strings.TrimLeft(string(out[min(end+1, len(out)):]), " \t\r\n")
		if !strings.HasPrefix(rest, ":") {
			for k := i + 1; k < end && k < len(out); k++ {
				if out[k] == '\\' {
					k++
					continue
				}
				out[k] = nextLetter(out[k])
			}
		}
		i = end
	}
	return out
}

func nextLetter(c byte) byte {
	switch {
	case c >= 'a' && c < 'z', c >= 'A' && c < 'Z', c >= '0' && c < '9':
		return c + 1
	case c == 'z', c == 'Z':
		return c - 25
	case c == '9':
		return '0'
	}
	return c
}

func (l Log) String() string {
	event := "an empty lifecycle event"
	if l.Lifecycle != "" {
		event = l.Lifecycle
	}
	return fmt.Sprintf("log %s (%d entries, %s)", l.Name, len(l.Entries), event)
}
