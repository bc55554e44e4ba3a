package subject

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
	"testing"
)

func TestRecorder(t *testing.T) {
	whole := []byte("abcdefghijklmnopqrstuvwxyz")
	for limit := 1; limit <= 30; limit++ {
		for step := 1; step <= len(whole); step++ {
			r := NewRecorder(limit)
			for rest := whole; len(rest) > 0; {
				n := min(step, len(rest))
				if took, err := r.Write(rest[:n]); took != n || err != nil {
					t.Fatalf("limit %d, step %d: %d of %d bytes, %v", limit, step, took, n, err)
				}
				rest = rest[n:]
			}
			c := r.Capture()
			kept := len(c.Head) + len(c.Tail)
			if kept != min(limit, len(whole)) || c.Total != int64(len(whole)) || c.Omitted() != int64(len(whole)-kept) {
				t.Fatalf("limit %d, step %d: %+v", limit, step, c)
			}
			if !bytes.HasPrefix(whole, c.Head) || !bytes.HasSuffix(whole, c.Tail) {
				t.Fatalf("limit %d, step %d: %q … %q", limit, step, c.Head, c.Tail)
			}
		}
	}
}

func TestCaptureString(t *testing.T) {
	r := NewRecorder(4)
	fmt.Fprint(r, "ab")
	if s := r.Capture().String(); s != "ab" {
		t.Errorf("%q", s)
	}
	fmt.Fprint(r, "cdefgh")
	if s := r.Capture().String(); s != "ab\n… 4 bytes left out …\ngh" {
		t.Errorf("%q", s)
	}
}

func TestFloodIsDrainedInBoundedMemory(t *testing.T) {
	yes := start(t, Command{Argv: []string{"yes"}})
	eventually(t, "32 MiB of output read", func() bool { return yes.Stdout().Total > 32<<20 })
	c := yes.Stdout()
	if len(c.Head) != 64<<10 || len(c.Tail) != 64<<10 || !strings.HasPrefix(string(c.Head), "y\ny\n") {
		t.Errorf("kept %d and %d bytes", len(c.Head), len(c.Tail))
	}
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 16<<20 {
		t.Errorf("%d bytes in use", m.HeapAlloc)
	}
	if strays := yes.Kill(); len(strays) != 0 {
		t.Errorf("strays: %q", strays)
	}
	if e := yes.Exit(); !e.Killed {
		t.Errorf("%+v", e)
	}
}
