package mem_test

import (
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/storetest"
)

func TestStore(t *testing.T) {
	storetest.Run(t, func(*testing.T) func() store.Store {
		s := mem.New()
		return func() store.Store { return s }
	})
}
