package probe

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestActs(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = w.Write([]byte("body")) }))
	defer server.Close()
	before := time.Now()
	r, i := runOne(t)
	must(t, i.Write([]byte("out")))
	must(t, i.WriteStderr([]byte("words")))
	_, err := i.Fetch(within(t), FetchRequest{URL: server.URL + "/x"})
	must(t, err)
	_, err = i.Fetch(within(t), FetchRequest{Method: "PUT", URL: "http://127.0.0.1:1/"})
	must(t, err)
	must(t, i.CloseOutput())
	if err := i.Write([]byte("more")); err == nil {
		t.Error("a closed output was written to")
	}
	must(t, i.Exit(3))
	r.ended(t)

	want := []string{"write: 3 bytes", "stderr: 5 bytes", "fetch: GET " + server.URL + "/x → 200, 4 bytes", "fetch: PUT http://127.0.0.1:1/: ", "close output", "write: 4 bytes (", "exit 3"}
	acts := i.Acts()
	if len(acts) != len(want) {
		t.Fatalf("acts are %v, want %d", acts, len(want))
	}
	for n, a := range acts {
		if !strings.HasPrefix(a.String(), want[n]) {
			t.Errorf("act %d is %q, want %q", n, a, want[n])
		}
	}
	if !slices.IsSortedFunc(acts, func(a, b Act) int { return a.At.Compare(b.At) }) || acts[0].At.Before(before) {
		t.Errorf("the acts are not in order of time: %v", acts)
	}
	if string(acts[0].Bytes) != "out" || acts[5].Err == nil || string(acts[2].Result.Body) != "body" {
		t.Errorf("acts are %s", fmt.Sprintf("%+v", acts))
	}
	if at, ok := i.Ended(); !ok || at.Before(acts[len(acts)-1].At) {
		t.Errorf("ended at %v, %v", at, ok)
	}
}
