package engine

import (
	"crypto/sha256"
	"errors"
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/dir"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

var (
	walkSeed  = flag.Uint64("walk.seed", 0, "seed of the random walk; 0 draws one")
	walkSteps = flag.Int("walk.steps", 500, "steps of the random walk")
)

// TestWalk lets a few processes do all that can be done to a bucket in a random order: runs whose handlers append, fork,
// write to other sessions and to memory, pause, sleep and fail, pushes, runs at the same time, requests that get lost, and
// deaths at any request. After every few steps the bucket has to be what was asked for (S13, S14), and at the end, when every
// session has been run undisturbed, what was promised as well.
//
// A failure prints the seed. go test -run 'TestWalk/mem' -walk.seed N takes the same steps again, save that runs at the
// same time, and requests of one run that wait for nothing, meet in whatever order they do.
func TestWalk(t *testing.T) {
	stores := map[string]func(*testing.T) store.Store{
		"mem": func(*testing.T) store.Store { return mem.New() },
		"dir": func(t *testing.T) store.Store {
			s, err := dir.Open(memoryDir(t))
			if err != nil {
				t.Fatal(err)
			}
			return s
		},
	}
	for name, open := range stores {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			seed := *walkSeed
			if seed == 0 {
				seed = rand.Uint64()
			}
			w := newWalk(t, seed, open(t))
			w.walk(*walkSteps)
			w.finish()
		})
	}
}

// memoryDir is a temporary directory, on a file system in memory if there is one: most of the walk would be waiting for
// the disk, which it does not test.
func memoryDir(t *testing.T) string {
	root, err := os.MkdirTemp("/dev/shm", "walk-*")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() {
		if err := os.RemoveAll(root); err != nil {
			t.Error(err)
		}
	})
	return root
}

// walk is a random walk through a bucket.
type walk struct {
	*testing.T
	seed  uint64
	clock *stoppedClock
	lone  bool // no two runs at the same time, but for those out of a handler
	world *witness
	ledger
	bucket    *contents // as it was when the step began
	looked    int       // how many of the ledger's works have been looked at
	taken     int       // steps
	near      string    // the session of the step before
	processes []*process

	idMu  sync.Mutex
	ids   *rand.ChaCha8
	trace []string
	faced map[string]int // how often what has come up
}

func newWalk(t *testing.T, seed uint64, s store.Store) *walk {
	w := &walk{T: t, seed: seed, clock: &stoppedClock{now: time.Date(2026, 5, 4, 3, 2, 1, 0, time.UTC)},
		world:  &witness{Store: s, first: map[string][sha256.Size]byte{}},
		ledger: ledger{works: map[string]*work{}, roots: map[string]session.Manifest{}},
		bucket: newContents(), faced: map[string]int{}}
	var key [32]byte
	copy(key[:], fmt.Sprint(seed))
	w.ids = rand.NewChaCha8(key)
	for i := range 3 {
		w.processes = append(w.processes, w.newProcess(fmt.Sprint("process ", i)))
	}
	for i := range 4 {
		w.create(w.rand(fmt.Sprint("create", i)), i == 0)
	}
	w.look()
	return w
}

func (w *walk) newID() (layout.SessionID, error) {
	w.idMu.Lock()
	defer w.idMu.Unlock()
	return layout.NewSessionID(w.clock.Now(), w.ids)
}

func (w *walk) freshID() string {
	id, err := w.newID()
	if err != nil {
		panic(err)
	}
	return id.String()
}

func (w *walk) walk(steps int) {
	for i := range steps {
		tag := fmt.Sprint(i)
		w.step(w.rand(tag), tag)
		w.look()
		if w.taken++; w.taken%4 == 0 {
			w.check()
		}
		if w.Failed() {
			return
		}
	}
}

func (w *walk) step(r *rand.Rand, tag string) {
	n := r.IntN(len(w.processes))
	p := w.processes[n]
	defer func() {
		if !p.survives() {
			w.processes[n] = w.newProcess(p.name)
		}
	}()
	id := w.near
	if id == "" || r.IntN(2) == 0 {
		id = oneOf(r, w.bucket.order)
	}
	w.near = id
	switch act := r.IntN(100); {
	case act < 2 && w.roomForSessions():
		w.create(r, false)
	case act < 18:
		w.say(tag, "%s pushes into %s%s", p.name, id, w.endanger(p, r, tag))
		w.push(p, r, tag, id)
	case act < 28 && !w.lone:
		w.say(tag, "runs of %s at the same time, of which %s%s", id, p.name, w.endanger(p, r, tag))
		w.race(p, r, tag, id)
	default:
		w.say(tag, "%s runs %s%s", p.name, id, w.endanger(p, r, tag))
		w.run(p, &walkRun{walk: w, tag: tag, alone: p.lossy.before == nil}, id)
	}
}

// race runs a session several times at the same time, and pushes into it.
func (w *walk) race(p *process, r *rand.Rand, tag, id string) {
	var all sync.WaitGroup
	all.Go(func() { w.run(p, &walkRun{walk: w, tag: tag + "a"}, id) })
	for _, letter := range []string{"b", "c"}[:1+r.IntN(2)] {
		all.Go(func() { w.run(w.newProcess("other"), &walkRun{walk: w, tag: tag + letter}, id) })
	}
	draw := w.rand(tag + "p")
	if draw.IntN(2) == 0 {
		all.Go(func() { w.push(w.newProcess("other"), draw, tag+"p", id) })
	}
	all.Wait()
}

// create makes a session, with all that a manifest may say where it is told to or so drawn.
func (w *walk) create(r *rand.Rand, full bool) {
	m := session.Manifest{FirstSequenceNumber: int64(1 + 10*r.IntN(3))}
	if full || r.IntN(2) == 0 {
		m.Agent, m.Handler, m.Metadata = "agent", "named", map[string]string{"team": "blue"}
	}
	m, err := w.newProcess("creator").repo.Create(w.Context(), m)
	if err != nil {
		w.Fatal(err)
	}
	w.roots[m.Session.String()] = m
}

// push adds objects to a session from outside.
func (w *walk) push(p *process, r *rand.Rand, tag, id string) {
	wk := &work{tag: tag, session: id, kind: session.Provisional}
	if r.IntN(3) == 0 {
		wk.kind = session.Queueing
	}
	var descriptors []session.Descriptor
	for i := range 1 + r.IntN(3) {
		it := item{name: oneOf(r, entryNames), body: drawBody(r, wk.tagOf(i))}
		d := session.Tombstone("n0")
		if r.IntN(6) == 0 {
			it = item{name: "n0", deleted: true}
		} else {
			var err error
			if d, err = p.repo.PutBlob(w.Context(), []byte(it.body), session.Media{ContentType: "text/plain"}); err != nil {
				w.expect(tag, err, hazard)
				return
			}
			d.Name = it.name
		}
		d.Metadata = map[string]string{tagKey: wk.tagOf(i)}
		wk.items = append(wk.items, it)
		descriptors = append(descriptors, d)
	}
	w.add(wk)
	_, err := p.repo.Push(w.Context(), w.id(id), wk.kind, descriptors...)
	if err == nil {
		wk.fate = in
	}
	w.expect(tag, err, hazard)
}

// run runs a session once, and notes what its handler is told about the outcome.
func (w *walk) run(p *process, r *walkRun, id string) Result {
	config := Config{Repo: p.repo, Clock: w.clock, Handlers: Handlers{Default: r, Named: map[string]transport.Handler{"named": r}}}
	result, err := Run(w.Context(), config, w.id(id))
	w.say(r.tag, "%d invocations, version %d, %s, %v", result.Invocations, result.Version, result.State, err)
	expected := hazard
	for i, wk := range r.works {
		switch {
		case i < result.Invocations:
			wk.fate = in
			last := i == result.Invocations-1
			if !last || !hazard(err) {
				wk.memory = in
			}
			wk.final = last && err == nil && result.State != Lost
		case err == nil && result.State == Lost, wk.failed:
			wk.fate, wk.memory = out_, out_
		}
		expected = w.expecting(wk, expected)
	}
	w.count(result, r)
	w.expect(r.tag, err, expected)
	return result
}

func noTarget(err error) bool { return errors.Is(err, session.ErrSessionNotFound) }

// expecting is expected, extended by the errors that the work itself brings about.
func (w *walk) expecting(wk *work, expected func(error) bool) func(error) bool {
	missing := slices.ContainsFunc(wk.items, func(it item) bool { return it.target != "" && !it.fork && (it.along || !it.present) })
	return func(err error) bool {
		return expected(err) || wk.failed && errors.Is(err, errHandler) || missing && noTarget(err)
	}
}

func (w *walk) expect(tag string, err error, expected func(error) bool) {
	if err != nil && !expected(err) {
		w.complain("step %s: %v", tag, err)
	}
}

func (w *walk) count(result Result, r *walkRun) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.faced[string(result.State)]++
	w.faced["invocations"] += len(r.works)
	if result.Invocations > 1 {
		w.faced["woken again"]++
	}
}

func (w *walk) id(text string) layout.SessionID {
	id, err := layout.ParseSessionID(text)
	if err != nil {
		w.Fatal(err)
	}
	return id
}

func (w *walk) say(tag, format string, args ...any) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.trace = append(w.trace, tag+": "+fmt.Sprintf(format, args...))
}

func (w *walk) complain(format string, args ...any) { w.world.complain(format, args...) }

// look reads what is new in the bucket.
func (w *walk) look() {
	for _, key := range w.world.take() {
		if err := w.bucket.load(w.Context(), w.world, key); err != nil {
			w.Fatal(err)
		}
	}
}

// check checks all of the bucket.
func (w *walk) check() {
	complaints := check(w.bucket, &w.ledger, false)
	if len(complaints) == 0 {
		complaints = w.bucket.shown(w.order[w.looked:])
	}
	w.looked = len(w.order)
	w.judge(complaints)
}

// judge reports complaints, with how to have them again.
func (w *walk) judge(complaints []string) {
	complaints = append(w.world.complaints, complaints...)
	if len(complaints) == 0 {
		return
	}
	w.Errorf("seed %d: after the steps\n\t%s\n%s", w.seed, strings.Join(w.trace[max(0, len(w.trace)-12):], "\n\t"), strings.Join(complaints, "\n"))
}

// finish runs every session undisturbed, with handlers that do nothing, until nothing is left to do, and checks the
// bucket as it lies there.
func (w *walk) finish() {
	if w.Failed() {
		return
	}
	for round := range 8 {
		for i, id := range slices.Clone(w.bucket.order) {
			w.run(w.newProcess("last"), &walkRun{walk: w, tag: fmt.Sprintf("end%d-%d", round, i), quiet: true, alone: true}, id)
		}
		before := len(w.bucket.objects)
		w.look()
		w.check()
		if w.Failed() || len(w.bucket.objects) == before {
			break
		}
		if round == 7 {
			w.Errorf("seed %d: there is always something left to do", w.seed)
		}
	}
	atRest, err := readContents(w.Context(), w.world)
	if err != nil {
		w.Fatal(err)
	}
	w.judge(append(check(atRest, &w.ledger, true), w.world.changed(atRest)...))
	w.bucket = atRest
	w.Logf("seed %d: %d sessions, %d objects, %d commits asked for, %v", w.seed, len(atRest.order), len(atRest.objects), len(w.order), w.faced)
}
