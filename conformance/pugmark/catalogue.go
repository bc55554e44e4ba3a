// Package pugmark is the catalogue of the pugmark agent-session
// specifications: the handler protocol (clauses P…) and the storage layout
// (clauses S…), with the readings (R-…) that settle what their text leaves open
// and the findings (F-…) against it.
//
// The YAML files beside this file are the source. They are embedded, so a
// pugcheck binary needs nothing but itself.
package pugmark

import (
	"embed"
	"sync"

	"github.com/pugcheck/pugcheck/conformance/catalogue"
)

//go:embed clauses/*.yaml readings.yaml
var files embed.FS

// sources are the catalogue's files in the order of the text.
var sources = []string{"clauses/vocabulary.yaml", "clauses/protocol.yaml", "clauses/storage.yaml", "readings.yaml"}

// Catalogue is the catalogue of both specifications. It is loaded on first
// use and shared. It panics if the embedded files are not consistent, which a
// test of this package excludes.
func Catalogue() *catalogue.Catalogue { return loaded() }

var loaded = sync.OnceValue(func() *catalogue.Catalogue {
	c, err := catalogue.Load(files, sources...)
	if err != nil {
		panic("embedded catalogue: " + err.Error())
	}
	return c
})
