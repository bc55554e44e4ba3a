package handler

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestParseLog(t *testing.T) {
	l, err := ParseLog("x", []byte(`{"event":"memory","url":"http://127.0.0.1:1/memories/"}
{"name":"a","content-type":"text/plain","text":"grüß dich","metadata":{"k":"v"}}

{"event":"push","data":"QUI","url":"http://127.0.0.1:1/sha256:00","size":2}
{"event":"wake"}
`))
	want := Log{Name: "x", Lifecycle: "wake", Entries: []Entry{
		{Name: "a", ContentType: "text/plain", Metadata: map[string]string{"k": "v"}, Body: []byte("grüß dich")},
		{Event: "push", Body: []byte("AB")},
	}}
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(want, l); d != "" {
		t.Error(d)
	}
	for _, text := range []string{"{}", "{}\r\n", `{"event":""}`} {
		if l, err := ParseLog("x", []byte(text)); err != nil || len(l.Entries) != 0 || l.Lifecycle != "" {
			t.Errorf("%q: %+v %v", text, l, err)
		}
	}
}

func TestParseLogErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                 "f:1: the log holds no record",
		"{}\n{\"data\":\"*\"}":             "f:2: column 9: data: no base64",
		"{\"name\":1}":                     "f:1: column 9: name: want a string",
		"{\"nme\":\"x\"}":                  "f:1: unknown field \"nme\"; known are event, url",
		"{}\n{\"a\":":                      "f:2: column 6: ",
		"[1]":                              "f:1: column 1: an array at top level",
		"{\"name\":\"a\"}{}":               "f:1: one JSON object a line is expected, found 2",
		"{\"data\":\"QQ\",\"text\":\"A\"}": "f:1: both data and text",
		"{\"text\":1}":                     "f:1: text: want a string, found 1",
		"{\"url\":\"http://h/x\"}":         "f:1: url: pugcheck serves the body itself",
		"{\"event\":\"start\"}\n{}":        "f:1: event \"start\": an entry has push or none",
		"{}\n{\"event\":\"memory\"}":       "f:2: a memory record can only be the first",
	} {
		if _, err := ParseLog("f", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
	// All mistakes at once.
	if _, err := ParseLog("f", []byte("[]\n{\"x\":1}\n")); err == nil || !strings.Contains(err.Error(), "f:1:") || !strings.Contains(err.Error(), "f:2:") {
		t.Error(err)
	}
}

func TestLoadLogs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "forks.ndjson")
	if err := os.WriteFile(path, []byte(`{"text":"go"}`), 0o666); err != nil {
		t.Fatal(err)
	}
	logs, err := LoadLogs([]LogFile{NamedByPath(path)})
	if err != nil || len(logs) != 1 || logs[0].Name != "forks" {
		t.Errorf("%+v %v", logs, err)
	}
	if _, err := LoadLogs([]LogFile{{Name: "no", Path: path + "x"}}); err == nil {
		t.Error("a log that is not there was read")
	}
	if _, err := LoadLogs([]LogFile{{Name: "no"}}); err == nil || err.Error() != `log "no": no file is named` {
		t.Errorf("a log without a file: %v", err)
	}
}

func TestOtherBodies(t *testing.T) {
	for body, want := range map[string]string{
		`{"role":"user","content":"az9 \"b\""}`: `{"role":"vtfs","content":"ba0 \"c\""}`,
		`[1,"x",{"k":["y"]}]`:                   `[1,"y",{"k":["z"]}]`,
	} {
		got := another([]byte(body), true)
		if string(got) != want || !json.Valid(got) {
			t.Errorf("%s became %s", body, got)
		}
	}
	if got := another([]byte("Zoë 9"), false); string(got) != "Apë 0" {
		t.Errorf("%q", got)
	}
	for _, l := range builtIn("plover") {
		for i, e := range l.otherBodies().Entries {
			if bytes.Equal(e.Body, l.Entries[i].Body) || len(e.Body) != len(l.Entries[i].Body) {
				t.Errorf("log %s, entry %d: %q", l.Name, i, e.Body)
			}
		}
	}
}

func TestSpellings(t *testing.T) {
	record := []byte(`{"event":"push","size":2,"name":"ü😀","data":"QUI="}`)
	for name, tc := range map[string]struct{ got, want string }{
		"unpadded": {string(unpadded(record)), `{"event":"push","size":2,"name":"ü😀","data":"QUI"}`},
		"escaped":  {string(escaped(record)), `{"event":"push","size":2,"name":"\u00fc\ud83d\ude00","data":"QUI="}`},
		"zeros":    {string(zeros([]byte(`{"event":"start"}`))), `{"event":"start","url":"","size":0,"content-type":"","content-encoding":"","schema-url":"","name":"","metadata":{},"data":""}`},
		"fields":   {string(withFields([]byte("{}"), `"x":1`)) + string(withFields([]byte(`{"a":1}`), `"x":1`)), `{"x":1}{"a":1,"x":1}`},
		"indented": {string(indented([]byte(`{"a":"{}"}`))) + string(indented([]byte("{}"))), "{\n  \"a\": \"{}\"\n}{\r\n}"},
	} {
		if tc.got != tc.want {
			t.Errorf("%s: %s, want %s", name, tc.got, tc.want)
		}
	}
}

func TestPieces(t *testing.T) {
	line := bytes.Repeat([]byte("0123456789abcdef"), 4000)
	for _, n := range []int{1, 7, 1021} {
		for _, lines := range [][][]byte{{line[:5]}, {line}, {line[:16<<10], line[:2<<10]}} {
			chunks := inPieces(n)(lines)
			if got := wholeStream(chunks); !bytes.Equal(got, separated("\n")(lines)[0].Bytes) {
				t.Errorf("%d: %d bytes", n, len(got))
			}
			if len(chunks) > (18<<10)/n+4 || len(chunks[0].Bytes) > n || len(chunks[len(chunks)-1].Bytes) > n {
				t.Errorf("%d: %d chunks", n, len(chunks))
			}
		}
	}
}
