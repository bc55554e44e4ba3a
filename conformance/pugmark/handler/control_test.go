package handler

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/conformance/pugmark"
)

// TestVaryStartsNothingTwice: what comes to the invocation of the control run is not made
// again, and whatever differs in a byte, a variable or an answer is.
func TestVaryStartsNothingTwice(t *testing.T) {
	starts := filepath.Join(t.TempDir(), "starts")
	config := Config{
		Command: []string{"sh", "-c", `echo >>"$0"; read -r _; echo '{"name":"a"}'`, starts},
		Timeout: patience, Assumed: profile.Default().Assumed, bench: &bench{},
	}
	x := &Lab{
		T:   &conformance.T{Ledger: conformance.NewLedger(pugmark.Severity, Always())},
		Ctx: t.Context(), Config: config, Over: Subprocess, bench: config.bench,
	}
	if err := x.bench.open(config, 1); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(x.bench.servers.Close)
	log := x.Logs()[0]
	if log.Lifecycle != "" {
		t.Fatalf("%s: the first log is to have an empty lifecycle event", log)
	}
	control := x.Control(log)
	for name, tc := range map[string]struct {
		log   Log
		v     Variation
		again bool
	}{
		"the same lifecycle event": {log.with(""), Variation{}, false},
		"short bodies inline":      {log, Variation{Bodies: Inline}, false},
		"another lifecycle event":  {log.with("wake"), Variation{}, true},
		"bodies by URL":            {log, Variation{Bodies: ByURL}, true},
		"another root":             {log, Variation{Root: "/odd/"}, true},
		"a variable":               {log, Variation{Env: map[string]string{"X": "1"}}, true},
		"the input kept open":      {log, Variation{KeepOpen: true}, true},
		"another separator":        {log, Variation{Join: separated(" ")}, true},
		"another identity":         {log, Variation{Identity: func(id *Identity) { id.Agent = "b" }}, true},
		"other answers":            {log, Variation{Objects: func(_ string, a Answer) Answer { return a }}, true},
	} {
		before := started(t, starts)
		tc.v.What = name
		e := x.Vary(tc.log, tc.v)
		if again := started(t, starts) > before; again != tc.again {
			t.Errorf("%s: started again is %t, want %t", name, again, tc.again)
		}
		if e.What != name || !e.Well() || len(e.Records()) != 1 || control.What != "" {
			t.Errorf("%s: %q: %s", name, e.What, e.How())
		}
	}
	before := started(t, starts)
	if first := x.byURL(log); x.byURL(log) != first || started(t, starts) != before+1 {
		t.Error("bodies by URL are played more than once")
	}
}

func started(t *testing.T, file string) int {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}
