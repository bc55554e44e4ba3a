package report

import (
	"fmt"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
)

func TestTimelineIsInOrderOfTime(t *testing.T) {
	began := time.Now()
	at := func(ms int) time.Time { return began.Add(time.Duration(ms) * time.Millisecond) }
	var l Timeline
	l.Add(at(20), LaneSubject, "ended", []byte("words"))
	l.Add(at(5), LaneS3, "first of two", nil)
	l.Add(at(5), LaneHandler, "second of two", []byte{0xff, 0x00})
	l.Add(time.Time{}, LaneSuite, "never happened", nil)
	l.Add(at(-3), LaneSuite, "before", nil)
	want := []Event{
		{AtMS: -3, Lane: "suite", Text: "before"},
		{AtMS: 5, Lane: "s3", Text: "first of two"},
		{AtMS: 5, Lane: "handler", Text: "second of two", Detail: "binary, 2 bytes in base64:\n/wA="},
		{AtMS: 20, Lane: "subject", Text: "ended", Detail: "words"},
	}
	if d := cmp.Diff(want, l.Events(began, InReport)); d != "" {
		t.Error(d)
	}
}

func TestPartsOfAnEvent(t *testing.T) {
	began := time.Now()
	var l Timeline
	l.Add(began, LaneS3, "PUT", []byte("Content-Encoding: zstd\n"), []byte("(\xb5/\xfd"))
	l.Add(began, LaneS3, "PUT", nil, []byte("body"))
	l.Add(began, LaneS3, "PUT", []byte(strings.Repeat("h", 1000)), []byte(strings.Repeat("b", 1000)))
	events := l.Events(began, Limits{Events: 9, Detail: 100, Total: 1000})
	for i, want := range []string{
		"Content-Encoding: zstd\n\nbinary, 4 bytes in base64:\nKLUv/Q==", "body",
		strings.Repeat("h", 50) + "\n… 950 bytes more\n\n" + strings.Repeat("b", 50) + "\n… 950 bytes more",
	} {
		if events[i].Detail != want {
			t.Errorf("event %d: %q, want %q", i, events[i].Detail, want)
		}
	}
}

func TestTimelineIsBounded(t *testing.T) {
	began := time.Now()
	var l Timeline
	for i := range 1000 {
		l.Add(began.Add(time.Duration(i)*time.Millisecond), LaneS3, fmt.Sprint(i), []byte(strings.Repeat("x", 5000)))
	}
	events := l.Events(began, Limits{Events: 30, Detail: 4000, Total: 30_000})
	if len(events) != 31 || events[0].Text != "0" || events[19].Text != "19" || events[30].Text != "999" {
		t.Fatalf("%d events: %v", len(events), events)
	}
	if e := events[20]; e.Text != "970 events left out here" || e.AtMS != 20 || events[21].Text != "990" {
		t.Errorf("the note is %+v, then comes %s", e, events[21].Text)
	}
	sum := 0
	for _, e := range events {
		sum += len(e.Detail)
	}
	if sum > 31_000 || sum < 10_000 {
		t.Errorf("%d bytes of detail", sum)
	}
	if d := events[0].Detail; d != strings.Repeat("x", 1000)+"\n… 4000 bytes more" {
		t.Errorf("a detail is %q", d)
	}
	if d := l.Events(began, InReport)[0].Detail; len(d) > 200 {
		t.Errorf("with 400 events a detail has %d bytes", len(d))
	}
}

func TestPrintable(t *testing.T) {
	for _, c := range []struct {
		in    string
		limit int
		want  string
	}{
		{"plain\ttext\r\nand more", 100, "plain\ttext\nand more"},
		{"größer", 3, "gr\n… 6 bytes more"},
		{"größer", 4, "grö\n… 4 bytes more"},
		{"\x1b[31mred words stand here", 100, `\x1b[31mred words stand here`},
		{"a line with a byte order mark \ufeff in it", 100, `a line with a byte order mark \u{feff} in it`},
		{"(\xb5/\xfd\x00\x01", 100, "binary, 6 bytes in base64:\nKLUv/QAB"},
		{"(\xb5/\xfd\x00\x01", 3, "binary, 3 bytes in base64:\nKLUv\n… 3 bytes more"},
		{"", 10, ""},
	} {
		if got := Printable([]byte(c.in), c.limit); got != c.want || !utf8.ValidString(got) {
			t.Errorf("%q, %d: %q, want %q", c.in, c.limit, got, c.want)
		}
	}
}
