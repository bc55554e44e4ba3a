package wire

import (
	"cmp"
	"fmt"
	"slices"
)

// FaultKind says what is wrong at one place of a record stream.
type FaultKind string

// The kinds of fault. The first group leaves the record usable: it is decoded and returned beside the fault.
const (
	DuplicateKey  FaultKind = "duplicate-key"  // an object holds one key twice; the last value is kept
	InvalidUTF8   FaultKind = "invalid-utf8"   // bytes inside a string that are no UTF-8
	LoneSurrogate FaultKind = "lone-surrogate" // a \ud800–\udfff escape without its other half
	NotANumber    FaultKind = "not-a-number"   // NaN or Infinity where JSON has a number
	WrongType     FaultKind = "wrong-type"     // a known field whose value has another type than the schema's
	BadBase64     FaultKind = "bad-base64"     // a data field that is base64 of no alphabet
	URLSafeBase64 FaultKind = "base64-urlsafe" // a data field in the URL-safe alphabet
	BrokenBase64  FaultKind = "base64-broken"  // a data field with a line break inside
	BadSession    FaultKind = "bad-session"    // a session field that is no session ID

	// The second group costs the top-level value: it is not among the records.
	NotJSON   FaultKind = "not-json"   // a record that begins like an object and breaks the grammar
	NotObject FaultKind = "not-object" // a JSON value at top level that is no object
	Truncated FaultKind = "truncated"  // the stream ends inside a value
	BOM       FaultKind = "bom"        // a byte-order mark outside a string
	Stray     FaultKind = "stray"      // bytes between records that are neither whitespace nor a JSON value
)

// Soft tells whether a record with a fault of this kind is still decoded and returned.
func (k FaultKind) Soft() bool {
	switch k {
	case NotJSON, NotObject, Truncated, BOM, Stray:
		return false
	}
	return true
}

// Fault is one thing wrong with a record stream.
type Fault struct {
	Record int   // which record, counted from 1; for bytes between records, the record that would come next
	Offset int64 // where in the stream, in bytes from 0
	Kind   FaultKind
	Text   string // what is wrong, in words
}

func (f Fault) Error() string {
	return fmt.Sprintf("record %d, byte %d: %s", f.Record, f.Offset, f.Text)
}

func sortFaults(faults []Fault) {
	slices.SortStableFunc(faults, func(a, b Fault) int { return cmp.Compare(a.Offset, b.Offset) })
}
