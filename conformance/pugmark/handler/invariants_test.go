package handler

import (
	"slices"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/harness/report"
)

// judged runs the invariants over one exchange and gives the clauses by verdict.
func judged(e *Exchange) (violated, passed []string, text string) {
	ledger := conformance.NewLedger(pugmark.Severity, Always())
	x := &Lab{T: &conformance.T{Ledger: ledger}, Over: e.Over, played: []*Exchange{e}}
	e.decode()
	x.invariants()
	for _, f := range ledger.Findings() {
		switch f.Verdict {
		case report.Fail, report.Warn:
			if !slices.Contains(violated, f.Clause) {
				violated = append(violated, f.Clause)
			}
			text += f.Seen + "\n"
		case report.Pass:
			passed = append(passed, f.Clause)
		default:
			text += "TROUBLE " + f.Seen
		}
	}
	slices.Sort(violated)
	return violated, passed, text
}

func written(output string) *Exchange {
	return &Exchange{Over: Subprocess, Log: "x", Output: []byte(output), Outcome: Outcome{Ended: true, Success: true, Exit: "exit status 0"}, addresses: []string{"127.0.0.1:7001", "127.0.0.1:7002"}}
}

// TestOutputs: each fault of an output stream is held against its clause and no other,
// at its place.
func TestOutputs(t *testing.T) {
	const pause = `"content-type":"application/vnd.pugmark.pause+text"`
	long := strings.Repeat("QUJD", 30)
	for name, tc := range map[string]struct{ output, clauses, seen string }{
		"good":                {"{\"data\":\"QQ==\",\"name\":\"a\"}\n{" + pause + ",\"metadata\":{\"duration\":\"1m1.5s\"},\"data\":\"YnVzeQ\"}\n", "", ""},
		"nothing":             {"", "", ""},
		"a banner":            {"Agent 1.0\n{\"data\":\"QQ==\"}\n", "P3-11 P3-12", "record 1, byte 0: stray bytes \"Agent 1.0\"\nAgent 1.0\n^"},
		"an array":            {"[{\"data\":\"QQ==\"}]\n", "P3-1", "an array at top level"},
		"a comma too many":    {"{\"data\":\"QQ==\",}\n", "P3-1", "record 1, byte 15"},
		"a torn record":       {"{\"data\":\"QQ==\"}\n{\"data\":\"QQ", "P3-5", "record 2"},
		"a byte-order mark":   {"\xef\xbb\xbf{\"data\":\"QQ==\"}\n", "P3-10", "record 1, byte 0"},
		"Latin-1":             {"{\"name\":\"\xfc\"}\n", "P3-2", "record 1, byte 9"},
		"a frame":             {"{\"outputs\":[{\"data\":\"QQ==\"}]}\n", "P17-2 P3-3", "field \"outputs\""},
		"a record in two":     {"{\"data\":\"QQ==\"}\n{\"name\":\"a\",\"metadata\":{\"k\":\"v\"}}\n", "P3-6", "record 2, byte 16"},
		"no line feed":        {"{\"data\":\"QQ==\"}{\"data\":\"QQ==\"}\n", "P3-15", "record 1 is followed at byte 15 by \"\""},
		"CR LF":               {"{\"data\":\"QQ==\"}\r\n", "P3-15", "\\r\\n"},
		"an empty field":      {"{\"data\":\"QQ==\",\"name\":\"\"}\n", "P3.2-2", "record 1, byte 22: name is spelled out"},
		"no base64":           {"{\"data\":\"hello world\"}\n", "P3.1-1", "record 1, byte 8: data: no base64"},
		"URL-safe base64":     {"{\"data\":\"-_-_\"}\n", "P3.1-2", "URL-safe"},
		"broken base64":       {"{\"data\":\"" + long + "\\n" + long + "\"}\n", "P3.1-3", "line break"},
		"a wrong type":        {"{\"data\":\"QQ==\",\"metadata\":{\"n\":1}}\n", "P5-1", "metadata: want an object of strings"},
		"a short session":     {"{\"data\":\"QQ==\",\"session\":\"00ab\"}\n", "P5.1-9", "session"},
		"upper case":          {"{\"data\":\"QQ==\",\"session\":\"00073EA700ABCDEF0123456789ABCDEF\"}\n", "S4.1-3", "upper case"},
		"a control message":   {"{\"data\":\"e30=\",\"content-type\":\"application/vnd.pugmark.control+json\"}\n", "P9-11", "control+json"},
		"nearly a pause":      {"{\"data\":\"QQ==\",\"content-type\":\"application/vnd.pugmark.pause+json\"}\n", "P17-11", "pause+json"},
		"a reason in Latin-1": {"{\"data\":\"/A==\"," + pause + "}\n", "P10-2", "no UTF-8"},
		"a duration outside":  {"{\"duration\":\"5s\"," + pause + "}\n", "P10-3 P17-2", "top level"},
		"a duration in words": {"{\"metadata\":{\"duration\":\"5 minutes\"}," + pause + "}\n", "P10-4", "5 minutes"},
		"two pauses":          {"{" + pause + "}\n{" + pause + "}\n", "P10-18", "record 2"},
		"fork as text":        {"{\"data\":\"QQ==\",\"fork\":\"true\"}\n", "P11-1 P5-1", "fork is \"true\""},
		"memory unnamed":      {"{\"data\":\"QQ==\",\"name\":\"memories/ns/\"}\n", "S8.3-1", "ends without"},
		"memory without ns":   {"{\"data\":\"QQ==\",\"name\":\"memories/x\"}\n", "P8.4-1", "no namespace"},
		"an input's field":    {"{\"event\":\"push\",\"data\":\"QQ==\"}\n", "P17-2", "\"event\""},
		"an address":          {"{\"data\":\"QQ==\",\"name\":\"http://127.0.0.1:7001/x\"}\n", "P7-19", "127.0.0.1:7001"},
		"a key twice":         {"{\"data\":\"QQ==\",\"data\":\"QQ==\"}\n", "P3-1", "twice"},
	} {
		violated, _, text := judged(written(tc.output))
		if got := strings.Join(violated, " "); got != tc.clauses || !strings.Contains(text, tc.seen) || strings.Contains(text, "TROUBLE") {
			t.Errorf("%s: violates %q, want %q\n%s", name, got, tc.clauses, text)
		}
	}
}

// TestEchoIsNoFrame: a handler that passes on a field that it was sent puts no frame
// around records.
func TestEchoIsNoFrame(t *testing.T) {
	const sent = `{"event":"memory","x-record":{"data":"eA==","fork":true}}` + "\n"
	e := written(sent)
	if violated, _, text := judged(e); !slices.Contains(violated, "P3-3") {
		t.Errorf("of its own: %q %s", violated, text)
	}
	e = written(sent)
	e.Input = []byte(sent)
	if violated, _, text := judged(e); slices.Contains(violated, "P3-3") {
		t.Errorf("an echo: %q %s", violated, text)
	}
}

// TestNothingPassesWithoutEvidence: an invocation without Outputs and requests proves no
// rule about them.
func TestNothingPassesWithoutEvidence(t *testing.T) {
	if violated, passed, text := judged(written("")); len(violated)+len(passed) > 0 {
		t.Errorf("%q %q %s", violated, passed, text)
	}
}

// TestFailuresOverHTTPMayTalk: a body that is not of a 200 is no output stream.
func TestFailuresOverHTTPMayTalk(t *testing.T) {
	e := written("Traceback: oops")
	e.Over, e.Outcome = HTTP, Outcome{Ended: true, Status: 500}
	if violated, _, text := judged(e); len(violated) > 0 {
		t.Errorf("%q %s", violated, text)
	}
}

func TestWritesToTheServers(t *testing.T) {
	e := written("")
	e.Fetches = []Fetch{{Server: &BodyServer{Name: "memory server"}, Method: "PUT", Path: "/memories/a/b", Status: 405}}
	if violated, _, text := judged(e); !slices.Equal(violated, []string{"P7-16"}) || !strings.Contains(text, "PUT /memories/a/b") {
		t.Errorf("%q %s", violated, text)
	}
}

func TestDifference(t *testing.T) {
	run := func(output string) *Exchange {
		e := written(output)
		e.decode()
		return e
	}
	a := run(`{"name":"a","data":"QQ==","metadata":{"at":"1"}}` + "{}")
	for output, want := range map[string]string{
		`{"data":"QQ","name":"a","metadata":{"at":"1"}}`:   "", // another spelling of the same
		`{"name":"b","data":"QQ==","metadata":{"at":"1"}}`: `Output 1 differs in name: "a" in the control run, "b" here`,
		`{"name":"a","data":"Qg==","metadata":{"at":"1"}}`: `Output 1 differs in data: "A" in the control run, "B" here`,
		``: "1 Output in the control run, 0 Outputs here",
	} {
		if got := difference(a, run(output), nil); got != want {
			t.Errorf("%s: %q, want %q", output, got, want)
		}
	}
}
