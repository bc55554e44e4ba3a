package transport

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// TestMain makes the test binary the handler of the subprocess tests.
func TestMain(m *testing.M) {
	if act, ok := acts[os.Getenv("TRANSPORT_TEST_ACT")]; ok {
		act()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// invocation is one that writes input and collects the output.
func invocation(input string, output *bytes.Buffer) Invocation {
	return Invocation{
		Identity: Identity{Session: "000000000000000000000000000000aa", Agent: "a b=ü/7", Version: 300,
			Metadata: map[string]string{"quote": `a"b`, "nl": "x\ny", "uni": "ü日😀"}, TraceParent: "00-aa-bb-01"},
		Inputs: func(_ context.Context, w io.Writer) error {
			_, err := io.WriteString(w, input)
			return err
		},
		Outputs: func(_ context.Context, r io.Reader) error {
			_, err := io.Copy(output, r)
			return err
		},
	}
}

func TestParse(t *testing.T) {
	for _, tc := range []struct {
		text string
		argv []string // what a process handler runs, nil for an HTTP handler
		err  string
	}{
		{text: "python agent.py", argv: []string{"python", "agent.py"}},
		{text: `sh -c 'a; b' "c d" e\ f`, argv: []string{"sh", "-c", "a; b", "c d", "e f"}},
		{text: "http://127.0.0.1:8080/x?y=1"},
		{text: "https://example.com"},
		{text: "", err: "empty"},
		{text: "a | b", err: "no shell is started"},
		{text: "a 'b", err: "invalid command line"},
		{text: "http://", err: "no host"},
		{text: "http://[::1", err: "missing ']'"},
		{text: "http://h/ arg", err: "takes no arguments"},
	} {
		h, err := ParseCommand(tc.text)
		if tc.err != "" {
			if err == nil || !strings.Contains(err.Error(), tc.err) {
				t.Errorf("%q: got error %v, want one with %q", tc.text, err, tc.err)
			}
			continue
		}
		if err != nil {
			t.Errorf("%q: %v", tc.text, err)
			continue
		}
		if p, ok := h.(*Process); ok != (tc.argv != nil) || ok && !cmp.Equal(p.Args, tc.argv) {
			t.Errorf("%q: got %#v", tc.text, h)
		}
	}
	if _, err := ParseArguments([]string{"http://h/", "x"}); err == nil {
		t.Error("a URL with arguments passes")
	}
	if _, err := ParseArguments(nil); err == nil {
		t.Error("no command passes")
	}
}

// within fails the test if f takes absurdly long, instead of hanging it.
func within(t *testing.T, f func() error) error {
	t.Helper()
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatal("hangs")
		return nil
	}
}

func wantError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if err == nil {
		t.Fatal("no error")
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("got %q, want %q in it", err, part)
		}
	}
}

var errSource = errors.New("snapshot 2 cannot be read")

// brokenSource fails in the middle of the input stream.
func brokenSource(_ context.Context, w io.Writer) error {
	fmt.Fprintln(w, "{}")
	return errSource
}
