package handler

import (
	"strings"
	"testing"
)

// TestSteadiness: what differs from run to run by itself is no difference, and nothing
// else is overlooked for it.
func TestSteadiness(t *testing.T) {
	run := func(lines ...string) *Exchange {
		e := written(strings.Join(lines, "\n") + "\n")
		e.decode()
		return e
	}
	a, b, c := `{"name":"a","data":"QQ=="}`, `{"name":"b","fork":true,"data":"Qg=="}`, `{"name":"c","data":"Qw==","metadata":{"at":"1"}}`
	later := strings.Replace(c, `"1"`, `"2"`, 1)
	for name, tc := range map[string]struct {
		control *Exchange
		again   []*Exchange
		got     *Exchange
		want    string // of the difference; "incomparable" where there is no telling
	}{
		"steady, same":                  {run(a, b), []*Exchange{run(a, b)}, run(a, b), ""},
		"steady, another order":         {run(a, b), []*Exchange{run(a, b)}, run(b, a), "Output 1 differs"},
		"a clock":                       {run(a, c), []*Exchange{run(a, later)}, run(a, strings.Replace(c, `"1"`, `"3"`, 1)), ""},
		"a clock, and another body":     {run(a, c), []*Exchange{run(a, later)}, run(strings.Replace(a, "QQ", "Qg", 1), c), "Output 1 differs in data"},
		"a clock, and one less":         {run(a, c), []*Exchange{run(a, later)}, run(a), "2 Outputs in the control run, 1 Output here"},
		"any order":                     {run(a, b, c), []*Exchange{run(a, c, b), run(b, a, c)}, run(c, b, a), ""},
		"any order, one changed":        {run(a, b, c), []*Exchange{run(a, c, b)}, run(a, b, later), `like one of the control run: data "C"`},
		"any order, one twice":          {run(a, b, a), []*Exchange{run(b, a, a)}, run(b, a, b), `like one of the control run: data "A", name "a"`},
		"any order, one more":           {run(a, b), []*Exchange{run(b, a)}, run(a, b, c), `no Output of the control run is like one here: data "C"`},
		"a number that varies":          {run(a, b), []*Exchange{run(a)}, run(a, b), "incomparable"},
		"a run that fails now and then": {run(a), []*Exchange{{Outcome: Outcome{Ended: true}}}, run(a), "incomparable"},
	} {
		s := steadinessOf(tc.control, tc.again)
		seen := s.difference(tc.control, tc.got)
		if !s.comparable {
			seen = "incomparable"
		}
		if tc.want == "" && seen != "" || !strings.Contains(seen, tc.want) {
			t.Errorf("%s: %q, want %q", name, seen, tc.want)
		}
	}
}
