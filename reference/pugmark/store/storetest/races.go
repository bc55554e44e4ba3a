package storetest

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// S2.2-4, S2.2-5: of simultaneous creates exactly one succeeds, and the object is wholly that one's.
func testRaceToCreate(t *testing.T, a, b store.Store) {
	const racers, keys = 8, 12
	for k := range keys {
		name := key("sessions/s/", k)
		won := make([]bool, racers)
		var wg sync.WaitGroup
		start := make(chan struct{})
		for i := range racers {
			s := a
			if i%2 == 1 {
				s = b
			}
			wg.Go(func() {
				<-start
				body := strings.Repeat(fmt.Sprintf("%02d", i), 500)
				options := ifAbsent(plain)
				options.Metadata = map[string]string{"racer": fmt.Sprint(i)}
				_, err := store.PutBytes(context.Background(), s, name, []byte(body), options)
				if err != nil && !errors.Is(err, store.ErrExists) {
					t.Errorf("racer %d: %v", i, err)
				}
				won[i] = err == nil
			})
		}
		close(start)
		wg.Wait()
		winner := -1
		for i, w := range won {
			if w && winner >= 0 {
				t.Fatalf("%s: racers %d and %d both created it", name, winner, i)
			}
			if w {
				winner = i
			}
		}
		if winner < 0 {
			t.Fatalf("%s: nobody created it", name)
		}
		attrs := wantBody(t, b, name, strings.Repeat(fmt.Sprintf("%02d", winner), 500))
		if got := attrs.Metadata["racer"]; got != fmt.Sprint(winner) {
			t.Fatalf("%s: racer %d's body has racer %s's metadata", name, winner, got)
		}
	}
}

// Of simultaneous conditional replacements of one version exactly one succeeds.
func testRaceIfMatch(t *testing.T, a, b store.Store) {
	etag := put(t, a, "refs/x", "start", plain)
	for round := range 5 {
		next := make(chan string, 8)
		var wg sync.WaitGroup
		for i := range cap(next) {
			s := a
			if i%2 == 1 {
				s = b
			}
			wg.Go(func() {
				options := plain
				options.IfMatch = etag
				got, err := store.PutBytes(context.Background(), s, "refs/x", []byte(key(round, "-", i)), options)
				switch {
				case err == nil:
					next <- got
				case !errors.Is(err, store.ErrMismatch):
					t.Errorf("racer %d: %v", i, err)
				}
			})
		}
		wg.Wait()
		if len(next) != 1 {
			t.Fatalf("round %d: %d racers succeeded, want 1", round, len(next))
		}
		etag = <-next
	}
}

// Who reads while an object is being replaced sees one version of it or the other, with its own attributes.
func testNoTornReads(t *testing.T, a, b store.Store) {
	version := func(i int) (string, store.PutOptions) {
		options := plain
		options.Metadata = map[string]string{"version": fmt.Sprint(i)}
		return strings.Repeat(fmt.Sprintf("%06d\n", i), 1000*(1+i%3)), options
	}
	write := func(i int) {
		body, options := version(i)
		put(t, a, "refs/x", body, options)
	}
	write(0)
	done := make(chan struct{})
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				select {
				case <-done:
					return
				default:
				}
				body, attrs, err := store.Get(context.Background(), b, "refs/x")
				if err != nil {
					t.Errorf("read: %v", err)
					return
				}
				var i int
				fmt.Sscan(attrs.Metadata["version"], &i)
				if want, _ := version(i); string(body) != want {
					t.Errorf("attributes of version %d with a body of %d bytes that starts with %.8q", i, len(body), body)
					return
				}
			}
		})
	}
	for i := range 30 {
		write(i + 1)
	}
	close(done)
	wg.Wait()
}
