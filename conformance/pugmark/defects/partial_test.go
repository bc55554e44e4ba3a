package defects

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/harness/report"
)

// lacks are the capabilities that the partial runtime is declared not to have.
var lacks = strings.Join(profile.Capabilities, ",")

// TestPartialRuntime runs the suite on a runtime in Python that was written from the
// specification alone and is partial on purpose. What it does it does right, so every
// verdict that is no pass has to come of one of its gaps, and each gap is named.
func TestPartialRuntime(t *testing.T) {
	if !*all && !*update {
		t.Skip("starts Python several hundred times; -all does it")
	}
	for _, tool := range []string{"python3", "zstd"} {
		if _, err := exec.LookPath(tool); err != nil {
			t.Skipf("%s is not installed: %v", tool, err)
		}
	}
	file := filepath.Join(root(), "conformance", "pugmark", "testdata", "partial.verdicts")
	raw, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	header, want, err := parseVerdicts(string(raw))
	if err != nil {
		t.Fatalf("%s: %v", file, err)
	}
	result, output, err := judgePartial(t.Context())
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	if !result.Complete {
		t.Fatalf("the run is incomplete: %s", result.Incomplete)
	}
	got := []verdictLine{}
	for _, c := range result.Clauses {
		line := verdictLine{clause: c.ID, verdict: c.Verdict, gap: "?"}
		switch i := slices.IndexFunc(want, func(l verdictLine) bool { return l.clause == c.ID }); {
		case c.Verdict == report.Pass || c.Verdict == report.Untestable:
			continue
		case declared.MatchString(c.Reason) && c.Verdict == report.NotExercised:
			line.gap = declared.FindStringSubmatch(c.Reason)[1]
		case i >= 0:
			line.gap = want[i].gap
		}
		got = append(got, line)
		if !slices.Contains(want, line) {
			t.Logf("%s\n    %s%s", line, c.Reason, seen(c))
		}
	}
	if *update {
		if err := os.WriteFile(file, []byte(header+render(got)), 0o644); err != nil {
			t.Fatal(err)
		}
	} else if diff := cmp.Diff(strings.Split(render(want), "\n"), strings.Split(render(got), "\n")); diff != "" {
		t.Errorf("the verdicts are not those of %s (+); run with -update and judge each new line by the text\n%s", file, diff)
	}
	for _, l := range got {
		if l.gap == "?" {
			t.Errorf("%s: which gap of the runtime makes %s %s? (%s)", file, l.clause, l.verdict, "or the suite is wrong")
		}
	}
}

// judgePartial runs the suite on the partial runtime.
func judgePartial(ctx context.Context) (result report.Result, output string, err error) {
	if err := programs(); err != nil {
		return result, "", err
	}
	file := filepath.Join(scratch, "partial.json")
	// -I and -S spare what an installation of Python loads at every start, and compiled
	// modules are kept away from the sources.
	run := exec.CommandContext(ctx, filepath.Join(scratch, "pugcheck"), "runtime", "--seed", seed, "--without", lacks,
		"--report", "json="+file, "--", "python3", "-I", "-S", "-X", "pycache_prefix="+scratch, filepath.Join(root(), "conformance", "pugmark", "testdata", "partial"))
	run.Dir = scratch
	out, err := run.CombinedOutput()
	if err != nil && run.ProcessState == nil {
		return result, string(out), err
	}
	raw, err := os.ReadFile(file)
	if err == nil {
		err = json.Unmarshal(raw, &result)
	}
	return result, string(out), err
}

// declared finds the capability in the reason of a clause that was not exercised.
var declared = regexp.MustCompile(`^the runtime was declared to lack (\w+) \(`)

// verdictLine is one clause of which the partial runtime gets no pass.
type verdictLine struct {
	verdict report.Verdict
	clause  string
	gap     string
}

func (l verdictLine) String() string {
	return strings.TrimRight(fmt.Sprintf("%-14s %-9s %s", l.verdict, l.clause, l.gap), " ")
}

func render(lines []verdictLine) string {
	var b strings.Builder
	for _, l := range lines {
		fmt.Fprintln(&b, l)
	}
	return b.String()
}

// parseVerdicts reads partial.verdicts: lines of "# gap: what it is", which come
// first, and then a line of verdict, clause and gap for each clause. The gap has to
// be a declared one or a capability.
func parseVerdicts(text string) (header string, lines []verdictLine, err error) {
	gaps := slices.Clone(profile.Capabilities)
	for i, line := range strings.Split(strings.TrimSuffix(text, "\n"), "\n") {
		if comment, ok := strings.CutPrefix(line, "#"); ok || line == "" {
			if name, _, ok := strings.Cut(comment, ": "); ok && !strings.Contains(strings.TrimSpace(name), " ") {
				gaps = append(gaps, strings.TrimSpace(name))
			}
			header += line + "\n"
			continue
		}
		words := strings.Fields(line)
		if len(words) != 3 {
			return "", nil, fmt.Errorf("line %d: want verdict, clause and gap", i+1)
		}
		if words[2] != "?" && !slices.Contains(gaps, words[2]) {
			return "", nil, fmt.Errorf("line %d: gap %q is none of %s", i+1, words[2], strings.Join(gaps, ", "))
		}
		lines = append(lines, verdictLine{report.Verdict(words[0]), words[1], words[2]})
	}
	return header, lines, nil
}

func TestVerdictsAreParsed(t *testing.T) {
	const header = "# about it all: two words are no gap\n# forks: it makes none\n\n"
	got, lines, err := parseVerdicts(header + "fail           P11-1     forks\nnot-exercised  P2.2-1    http\n")
	if err != nil || got != header {
		t.Fatalf("header %q, error %v", got, err)
	}
	if want := "fail           P11-1     forks\nnot-exercised  P2.2-1    http\n"; render(lines) != want {
		t.Errorf("lines %q, want %q", render(lines), want)
	}
	for text, want := range map[string]string{
		header + "fail P11-1":           "line 4: want verdict, clause and gap",
		header + "fail P11-1 about":     `line 4: gap "about" is none of`,
		"fail P11-1 forks\n# forks: no": `line 1: gap "forks" is none of`,
	} {
		if _, _, err := parseVerdicts(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: error %v, want %q", text, err, want)
		}
	}
}
