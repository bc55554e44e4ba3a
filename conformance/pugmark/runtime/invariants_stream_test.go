package runtime

import (
	"slices"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/harness/probe"
	"github.com/pugcheck/pugcheck/harness/report"
)

const (
	memoryLine = `{"event":"memory","url":"http://127.0.0.1:1/memories/"}` + "\n"
	entryLine  = `{"url":"http://127.0.0.1:1/sha256:00","size":3,"name":"a","data":"QUJD"}` + "\n"
	pushLine   = `{"event":"push","url":"http://127.0.0.1:1/sha256:01","size":5000,"name":"b","metadata":{"k":"v"}}` + "\n"
)

// Every fault of a stream is held against one clause, the right one.
func TestStreamInvariants(t *testing.T) {
	for _, c := range []struct{ fault, stream, violates string }{
		{"none", memoryLine + entryLine + pushLine + "{}\n", ""},
		{"none, woken", memoryLine + entryLine + pushLine + `{"event":"wake"}` + "\n", ""},
		{"none, no log", memoryLine + `{"event":"start"}` + "\n", ""},
		{"an unknown field", memoryLine + `{"event":"start","x-hint":{"a":[1]}}` + "\n", "P17-1 (warn)"},

		{"no record at all", "", "P2.1-2"},
		{"all in one array", "[" + strings.ReplaceAll(memoryLine+entryLine, "\n", ",") + "{}]\n", "P3-1"},
		{"null at the end", memoryLine + entryLine + "{}\nnull\n", "P3-1"},
		{"a trailing comma", memoryLine + strings.Replace(entryLine, "}", ",}", 1) + "{}\n", "P3-1"},
		{"NaN", memoryLine + strings.Replace(entryLine, "3", "NaN", 1) + "{}\n", "P3-1"},
		{"a key twice", memoryLine + strings.Replace(entryLine, "}", `,"name":"a"}`, 1) + "{}\n", "P3-1 (warn)"},
		{"Latin-1", memoryLine + strings.Replace(entryLine, `"a"`, "\"\xfc\"", 1) + "{}\n", "P3-2"},
		{"half a surrogate pair", memoryLine + strings.Replace(entryLine, `"a"`, `"\ud83d"`, 1) + "{}\n", "P3-2"},
		{"a frame around the log", memoryLine + `{"records":[` + strings.TrimSpace(entryLine) + "," + strings.TrimSpace(pushLine) + "]}\n{}\n", "P3-3"},
		{"a frame around a record", memoryLine + `{"input":` + strings.TrimSpace(entryLine) + "}\n{}\n", "P3-3"},
		{"broken off", memoryLine + entryLine + `{"event":"wa`, "P3-5"},
		{"a byte-order mark", "\xef\xbb\xbf" + memoryLine + entryLine + "{}\n", "P3-10"},
		{"a log line", memoryLine + "sending 1 entry\n" + entryLine + "{}\n", "P3-11"},
		{"document marks", memoryLine + "---\n" + entryLine + "{}\n", "P3-11"},
		{"record separators", "\x1e" + memoryLine + "\x1e" + entryLine + "\x1e{}\n", "P3-11"},
		{"a NUL at the end", memoryLine + entryLine + "{}\n\x00", "P3-11"},
		{"no last line feed", memoryLine + entryLine + "{}", "P3-15 (warn)"},
		{"CR LF", strings.ReplaceAll(memoryLine+entryLine+"{}\n", "\n", "\r\n"), "P3-15 (warn)"},
		{"text in data", memoryLine + strings.Replace(entryLine, "QUJD", "some text", 1) + "{}\n", "P3.1-1"},
		{"URL-safe base64", memoryLine + strings.Replace(entryLine, "QUJD", "-__-", 1) + "{}\n", "P3.1-2"},
		{"broken base64", memoryLine + strings.Replace(entryLine, "QUJD", `QU\nJD`, 1) + "{}\n", "P3.1-3"},
		{"empty fields", memoryLine + strings.Replace(entryLine, "}", `,"event":"","metadata":{}}`, 1) + "{}\n", "P3.2-2 (warn)"},
		{"an empty event", memoryLine + entryLine + `{"event":""}` + "\n", "P3.2-2 (warn)"},
		{"size as text", memoryLine + strings.Replace(entryLine, "3", `"3"`, 1) + "{}\n", "P4-1"},
		{"size with a fraction", memoryLine + strings.Replace(entryLine, "3", `3.0`, 1) + "{}\n", "P4-1"},
		{"a number in metadata", memoryLine + strings.Replace(pushLine, `"v"`, `1`, 1) + "{}\n", "P4-1"},

		{"old entries tagged", memoryLine + `{"event":"replay",` + entryLine[1:] + "{}\n", "P4.1-1, P17-6"},
		{"the word empty", memoryLine + entryLine + `{"event":"empty"}` + "\n", "P4.1-1, P17-6"},
		{"a lifecycle event on an entry", memoryLine + `{"event":"start",` + entryLine[1:] + "{}\n", "P4.1-1"},
		{"push at the end", memoryLine + entryLine + `{"event":"push"}` + "\n", "P4.1-1"},
		{"two memory records", memoryLine + memoryLine + entryLine + "{}\n", "P4.2-1"},
		{"no memory record", entryLine + "{}\n", "P4.2-1"},
		{"the memory record late", entryLine + memoryLine + "{}\n", "P4.2-4"},
		{"no slash", strings.Replace(memoryLine, "ies/", "ies", 1) + entryLine + "{}\n", "P4.2-3"},
		{"a query", strings.Replace(memoryLine, "ies/", "ies/?v=1/", 1) + entryLine + "{}\n", "P4.2-3"},
		{"two lifecycle records", memoryLine + entryLine + `{"event":"fork"}` + "\n" + `{"event":"wake"}` + "\n", "P4.2-11"},
		{"no lifecycle record", memoryLine + entryLine + pushLine, "P4.2-11"},
		{"nothing but memory", memoryLine, "P4.2-11"},
		{"a lifecycle record with metadata", memoryLine + entryLine + `{"event":"fork","metadata":{"parent":"x"}}` + "\n", "P4.2-12"},
		{"a lifecycle record with a body", memoryLine + entryLine + `{"event":"fork","data":"QUJD"}` + "\n", "P4.2-12"},
		{"an empty event with metadata", memoryLine + entryLine + `{"metadata":{"k":"v"}}` + "\n", "P4.2-12"},
		{"an entry behind the lifecycle record", memoryLine + entryLine + "{}\n" + pushLine, "P4.2-13"},
	} {
		t.Run(c.fault, func(t *testing.T) {
			ledger := conformance.NewLedger(pugmark.Severity, Always())
			x := &Lab{T: &conformance.T{Ledger: ledger}, Over: Subprocess}
			inv := &Invocation{Invocation: &probe.Invocation{N: 1}, lab: x}
			for _, i := range invariants {
				if i.stream != nil {
					i.stream(x, inv, decode([]byte(c.stream)))
				}
			}
			var found []string
			for _, f := range ledger.Worst(report.Fail, report.Warn, report.Error) {
				name := f.Clause
				if f.Verdict != report.Fail {
					name += " (" + string(f.Verdict) + ")"
				}
				if !slices.Contains(found, name) {
					found = append(found, name)
				}
				t.Logf("%s: acceptable: %s; seen: %s", name, f.Acceptable, f.Seen)
			}
			if got := strings.Join(found, ", "); got != c.violates {
				t.Errorf("the stream violates %q, held against it: %q", c.violates, got)
			}
		})
	}
}
