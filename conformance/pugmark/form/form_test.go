package form_test

import (
	"slices"
	"testing"

	"github.com/pugcheck/pugcheck/conformance/pugmark"
	"github.com/pugcheck/pugcheck/conformance/pugmark/form"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// TestOneClauseForEachKind: a fault breaks one clause, which is in the catalogue, and in
// no direction does a kind of fault go unnoticed.
func TestOneClauseForEachKind(t *testing.T) {
	every := []wire.FaultKind{wire.InvalidUTF8, wire.LoneSurrogate, wire.NotANumber, wire.WrongType, wire.BadBase64, wire.URLSafeBase64,
		wire.BrokenBase64, wire.NotJSON, wire.NotObject, wire.Truncated, wire.BOM, wire.Stray}
	for direction, rules := range map[string][]form.Rule{"inputs": form.Inputs(), "outputs": form.Outputs()} {
		of := map[wire.FaultKind]string{}
		for _, r := range rules {
			if _, ok := pugmark.Catalogue().Clause(r.Clause); !ok || r.Demand == "" {
				t.Errorf("%s: %s is no clause with a demand", direction, r.Clause)
			}
			for _, k := range r.Kinds {
				if of[k] != "" {
					t.Errorf("%s: %s belongs to %s and to %s", direction, k, of[k], r.Clause)
				}
				of[k] = r.Clause
			}
		}
		for _, k := range every {
			if of[k] == "" {
				t.Errorf("%s: %s belongs to no clause", direction, k)
			}
		}
	}
}

func TestFaultsOfOnePlaceCountOnce(t *testing.T) {
	_, found := wire.DecodeOutputs([]byte("x\n{\"data\":\"-_-_\"}\n[1]\n"))
	got := form.Faults(found, wire.Stray, wire.URLSafeBase64, wire.NotObject)
	places := []int64{}
	for _, f := range got {
		places = append(places, f.Offset)
	}
	if !slices.Equal(places, []int64{0, 10, 18}) {
		t.Errorf("faults at %v of %v", places, found)
	}
	if got := form.Faults([]wire.Fault{{Offset: 3, Kind: wire.Truncated}, {Offset: 3, Kind: wire.WrongType}}, wire.WrongType); len(got) != 0 {
		t.Errorf("what a fault at the same place gave rise to counts: %v", got)
	}
}
