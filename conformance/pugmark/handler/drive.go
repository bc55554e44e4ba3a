package handler

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// A Plan is one invocation, laid out to the byte.
type Plan struct {
	What     string            // how it differs from the control run, for people
	Chunks   []Chunk           // the input stream, one write each
	KeepOpen bool              // the input is not closed after the last chunk; a request's body has its length either way
	Args     []string          // a process's, behind those of its command
	Env      map[string]string // a process's, added to the ambient environment and winning over it
	Query    string            // an HTTP request's, without the question mark
	Header   http.Header       // an HTTP request's, added
	Timeout  time.Duration     // for the handler; pauses between chunks come on top
}

// A Chunk is one write to the handler's input.
type Chunk struct {
	Bytes []byte
	After time.Duration // silence before it
}

// Driver invokes a handler over one transport. Drive returns when the handler is done
// with the invocation or has been stopped, and leaves no process behind that the
// invocation started. The error is trouble of the bench, or a program that
// cannot be started, and never the handler's conduct.
type Driver interface {
	Drive(ctx context.Context, p Plan) (*Exchange, error)
}

// OutputLimit is how much of an output stream is read, in bytes. A handler that
// writes more is stopped.
const OutputLimit = 16 << 20

// recordLimit is how many records of an output are decoded, about.
const recordLimit = 200_000

// Exchange is what happened in one invocation.
type Exchange struct {
	Over   Transport
	What   string // Plan.What
	Log    string // name of the log that was played
	Input  []byte // what was to be sent
	Sent   []time.Duration
	Output []byte // at most OutputLimit bytes

	First, Last time.Duration // arrival of the first and of the last output byte
	Took        time.Duration // until the end of the invocation, or until it was stopped
	Timeout     time.Duration

	Outcome             // how it ended
	Strays     []string // processes left running, as "PID COMMAND LINE"
	HeldOutput bool     // one of them kept standard output open after the handler's end
	Stderr     string   // of the process, shortened
	Fetches    []Fetch
	Outputs    []wire.Output // decoded from Output
	Faults     []wire.Fault
	Partly     bool // Output was too long or too crowded to be decoded to its end

	began      time.Time
	plan       Plan     // that was carried out
	pieces     []piece  // of Output, as it came
	addresses  []string // host:port of both servers
	memoryRoot string   // as it was announced

	log       Log // what was played, so that it can be played again
	variation Variation
	again     []*Exchange // the same once more; guarded by the bench's lock
}

// Outcome is how an invocation ended.
type Outcome struct {
	Ended   bool   // by itself: the process exited, or the response came to an end
	Flooded bool   // it wrote more than OutputLimit and was stopped
	Exit    string // of a process: "exit status 0", "killed by signal 11"
	Success bool   // status 0, or a complete response of status 200
	Status  int    // of a response; 0 = none came
	Header  http.Header
	Broken  string // what was wrong with the response, "" if nothing
}

// Transport is the way between runtime and handler (P2-1).
type Transport string

// The two transports.
const (
	Subprocess Transport = "subprocess"
	HTTP       Transport = "http"
)

// decode reads the output stream once it is complete. Of a stream that does not end,
// or that is a crowd of tiny records, it reads the beginning.
func (e *Exchange) decode() {
	readable := e.Output
	if e.Flooded {
		readable = readable[:min(len(readable), 64<<10)]
	}
	seen := 0
	for i, c := range readable {
		if c != '{' {
			continue
		}
		if seen++; seen > recordLimit {
			readable = readable[:i]
			break
		}
	}
	e.Partly = len(readable) < len(e.Output)
	e.Outputs, e.Faults = wire.DecodeOutputs(readable)
	if e.Partly || !e.Ended {
		e.Faults = slices.DeleteFunc(e.Faults, func(f wire.Fault) bool { return f.Kind == wire.Truncated })
	}
}

// Well tells whether the invocation ended by itself and succeeded.
func (e *Exchange) Well() bool { return e.Ended && e.Success }

// Records are the Outputs that have an effect (P3-18).
func (e *Exchange) Records() []wire.Output {
	var out []wire.Output
	for _, o := range e.Outputs {
		if !o.Empty() {
			out = append(out, o)
		}
	}
	return out
}

// wholeStream is the input in one string of chunks.
func wholeStream(chunks []Chunk) []byte {
	var all []byte
	for _, c := range chunks {
		all = append(all, c.Bytes...)
	}
	return all
}

func pauses(chunks []Chunk) time.Duration {
	var d time.Duration
	for _, c := range chunks {
		d += c.After
	}
	return d
}

// How says in words how the invocation ended, with what the handler said about it.
func (e *Exchange) How() string {
	took := e.Took.Round(time.Millisecond)
	switch {
	case e.Flooded:
		return fmt.Sprintf("it wrote more than %d MiB, beginning %q, and was stopped", OutputLimit>>20, clip(e.Output, 40))
	case !e.Ended && e.Over == Subprocess:
		return fmt.Sprintf("it still ran after %s and was stopped%s%s", took, e.wrote(), quoted(strings.TrimSpace(e.Stderr)))
	case !e.Ended:
		return fmt.Sprintf("after %s %s%s", took, e.Broken, e.wrote())
	case e.Over == Subprocess:
		return fmt.Sprintf("%s after %s%s%s", e.Exit, took, e.wrote(), quoted(strings.TrimSpace(e.Stderr)))
	case e.Status == 0:
		return e.Broken
	case e.Broken != "":
		return fmt.Sprintf("status %d, and %s", e.Status, e.Broken)
	case e.Status >= 300 && e.Status < 400 && e.Header.Get("Location") != "":
		return fmt.Sprintf("status %d after %s, a redirect to %q, which is not followed", e.Status, took, clip([]byte(e.Header.Get("Location")), 200))
	case !e.Success:
		return fmt.Sprintf("status %d after %s, with the body %q", e.Status, took, clip(e.Output, 200))
	}
	return fmt.Sprintf("status %d after %s%s", e.Status, took, e.wrote())
}

// wrote counts what came on the output stream.
func (e *Exchange) wrote() string {
	switch n := len(e.Records()); {
	case len(e.Output) == 0:
		return ", without output"
	case n == 0:
		return fmt.Sprintf(", with %d bytes of output that hold no Output: %q", len(e.Output), clip(e.Output, 80))
	case n == 1:
		return ", with 1 Output" + e.unread()
	default:
		return fmt.Sprintf(", with %d Outputs", n) + e.unread()
	}
}

// unread says what keeps the stream from being read to its end; "" if nothing does.
func (e *Exchange) unread() string {
	for _, f := range e.Faults {
		if hinders(f) {
			return " in a stream that cannot be read (" + f.Error() + ")"
		}
	}
	return ""
}

func clip(b []byte, n int) []byte {
	if len(b) > n {
		return append(b[:n:n], "…"...)
	}
	return b
}
