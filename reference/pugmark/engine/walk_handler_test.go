package engine

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"io"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

var errHandler = errors.New("the handler gives up")

// walkRun is one run of a session, and its handler. What that does is drawn from the walk's seed and its own tag.
type walkRun struct {
	*walk
	tag    string
	alone  bool   // nobody else writes while it runs, but for what its own handler does
	quiet  bool   // the handler only listens
	memory string // a namespace that the handler writes into, and does nothing else

	mu    sync.Mutex
	works []*work
}

// rand is the source of what is drawn under a tag.
func (w *walk) rand(tag string) *rand.Rand {
	h := fnv.New64a()
	io.WriteString(h, tag)
	return rand.New(rand.NewPCG(w.seed, h.Sum64()))
}

// Invoke implements transport.Handler.
func (r *walkRun) Invoke(ctx context.Context, inv transport.Invocation) error {
	r.mu.Lock()
	wk := &work{tag: fmt.Sprintf("%s.%d", r.tag, len(r.works)), session: inv.Session, kind: session.Checkpoint, base: inv.Version}
	r.works = append(r.works, wk)
	first := len(r.works) == 1
	r.mu.Unlock()
	var text bytes.Buffer
	if err := inv.Inputs(ctx, &text); err != nil {
		return err
	}
	var inputs []stream.Input
	for d := json.NewDecoder(&text); ; {
		var in stream.Input
		if err := d.Decode(&in); err == io.EOF {
			break
		} else if err != nil {
			r.complain("P4-1: %s: its input stream: %v", wk.tag, err)
			return err
		}
		inputs = append(inputs, in)
	}
	draw := r.rand(wk.tag)
	wk.event = inputs[len(inputs)-1].Event
	entries := inputs[1 : len(inputs)-1]
	for _, in := range entries {
		wk.told = append(wk.told, in.Metadata[tagKey])
	}
	switch {
	case r.memory != "":
		wk.items = []item{{namespace: r.memory, name: oneOf(draw, objectNames), body: wk.tagOf(0)}}
	case !r.quiet:
		r.plan(draw, wk)
	}
	r.add(wk)
	if len(entries) > 0 {
		r.fetch(entries[draw.IntN(len(entries))])
	}
	if r.alone && first {
		r.remember(draw, inputs[0].URL)
	}
	if r.alone && !r.quiet {
		r.meddle(draw, wk)
	}
	if err := inv.Outputs(ctx, strings.NewReader(wk.stream())); err != nil {
		return err
	}
	if wk.failed {
		return errHandler
	}
	return nil
}

// fetch holds the body that is served for an entry against the one that was written.
func (r *walkRun) fetch(in stream.Input) {
	w, i, ok := r.find(in.Metadata[tagKey])
	if !ok || w.items[i].deleted {
		return
	}
	if status, body, err := get(in.URL); status < 500 && (err != nil || status != 200 || body != w.items[i].body) {
		r.complain("P7.1-1: the body of %s is served with status %d, %d bytes, error %v", w.tagOf(i), status, len(body), err)
	}
}

// remember holds a memory object that is served against the one that lies in the bucket.
func (r *walkRun) remember(draw *rand.Rand, root string) {
	namespace, name := oneOf(draw, namespaces), oneOf(draw, objectNames)
	status, body, err := get(root + namespace + "/" + name)
	want, digest := http.StatusNotFound, ""
	versions := r.bucket.memory[namespace]
	if f := versions[uint32(len(versions))]; f != nil {
		for _, d := range f.entries {
			if d.Name == name {
				want, digest = http.StatusOK, d.Digest
			}
		}
	}
	if status < 500 && (err != nil || status != want) || status == http.StatusOK && fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(body))) != digest {
		r.complain("P8.3-2: memory %s/%s is served with status %d, want %d, error %v", namespace, name, status, want, err)
	}
}

// get fetches a URL. A status above 499 is what a hazard of the store leads to.
func get(url string) (int, string, error) {
	resp, err := http.Get(url)
	if err != nil {
		return 0, "", err
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp.StatusCode, string(body), err
}

// meddle makes something happen in the bucket while the handler runs.
func (r *walkRun) meddle(draw *rand.Rand, wk *work) {
	other := r.newProcess("other")
	switch draw.IntN(14) {
	case 0, 1: // somebody pushes into the session
		r.push(other, draw, wk.tag+"p", wk.session)
	case 2: // another run of the session is faster
		inner := &walkRun{walk: r.walk, tag: wk.tag + "r", quiet: draw.IntN(3) == 0}
		r.run(other, inner, wk.session)
	case 3: // both
		r.push(other, draw, wk.tag+"p", wk.session)
		r.run(other, &walkRun{walk: r.walk, tag: wk.tag + "r"}, wk.session)
	}
}

var (
	entryNames  = []string{"", "n0", "n1", "n2", "memories/x"}
	objectNames = []string{"k0", "k1", "k2"}
	namespaces  = []string{"ns", "1", "user/1", "user/1/alice", "user"}
)

func oneOf[T any](r *rand.Rand, values []T) T { return values[r.IntN(len(values))] }

// plan draws what an invocation does.
func (r *walkRun) plan(draw *rand.Rand, wk *work) {
	var forksOnly, memoryOnly bool
	switch draw.IntN(8) {
	case 0:
		forksOnly = true
	case 1:
		memoryOnly = true
	}
	for i := range draw.IntN(5) {
		it := item{name: oneOf(draw, entryNames), body: drawBody(draw, wk.tagOf(i))}
		kind := draw.IntN(10)
		switch {
		case memoryOnly || kind < 3 && !forksOnly:
			it.namespace, it.name = oneOf(draw, namespaces), oneOf(draw, objectNames)
		case (forksOnly || kind < 5) && r.roomForSessions():
			it.fork, it.body = true, wk.tagOf(i)
			it.target = r.drawChild(draw, wk.session)
		case kind < 8:
			it.target, it.present, it.along = r.drawTarget(draw, wk)
		}
		wk.items = append(wk.items, it)
	}
	wk.paused = draw.IntN(5) == 0
	wk.timed = wk.paused && draw.IntN(2) == 0
	wk.failed = draw.IntN(12) == 0
}

// drawBody is a body of its own for the tag, short or too long to be inlined, or the empty one.
func drawBody(draw *rand.Rand, tag string) string {
	switch draw.IntN(8) {
	case 0:
		return ""
	case 1:
		return tag + strings.Repeat("x", 1000+draw.IntN(2000))
	}
	return tag
}

// roomForSessions lets the walk make new sessions all along, and never too many.
func (w *walk) roomForSessions() bool { return len(w.bucket.order) < 10+w.taken/12 }

// drawChild is the ID that a handler chooses for a child, "" for none: one that is new, that was chosen before, or that
// an existing session has.
func (r *walkRun) drawChild(draw *rand.Rand, parent string) string {
	switch n := draw.IntN(12); {
	case n < 6:
		return ""
	case n == 6:
		if id := oneOf(draw, r.bucket.order); id != parent {
			return id
		}
	case n == 7:
		if pending := r.pendingChildren(); len(pending) > 0 {
			if id := oneOf(draw, pending); id != parent {
				return id
			}
		}
	}
	return r.freshID()
}

// drawTarget is where a record for another session goes, whether that exists by the time that it is due, and whether it
// does so because it is forked along with it.
func (r *walkRun) drawTarget(draw *rand.Rand, wk *work) (id string, present, along bool) {
	if n := len(wk.items); n > 0 && wk.items[n-1].target != "" && !wk.items[n-1].fork {
		it := wk.items[n-1]
		return it.target, it.present, it.along // a batch of several
	}
	for _, it := range wk.items {
		if it.fork && it.target != "" && draw.IntN(3) == 0 {
			return it.target, true, true
		}
	}
	switch n := draw.IntN(12); {
	case n == 0:
		return wk.session, true, false
	case n == 1:
		return r.freshID(), false, false
	case n == 2:
		if pending := r.pendingChildren(); len(pending) > 0 {
			return oneOf(draw, pending), false, false
		}
	}
	return oneOf(draw, r.bucket.order), true, false
}

// pendingChildren are the IDs in fork records, in order.
func (w *walk) pendingChildren() []string {
	return slices.Sorted(maps.Keys(w.bucket.forkRecords()))
}

// stream is the work as an output stream.
func (w *work) stream() string {
	var records []string
	for i, it := range w.items {
		name := it.name
		if it.namespace != "" {
			name = "memories/" + it.namespace + "/" + it.name
		}
		fields := []string{fmt.Sprintf(`"name":%q,"metadata":{%q:%q}`, name, tagKey, w.tagOf(i))}
		if it.fork {
			fields = append(fields, `"fork":true`)
		}
		if it.target != "" {
			fields = append(fields, fmt.Sprintf(`"session":%q`, it.target))
		}
		records = append(records, out(it.body, fields...))
	}
	if w.paused {
		duration := ""
		if w.timed {
			duration = "90s"
		}
		records = append(records, pauseFor(w.tag, duration))
	}
	return strings.Join(records, "\n")
}
