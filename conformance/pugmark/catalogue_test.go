package pugmark

import (
	"testing"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
)

func TestEmbeddedCatalogueIsConsistent(t *testing.T) {
	c, err := catalogue.Load(files, sources...)
	if err != nil {
		t.Fatal(err)
	}
	if got := len(c.Clauses()); got != 633 {
		t.Errorf("%d clauses, want 633", got)
	}
}

func BenchmarkLoad(b *testing.B) {
	for b.Loop() {
		if _, err := catalogue.Load(files, sources...); err != nil {
			b.Fatal(err)
		}
	}
}
