package probe

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// ActKind says what an act was.
type ActKind string

// The acts.
const (
	ActWrite       ActKind = "write"        // Bytes to standard output, or the response body
	ActWriteStderr ActKind = "stderr"       // Bytes to standard error
	ActCloseOutput ActKind = "close output" //
	ActCloseInput  ActKind = "close input"  //
	ActFetch       ActKind = "fetch"        // Fetch was answered by Result
	ActStatus      ActKind = "status"       // Code is the status of the response to come
	ActExit        ActKind = "exit"         // with the status Code
	ActDie         ActKind = "die"          // by the signal Code; over HTTP the connection is reset
	ActSignal      ActKind = "signal"       // the process caught the signal Name
)

// An Act is something that the remote side of an invocation was told to do, or that
// was done to it.
type Act struct {
	At   time.Time
	Kind ActKind

	Bytes  []byte // not to be modified
	Code   int
	Name   string
	Fetch  *FetchRequest
	Result *FetchResult // nil where the fetch came to no end
	Err    error        // what went wrong with the act itself
}

// String is the act in a few words, without its bytes.
func (a Act) String() string {
	text := string(a.Kind)
	switch a.Kind {
	case ActWrite, ActWriteStderr:
		text = fmt.Sprintf("%s: %d bytes", a.Kind, len(a.Bytes))
	case ActExit, ActStatus:
		text = fmt.Sprintf("%s %d", a.Kind, a.Code)
	case ActDie:
		text = "die"
		if a.Code != 0 {
			text = fmt.Sprintf("die by signal %d", a.Code)
		}
	case ActSignal:
		text = "caught signal " + a.Name
	case ActFetch:
		method := a.Fetch.Method
		if method == "" {
			method = http.MethodGet
		}
		text = fmt.Sprintf("fetch: %s %s", method, a.Fetch.URL)
		switch {
		case a.Result == nil:
			text += " came to no end"
		case a.Result.Err != "":
			text += ": " + a.Result.Err
		default:
			text += fmt.Sprintf(" → %d, %d bytes", a.Result.Status, len(a.Result.Body))
		}
	}
	if a.Err != nil {
		text += fmt.Sprintf(" (%v)", a.Err)
	}
	return text
}

// Acts are the acts so far in the order in which they were begun. An act that is
// under way has no result yet.
func (i *Invocation) Acts() []Act {
	i.mu.Lock()
	defer i.mu.Unlock()
	return slices.Clone(i.history)
}

// Ended is when the process or the HTTP exchange was over; ok is false as long as it
// is not.
func (i *Invocation) Ended() (at time.Time, ok bool) {
	i.mu.Lock()
	defer i.mu.Unlock()
	return i.endedAt, i.finished
}

// begin notes an act and returns where, for end.
func (i *Invocation) begin(a Act) int {
	a.At = time.Now()
	i.mu.Lock()
	defer i.mu.Unlock()
	i.history = append(i.history, a)
	return len(i.history) - 1
}

// end notes how an act went, and returns err.
func (i *Invocation) end(at int, err error) error {
	if err != nil {
		i.mu.Lock()
		defer i.mu.Unlock()
		i.history[at].Err = err
	}
	return err
}

func (i *Invocation) fetched(at int, res FetchResult, err error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.history[at].Err = err
	if err == nil {
		i.history[at].Result = &res
	}
}
