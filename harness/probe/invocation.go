package probe

import (
	"context"
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

// ErrGone is returned by acts whose remote process or HTTP exchange is over.
var ErrGone = errors.New("the invocation is over")

// Transport tells how a handler was reached.
type Transport int

const (
	Subprocess Transport = iota // a process, by standard input and output
	HTTP                        // a request and its response
)

func (t Transport) String() string {
	if t == HTTP {
		return "HTTP"
	}
	return "subprocess"
}

// An Invocation is one handler process, or one HTTP exchange, under remote
// control. All methods may be called from several goroutines; writes to one
// stream are done one after the other. Exported fields do not change once the
// invocation has been handed out.
type Invocation struct {
	N         int // 1 for the first of its Hub, in order of arrival
	Transport Transport
	Label     string    // as given to Argv or URL
	Arrived   time.Time // when the hub had the first word (HTTP: the head) of it

	// Of the process; empty over HTTP.
	Args []string // what followed the token
	Env  []string // the whole environment, in its order
	Dir  string   // working directory
	Pid  int

	// Request is nil for a subprocess.
	Request *HTTPRequest

	in   input
	acts actor
	done chan struct{}

	outMu, errMu sync.Mutex // one write at a time on each stream

	mu        sync.Mutex
	signals   []string
	signalled chan struct{} // made by a waiter, closed by the next signal
	history   []Act
	finished  bool
	endedAt   time.Time
}

// actor does the acts of an invocation at the remote side.
type actor interface {
	write(p []byte) error
	writeStderr(p []byte) error
	closeOutput() error
	closeInput() error
	fetch(ctx context.Context, r FetchRequest) (FetchResult, error)
	exit(code int) error
	die(sig syscall.Signal) error
}

// Getenv returns a variable of the process's environment; the first one counts
// where a name occurs twice.
func (i *Invocation) Getenv(k string) (string, bool) {
	for _, kv := range i.Env {
		if v, ok := strings.CutPrefix(kv, k+"="); ok {
			return v, true
		}
	}
	return "", false
}

// Input returns the input (standard input, or the body of the request) that has
// come so far. Not to be modified.
func (i *Invocation) Input() []byte { return i.in.bytes() }

// Chunks returns the input that has come so far as it came.
func (i *Invocation) Chunks() []Chunk { return i.in.chunks() }

// InputLost is the number of bytes that came beyond InputLimit and were not kept.
func (i *Invocation) InputLost() int64 {
	i.in.mu.Lock()
	defer i.in.mu.Unlock()
	return i.in.lost
}

// Reader reads the input from its beginning and blocks for more until it ends:
// with io.EOF where it ended regularly, otherwise with ErrInputClosed, ErrGone,
// ErrInputLimit or what broke it.
func (i *Invocation) Reader() io.Reader { return &inputReader{in: &i.in} }

// WaitEOF returns nil once the input has ended regularly. Where that can no
// longer happen the error says why.
func (i *Invocation) WaitEOF(ctx context.Context) error { return i.in.waitEnd(ctx) }

// InputEnded tells whether, and when, the input has ended regularly.
func (i *Invocation) InputEnded() (time.Time, bool) {
	at, ok := i.in.ended()
	if !ok {
		return time.Time{}, false
	}
	return at, true
}

// Signals returns the names ("TERM", "INT", …) of the signals the process has
// caught so far, none of which had an effect. Always empty over HTTP.
func (i *Invocation) Signals() []string {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.signals)
}

// WaitSignal waits until the process has caught at least n signals and returns
// all of them.
func (i *Invocation) WaitSignal(ctx context.Context, n int) ([]string, error) {
	for {
		i.mu.Lock()
		if len(i.signals) >= n {
			defer i.mu.Unlock()
			return slices.Clone(i.signals), nil
		}
		if i.signalled == nil {
			i.signalled = make(chan struct{})
		}
		more := i.signalled
		i.mu.Unlock()
		select {
		case <-more:
		case <-i.done:
			if s := i.Signals(); len(s) >= n {
				return s, nil
			}
			return i.Signals(), ErrGone
		case <-ctx.Done():
			return i.Signals(), ctx.Err()
		}
	}
}

func (i *Invocation) caught(name string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.signals = append(i.signals, name)
	i.history = append(i.history, Act{At: time.Now(), Kind: ActSignal, Name: name})
	if i.signalled != nil {
		close(i.signalled)
		i.signalled = nil
	}
}

// Write writes p to standard output, or as part of the response body, and
// returns when the remote side has passed all of it on. It blocks where nobody
// reads the output. p is kept for Acts, so it must not be changed afterwards.
func (i *Invocation) Write(p []byte) error {
	i.outMu.Lock()
	defer i.outMu.Unlock()
	return i.end(i.begin(Act{Kind: ActWrite, Bytes: p}), i.acts.write(p))
}

// WriteStderr writes p to standard error; over HTTP it does nothing. As with Write, p
// must not be changed afterwards.
func (i *Invocation) WriteStderr(p []byte) error {
	i.errMu.Lock()
	defer i.errMu.Unlock()
	return i.end(i.begin(Act{Kind: ActWriteStderr, Bytes: p}), i.acts.writeStderr(p))
}

// CloseOutput closes standard output and lets the process live on. Over HTTP it
// ends the response body regularly, which ends the exchange.
func (i *Invocation) CloseOutput() error {
	i.outMu.Lock()
	defer i.outMu.Unlock()
	return i.end(i.begin(Act{Kind: ActCloseOutput}), i.acts.closeOutput())
}

// CloseInput closes standard input so that whoever writes to it gets an error.
// Over HTTP the rest of the request body is left unread.
func (i *Invocation) CloseInput() error {
	err := i.end(i.begin(Act{Kind: ActCloseInput}), i.acts.closeInput())
	i.in.end(time.Now(), ErrInputClosed)
	return err
}

// Fetch has the remote process make an HTTP request (over HTTP the hub makes it).
// What went wrong with the request is told by FetchResult.Err; the error is for
// a remote side that is gone and for the end of ctx.
func (i *Invocation) Fetch(ctx context.Context, r FetchRequest) (FetchResult, error) {
	at := i.begin(Act{Kind: ActFetch, Fetch: &r})
	res, err := i.acts.fetch(ctx, r)
	i.fetched(at, res, err)
	return res, err
}

// SetStatus sets the status and header of the response for when its first byte
// is written. A Content-Length in header is sent as it is, and the body then
// unframed. For a subprocess, and after the first Write, it does nothing.
func (i *Invocation) SetStatus(code int, header http.Header) {
	if x, ok := i.acts.(*exchange); ok {
		i.begin(Act{Kind: ActStatus, Code: code})
		x.setStatus(code, header)
	}
}

// Exit ends the process with the exit status code. Over HTTP, 0 ends the
// response regularly (with status 200 unless SetStatus was called). Another code
// breaks a begun response off; if none was begun the status is 500, or what
// SetStatus said if that is not a 2xx.
func (i *Invocation) Exit(code int) error {
	return i.end(i.begin(Act{Kind: ActExit, Code: code}), i.acts.exit(code))
}

// Die makes the process kill itself by sig, whose default action has to end a
// process. Over HTTP the connection is reset.
func (i *Invocation) Die(sig syscall.Signal) error {
	return i.end(i.begin(Act{Kind: ActDie, Code: int(sig)}), i.acts.die(sig))
}

// Done is closed when the process or the HTTP exchange is over.
func (i *Invocation) Done() <-chan struct{} { return i.done }

// Gone tells whether Done is closed.
func (i *Invocation) Gone() bool {
	select {
	case <-i.done:
		return true
	default:
		return false
	}
}

func (i *Invocation) finish() {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !i.finished {
		i.finished, i.endedAt = true, time.Now()
		close(i.done)
	}
}

// quietGrace is how long ExitQuietly waits for input that neither comes nor ends.
// It only matters with a peer that never ends its input.
const quietGrace = 2 * time.Second

// ExitQuietly is the act of a handler that has nothing to say: it reads its
// input to the end, writes nothing and ends with status 0 (HTTP: 200). It does
// not wait for the end of an input that has been silent for two seconds.
func ExitQuietly(i *Invocation) { exitQuietly(i, quietGrace) }

func exitQuietly(i *Invocation, grace time.Duration) {
	for seen := -1; seen != len(i.Input()); {
		seen = len(i.Input())
		ctx, cancel := context.WithTimeout(context.Background(), grace)
		err := i.WaitEOF(ctx)
		cancel()
		if !errors.Is(err, context.DeadlineExceeded) {
			break
		}
	}
	_ = i.Exit(0) // fails only where the invocation has ended by itself
}
