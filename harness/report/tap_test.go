package report

import (
	"bytes"
	"encoding/json"
	"os/exec"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"go.yaml.in/yaml/v3"
)

// tapReader prints what Perl's own parser, on which prove rests, understands.
const tapReader = `
use TAP::Parser; use JSON::PP;
my $p = TAP::Parser->new({ tap => do { local $/; <STDIN> } });
my (@tests, @unknown, $yaml);
while (my $r = $p->next) {
	if ($r->is_test) { push @tests, { ok => $r->is_actual_ok ? 1 : 0, good => $r->is_ok ? 1 : 0, number => 0+$r->number, text => $r->description, directive => $r->directive, why => $r->explanation } }
	elsif ($r->is_yaml) { $tests[-1]{yaml} = $r->raw }
	elsif ($r->is_unknown) { push @unknown, $r->raw }
	elsif ($r->is_bailout) { $bailout = $r->explanation }
}
print encode_json({ tests => \@tests, unknown => \@unknown, errors => [ $p->parse_errors ], bailout => $bailout, plan => $p->plan, planned => 0+$p->tests_planned, passed => scalar(@{[$p->passed]}), failed => scalar(@{[$p->failed]}), todo => scalar(@{[$p->todo]}), skipped => scalar(@{[$p->skipped]}) });
`

type tapRead struct {
	Tests []struct {
		OK, Good, Number     int
		Text, Directive, Why string
		YAML                 string
	}
	Unknown, Errors                        []string
	Bailout                                string
	Plan                                   string
	Planned, Passed, Failed, Todo, Skipped int
}

func readTAP(t *testing.T, data []byte) tapRead {
	t.Helper()
	if err := exec.Command("perl", "-MTAP::Parser", "-MJSON::PP", "-e", "1").Run(); err != nil {
		t.Skip("Perl with its core modules is not installed (Debian: perl), so TAP is not held against its parser")
	}
	// It knows nothing of version 14 but subtests, which are not used here, and escapes.
	text := bytes.Replace(data, []byte("TAP version 14\n"), []byte("TAP version 13\n"), 1)
	if bytes.Equal(text, data) {
		t.Error("the first line is not the version")
	}
	cmd := exec.Command("perl", "-e", tapReader)
	cmd.Stdin = bytes.NewReader(text)
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	var read tapRead
	if err := json.Unmarshal(out, &read); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return read
}

func TestTAPGolden(t *testing.T) {
	for name, r := range map[string]*Result{"forms.tap": everyForm(), "cut_short.tap": cutShort(), "kept.tap": kept()} {
		data := rendered(t, "tap", "", name, r)
		t.Run(name, func(t *testing.T) {
			read := readTAP(t, data)
			if len(read.Errors)+len(read.Unknown) > 0 {
				t.Errorf("errors %q, unknown lines %q", read.Errors, read.Unknown)
			}
			for _, test := range read.Tests {
				if strings.Contains(test.Text, "no test point") {
					t.Errorf("a text became a test point: %+v", test)
				}
			}
		})
	}
}

func TestTAPCounts(t *testing.T) {
	r := everyForm()
	read := readTAP(t, form(t, "tap", r))
	got := map[string]string{}
	for i, test := range read.Tests {
		id, _, _ := strings.Cut(strings.TrimPrefix(test.Text, "- "), " ")
		if i >= len(r.Clauses) {
			id = strings.TrimPrefix(test.Text, "- ")
		}
		state := map[int]string{0: "not ok", 1: "ok"}[test.OK]
		got[id] = strings.TrimSpace(state + " " + test.Directive)
		if test.Directive != "" && test.Why == "" {
			t.Errorf("%s has no reason", id)
		}
	}
	want := map[string]string{
		"A1-1": "ok", "A1-2": "not ok", "A1.1-1": "not ok", "A1.1-2": "ok", "A1.1-3": "ok", "A2-1": "ok SKIP", "A2-2": "ok SKIP", "A2-3": "ok SKIP",
		"A2-4": "ok SKIP", "A2-5": "not ok", "A2-6": "not ok", "A2-7": "ok SKIP", "A3-1": "not ok", "A3-2": "not ok TODO", "A3-3": "not ok", "A3-4": "ok", "A3-5": "ok SKIP",
		"scenario A3/cleanup": "not ok", "known failure A1-1": "not ok",
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	if read.Planned != len(want) || read.Todo != 1 || read.Skipped != 6 || read.Failed != 8 || read.Bailout != "" {
		t.Errorf("%d planned, %d TODO, %d skipped, %d failed, bailout %q", read.Planned, read.Todo, read.Skipped, read.Failed, read.Bailout)
	}
	if cut := readTAP(t, form(t, "tap", cutShort())); !strings.Contains(cut.Bailout, "the subject ended (exit status 1)") {
		t.Errorf("bailout %q", cut.Bailout)
	}
}

// TestTAPDiagnostics reads the YAML below a test point.
func TestTAPDiagnostics(t *testing.T) {
	r := everyForm()
	text := string(form(t, "tap", r))
	var found int
	for _, part := range strings.Split(text, "\n  ---\n")[1:] {
		block, _, ok := strings.Cut(part, "\n  ...\n")
		if !ok {
			t.Fatalf("a diagnostic has no end: %q", part)
		}
		var d tapDiagnostic
		if err := yaml.Unmarshal([]byte(block), &d); err != nil {
			t.Fatalf("%v in %s", err, block)
		}
		if d.Severity == "" {
			t.Errorf("no severity in %s", block)
		}
		for _, o := range d.Observations {
			if o.Scenario == "A3/odd" && d.Severity == "fail" && d.Known == "" {
				found++
				if strings.Join(o.Seen, "\n") != ofSeen.excerpt(hostile) || o.Seen[1] != "ok 99 - no test point" {
					t.Errorf("what was seen does not survive: %q", o.Seen)
				}
				if o.Repeat != "pugcheck demo --seed 42 --only A3/odd './my impl'" || d.More != 7 {
					t.Errorf("%+v", d)
				}
			}
		}
	}
	if found != 1 {
		t.Errorf("%d diagnostics of A3-1", found)
	}
}
