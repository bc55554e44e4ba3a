package runtime

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/probe"
	"github.com/pugcheck/pugcheck/harness/report"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// Invocation is one invocation of the handler that the scenario plays.
type Invocation struct {
	*probe.Invocation
	lab *Lab

	mu       sync.Mutex
	emitted  []byte
	stream   *Stream   // decoded once the input has ended
	finished time.Time // when Finish was called
	cut      bool      // the scenario ended the run before the input had ended
}

// Stream is a whole input stream, strictly decoded.
type Stream struct {
	Raw    []byte
	Inputs []wire.Input
	Faults []wire.Fault
}

// Replay are the records of the log: all but memory and lifecycle records. That
// those stand first and last, once each, is for the invariants to say; here a
// misplaced one shifts nothing.
func (s Stream) Replay() []wire.Input {
	var out []wire.Input
	for i, in := range s.Inputs {
		last := i == len(s.Inputs)-1
		switch {
		case in.Event == "memory":
		case len(filled(in)) == 0 && in.Event != "push":
		case last && (isLifecycle(in) || endsInBareText(in)):
		default:
			out = append(out, in)
		}
	}
	return out
}

// Last is the lifecycle record; ok is false on an empty stream.
func (s Stream) Last() (wire.Input, bool) {
	if len(s.Inputs) == 0 {
		return wire.Input{}, false
	}
	return s.Inputs[len(s.Inputs)-1], true
}

// Stream waits until the runtime has closed the input, and decodes it. Where the
// records cannot be told apart, the scenario ends here: the form of streams is
// judged by invariants, and nothing can be said about what such a stream holds.
func (i *Invocation) Stream() Stream {
	s := i.Received()
	if why := s.unreadable(); why != "" {
		i.lab.Stop("the handler's input is no sequence of records, so what it holds is not judged: %s", why)
	}
	if len(s.Inputs) == 0 {
		i.lab.Stop("the handler's input ended after %d bytes without a record, so there is nothing to judge", len(s.Raw))
	}
	return s
}

// Received is Stream for judging the form: whatever came, well-formed or not. A
// runtime that never closes the input violates P16-3; the records so far are
// used then.
func (i *Invocation) Received() Stream {
	if s, ok := i.complete(); ok {
		return s
	}
	x := i.lab
	ctx, cancel := subject.Patience(x.Ctx, x.Config.Timeout)
	defer cancel()
	var err error
	x.Waiting(func() { err = i.WaitEOF(ctx) })
	if err == nil {
		s, _ := i.complete()
		return s
	}
	if x.Ctx.Err() != nil {
		x.Stop("interrupted while reading the handler's input")
	}
	raw := i.Input()
	x.Clause(closesInput).Holds(false, "the input ends once all records are sent",
		"%d bytes came, and the input was still open after %s (%v)", len(raw), x.Config.Timeout, err)
	return decode(raw)
}

// Inputs are the decoded records of the whole stream.
func (i *Invocation) Inputs() []wire.Input { return i.Stream().Inputs }

// Replay are the records of the log, between the first and the last.
func (i *Invocation) Replay() []wire.Input { return i.Stream().Replay() }

// Lifecycle is the event of the lifecycle record, wherever it stands. Without
// one, or with several, the scenario ends: that is for the invariants to judge.
func (i *Invocation) Lifecycle() string {
	s := i.Stream()
	var found []string
	for k, in := range s.Inputs {
		last := k == len(s.Inputs)-1
		if isLifecycle(in) && len(filled(in)) == 0 || last && (isLifecycle(in) || endsInBareText(in)) {
			found = append(found, in.Event)
		}
	}
	if len(found) != 1 {
		i.lab.Stop("the stream has %d lifecycle records, so which event it ends with cannot be told", len(found))
	}
	return found[0]
}

// MemoryRoot is the url of the first record.
func (i *Invocation) MemoryRoot() string {
	in := i.Inputs()
	if len(in) == 0 {
		return ""
	}
	return in[0].URL
}

func decode(raw []byte) Stream {
	in, faults := wire.DecodeInputs(raw)
	return Stream{Raw: raw, Inputs: in, Faults: faults}
}

// complete returns the stream once the input has ended regularly.
func (i *Invocation) complete() (Stream, bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	if i.cut || i.hosts() {
		return Stream{}, false
	}
	if i.stream == nil {
		if _, ended := i.InputEnded(); !ended {
			return Stream{}, false
		}
		s := decode(i.Input())
		i.stream = &s
	}
	return *i.stream, true
}

// cutIfOpen marks the stream as not whole when its end has not been seen.
func (i *Invocation) cutIfOpen() {
	if _, ended := i.InputEnded(); ended {
		return
	}
	i.mu.Lock()
	i.cut = true
	i.mu.Unlock()
}

// Body returns the bytes of a replayed entry: from data, else by a GET of url.
// why says what went wrong where ok is false.
func (i *Invocation) Body(in wire.Input) (body []byte, ok bool, why string) {
	if in.HasData {
		return in.Data, true, ""
	}
	if in.URL == "" {
		return nil, true, "" // an entry without either has an empty body
	}
	res, err := i.Get(in.URL)
	switch {
	case err != nil:
		return nil, false, fmt.Sprintf("GET %s: %v", in.URL, err)
	case res.Status != http.StatusOK:
		return nil, false, fmt.Sprintf("GET %s: status %d", in.URL, res.Status)
	}
	return res.Body, true, ""
}

// Get fetches a URL as the handler.
func (i *Invocation) Get(address string) (probe.FetchResult, error) {
	return i.fetch(probe.FetchRequest{Method: http.MethodGet, URL: address})
}

// fetch makes any HTTP request as the handler.
func (i *Invocation) fetch(r probe.FetchRequest) (probe.FetchResult, error) {
	ctx, cancel := subject.Patience(i.lab.Ctx, i.lab.Config.Timeout)
	defer cancel()
	var res probe.FetchResult
	var err error
	i.lab.Waiting(func() { res, err = i.Fetch(ctx, r) })
	if err == nil && res.Err != "" {
		err = fmt.Errorf("%s", res.Err)
	}
	return res, err
}

// Names are the names of the replayed entries, in order; entries without a name
// give "".
func (i *Invocation) Names() []string {
	out := []string{}
	for _, in := range i.Replay() {
		out = append(out, in.Name)
	}
	return out
}

// Events are the event fields of the replayed entries, in order.
func (i *Invocation) Events() []string {
	out := []string{}
	for _, in := range i.Replay() {
		out = append(out, in.Event)
	}
	return out
}

// Emit writes Output records, one per line.
func (i *Invocation) Emit(outs ...wire.OutputRecord) {
	var b []byte
	for _, o := range outs {
		b = append(b, o.Encode()...)
	}
	i.Say(string(b))
}

// Say writes raw bytes on the handler's output. A runtime that has gone away is
// not an error here: what it left is judged afterwards.
func (i *Invocation) Say(raw string) {
	i.mu.Lock()
	i.emitted = append(i.emitted, raw...)
	i.mu.Unlock()
	i.lab.Waiting(func() { _ = i.Write([]byte(raw)) })
}

// Finish emits, and ends the invocation successfully.
func (i *Invocation) Finish(outs ...wire.OutputRecord) {
	if len(outs) > 0 {
		i.Emit(outs...)
	}
	i.mu.Lock()
	i.finished = time.Now()
	i.mu.Unlock()
	_ = i.Exit(0)
}

// Announced is the snapshot version that the runtime told the handler, by the
// assumed variable or query parameter; ok is false where there is none.
func (i *Invocation) Announced() (version string, ok bool) {
	names := i.lab.Config.Profile.Assumed
	if i.Request == nil {
		return i.Getenv(names.Environment.SnapshotVersion)
	}
	v := i.Query()[names.Query.Version]
	if len(v) == 0 {
		return "", false
	}
	return v[0], true
}

// Query are the parameters of an HTTP invocation's URL; nil over a pipe.
func (i *Invocation) Query() url.Values {
	if i.Request == nil {
		return nil
	}
	u, err := url.Parse(i.Request.Target)
	if err != nil {
		return nil
	}
	return u.Query()
}

func (i *Invocation) trace() []report.Block {
	i.mu.Lock()
	emitted := append([]byte(nil), i.emitted...)
	i.mu.Unlock()
	var b strings.Builder
	if i.Request != nil {
		fmt.Fprintf(&b, "request head:\n%s\n", i.Request.Head)
	}
	raw := i.Input()
	ended := "still open"
	if at, ok := i.InputEnded(); ok {
		ended = fmt.Sprintf("ended after %s", at.Sub(i.Arrived).Round(time.Millisecond))
	}
	fmt.Fprintf(&b, "input (%d bytes, %s):\n%s\n", len(raw), ended, excerpt(raw, 4000))
	fmt.Fprintf(&b, "output (%d bytes):\n%s\n", len(emitted), excerpt(emitted, 2000))
	return []report.Block{{Title: fmt.Sprintf("invocation %d (%s, %s)", i.N, i.Transport, i.Label), Text: b.String()}}
}

func excerpt(b []byte, n int) string {
	s := strings.ToValidUTF8(string(clip(b, n)), "�")
	if len(b) > n {
		s += fmt.Sprintf(" … %d bytes more", len(b)-n)
	}
	return s
}

// invocationsSince lists the invocations that arrived after the given one.
func (x *Lab) invocationsSince(inv *Invocation) []*Invocation {
	var out []*Invocation
	for _, other := range x.invocations() {
		if other.N > inv.N {
			out = append(out, other)
		}
	}
	return out
}

// ended is when the scenario ended the invocation; the zero time if it did not.
func (i *Invocation) ended() time.Time {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.finished
}
