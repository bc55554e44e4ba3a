package session_test

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/dir"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
)

// TestWalk has several writers at once do all that can be done to a few sessions, over a store that loses and repeats
// requests, and then checks what must hold whatever happened (S13, S14). A failure prints its seed; the order in which
// goroutines run is left to the machine.
func TestWalk(t *testing.T) {
	for name, c := range map[string]struct {
		store          store.Store
		writers, steps int
	}{
		"mem": {mem.New(), 6, 40},
		"dir": {must(dir.Open(t.TempDir()))(t), 4, 12},
	} {
		t.Run(name, func(t *testing.T) {
			seed := rand.Uint64()
			t.Logf("seed %d", seed)
			w := &walk{t: t, store: c.store, fate: map[string]string{}}
			repo := session.New(c.store, session.Options{})
			for range 3 {
				w.sessions = append(w.sessions, must(repo.Create(ctx, session.Manifest{FirstSequenceNumber: int64(10 * len(w.sessions))}))(t))
			}
			var wg sync.WaitGroup
			for i := range c.writers {
				wg.Go(func() { w.write(rand.New(rand.NewPCG(seed, uint64(i))), i, c.steps) })
			}
			wg.Wait()
			w.check(repo)
		})
	}
}

type walk struct {
	t        *testing.T
	store    store.Store
	mu       sync.Mutex
	sessions []session.Manifest
	fate     map[string]string // of each body: "in", "out" or "unknown"
	memories int
}

func (w *walk) pick(r *rand.Rand) session.Manifest {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.sessions[r.IntN(len(w.sessions))]
}

// settle notes what became of a body.
func (w *walk) settle(body string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.fate[body] = "in"
	case errors.Is(err, session.ErrConflict):
		w.fate[body] = "out"
	case errors.Is(err, errOutcomeUnknown):
		w.fate[body] = "unknown"
	default:
		w.t.Errorf("%s: %v", body, err)
	}
}

func (w *walk) write(r *rand.Rand, writer, steps int) {
	faulty := &tampered{Store: w.store}
	var mu sync.Mutex
	faulty.hook = func(request string) verdict {
		mu.Lock()
		defer mu.Unlock()
		if strings.HasPrefix(request, "PUT ") && r.IntN(8) == 0 {
			return []verdict{fail, lose, loseThenRetry}[r.IntN(3)]
		}
		return pass
	}
	for step := range steps {
		repo := session.New(faulty, session.Options{})
		mu.Lock()
		act := r.IntN(10)
		mu.Unlock()
		m, body := w.pick(r), fmt.Sprintf("%d.%d", writer, step)
		switch {
		case act < 4:
			w.run(repo, m, body)
		case act < 6:
			_, err := repo.Push(ctx, m.Session, []session.SnapshotType{session.Provisional, session.Queueing}[act%2], entries(body)...)
			w.settle(body, err)
		case act < 8:
			w.deliver(repo, m, body, writer, step)
		case act < 9:
			w.fork(repo, m, body)
		default:
			d := objects(body + "=x")
			e := session.Envelope{Session: m.Session, Version: 1, Transaction: uint64(1000*writer + step + 1)}
			if _, err := repo.WriteMemory(ctx, "ns", d, e); err == nil {
				w.mu.Lock()
				w.memories++
				w.mu.Unlock()
			} else if !errors.Is(err, errOutcomeUnknown) {
				w.t.Error(err)
			}
		}
	}
}

// run commits as an invocation does: a checkpoint on top of what was the latest when it began.
func (w *walk) run(repo *session.Repo, m session.Manifest, body string) {
	_, version, err := repo.Open(ctx, m.Session)
	if err != nil {
		w.t.Error(err)
		return
	}
	d := entries(body)
	d[0].Metadata = map[string]string{"base": strconv.FormatUint(uint64(version), 10)}
	_, err = repo.Commit(ctx, session.Commit{Session: m.Session, Base: version, Type: session.Checkpoint, Descriptors: d})
	w.settle(body, err)
}

// deliver delivers until the outcome is known, as runs do one after another.
func (w *walk) deliver(repo *session.Repo, m session.Manifest, body string, writer, step int) {
	d := session.Delivery{Writer: layout.SessionID{1, byte(writer)}, Version: uint32(step + 1), Target: m.Session, Descriptors: entries(body)}
	for {
		_, err := repo.Deliver(ctx, d)
		if errors.Is(err, errOutcomeUnknown) {
			continue
		}
		w.settle(body, err)
		return
	}
}

// fork makes a child of the session at its latest version, as two runs would do it that know nothing of each other.
func (w *walk) fork(repo *session.Repo, m session.Manifest, body string) {
	_, version, err := repo.Open(ctx, m.Session)
	if err != nil {
		w.t.Error(err)
		return
	}
	record := entries(body)[0]
	record.Fork = true
	record.TargetSession = must(repo.NewSessionID())(w.t)
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			for {
				err := repo.Materialise(ctx, m, version, record)
				var child session.Manifest
				if err == nil {
					child, err = repo.LoadManifest(ctx, record.TargetSession)
				}
				if errors.Is(err, errOutcomeUnknown) {
					continue
				}
				if err != nil {
					w.t.Error(err)
					return
				}
				w.mu.Lock()
				if !slices.ContainsFunc(w.sessions, func(m session.Manifest) bool { return m.Session == child.Session }) {
					w.sessions = append(w.sessions, child)
				}
				w.mu.Unlock()
				return
			}
		})
	}
	wg.Wait()
	w.settle(body, nil)
}

func (w *walk) check(repo *session.Repo) {
	seen := map[string]int{}
	for _, m := range w.sessions {
		latest := must(repo.Latest(ctx, m.Session))(w.t)
		number := m.FirstSequenceNumber
		checkpoint := uint32(0)
		for s, err := range repo.Snapshots(ctx, m.Session, 1, latest) {
			if err != nil {
				w.t.Fatal(err)
			}
			for _, d := range s.Descriptors {
				if d.SequenceNumber != number { // S7.3-8
					w.t.Errorf("session %s, version %d: number %d, want %d", m.Session, s.Version, d.SequenceNumber, number)
				}
				number++
				seen[string(d.Data)]++
				if text, ok := d.Metadata["base"]; ok {
					if base := must(strconv.ParseUint(text, 10, 32))(w.t); uint32(base) < checkpoint { // S13.3-3
						w.t.Errorf("session %s: checkpoint %d was run on version %d, before checkpoint %d", m.Session, s.Version, base, checkpoint)
					}
				}
			}
			if s.Type.IsCheckpoint() {
				checkpoint = s.Version
			}
		}
	}
	counts := map[string]int{}
	for body, fate := range w.fate {
		counts[fate]++
		n := seen[body]
		if fate == "in" && n != 1 || fate == "out" && n != 0 || n > 1 {
			w.t.Errorf("body %s is %s, and occurs %d times", body, fate, n)
		}
	}
	latest := must(repo.LatestMemory(ctx, "ns"))(w.t)
	if f := must(repo.ReadMemory(ctx, "ns", latest))(w.t); len(f.Records) < w.memories {
		w.t.Errorf("%d memory records are left of %d", len(f.Records), w.memories)
	}
	w.t.Logf("%d sessions, bodies %v, %d memory records", len(w.sessions), counts, w.memories)
}
