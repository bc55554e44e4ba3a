package session_test

import (
	"fmt"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
)

// BenchmarkLog replays a session of 1,000 snapshots with 3 descriptors each out of memory: what decoding costs.
func BenchmarkLog(b *testing.B) {
	s := mem.New()
	repo := session.New(s, session.Options{})
	id := must(repo.Create(ctx, session.Manifest{}))(b).Session
	const versions = 1000
	for v := range uint32(versions) {
		d := entries(fmt.Sprint("one of version ", v), "two", "three")
		must(repo.Commit(ctx, session.Commit{Session: id, Base: v, Type: session.Checkpoint, Descriptors: d}))(b)
	}
	b.ReportAllocs()
	for b.Loop() {
		n := 0
		for _, err := range session.New(s, session.Options{}).Log(ctx, id, versions) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
		if n != 3*versions {
			b.Fatalf("%d entries", n)
		}
	}
	b.ReportMetric(float64(versions)*float64(b.N)/b.Elapsed().Seconds(), "snapshots/s")
}

// BenchmarkCommit adds one snapshot of 20 descriptors after another.
func BenchmarkCommit(b *testing.B) {
	repo := session.New(mem.New(), session.Options{})
	id := must(repo.Create(ctx, session.Manifest{}))(b).Session
	var bodies []string
	for i := range 20 {
		bodies = append(bodies, fmt.Sprint("body ", i))
	}
	version := uint32(0)
	b.ReportAllocs()
	for b.Loop() {
		version = must(repo.Commit(ctx, session.Commit{Session: id, Base: version, Type: session.Checkpoint, Descriptors: entries(bodies...)}))(b).Version
	}
}
