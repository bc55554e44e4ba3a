package engine

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"
	"sync"

	"golang.org/x/sync/errgroup"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
)

// parallelWrites is how many writes of one invocation are in flight at once.
const parallelWrites = 32

// outputs collects what a handler produces. Bodies are stored at once, while
// later records still arrive; nothing else is written before the handler has
// succeeded.
//
// Records may come in any order (P5.2-1). Descriptors are placed in that of the
// stream, which numbers them later (P5.2-2, P5.2-3), and filled in when their bodies
// are stored, so they may only be looked at after uploads has ended.
type outputs struct {
	*runner
	uploads *errgroup.Group
	ctx     context.Context // of the uploads: cancelled when one of them fails
	cancel  context.CancelFunc
	stored  map[storedBody]bool

	entries []*session.Descriptor            // for the session's own snapshot
	memory  map[string][]*session.Descriptor // by namespace
	pause   *pause                           // the last one (P10-19)
	forks   int                              // how many of the entries are fork records

	looks   sync.WaitGroup // of what the other sessions written to hold already
	looking context.Context
	targets map[layout.SessionID]*session.Deliveries
}

// storedBody is a body that this invocation has stored or is about to.
type storedBody struct {
	digest layout.Digest
	media  session.Media
}

// newOutputs begins to collect; abandon or uploads.Wait ends it, and cancel frees
// what it holds.
func (r *runner) newOutputs(ctx context.Context) *outputs {
	ctx, cancel := context.WithCancel(ctx)
	group, uploading := errgroup.WithContext(ctx)
	group.SetLimit(parallelWrites)
	o := &outputs{runner: r, uploads: group, ctx: uploading, looking: ctx, stored: map[storedBody]bool{},
		memory: map[string][]*session.Descriptor{}, targets: map[layout.SessionID]*session.Deliveries{}}
	o.cancel = func() {
		cancel()
		o.looks.Wait()
	}
	return o
}

// abandon gives up what was collected, and gives the error of an upload if it
// was one that failed first.
func (o *outputs) abandon() error {
	o.cancel()
	if err := o.uploads.Wait(); !errors.Is(err, context.Canceled) {
		return err
	}
	return nil
}

// read takes all records of an output stream. R-29: the first one that breaks
// a rule ends it with a *stream.Fault.
func (o *outputs) read(_ context.Context, r io.Reader) error {
	records := stream.NewDecoder(r)
	for {
		record, err := records.Next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if record.Empty() {
			continue // P3-18
		}
		if err := o.route(record); err != nil {
			return record.Fault(err)
		}
		if o.ctx.Err() != nil {
			return context.Cause(o.ctx)
		}
	}
}

// pauseType is the content type of the pause signal. P17-11: exactly this one.
const pauseType = "application/vnd.pugmark.pause+text"

const memoryNames = "memories/"

// route decides what a record is, by the first rule that applies (P5.3-6 to P5.3-12).
func (o *outputs) route(record stream.Output) error {
	if record.ContentType == session.ControlType {
		return errors.New("a handler may not emit control messages") // P9-11
	}
	target, err := sessionID(record.Session) // of whatever record
	if err != nil {
		return fmt.Errorf("field \"session\": %w", err)
	}
	if record.ContentType == pauseType { // P5.3-6, P5.3-7
		return o.setPause(record)
	}
	// P5.3-8, P8.4-2; P5.3-9: a name without a namespace is an ordinary one.
	if path, ok := strings.CutPrefix(record.Name, memoryNames); ok && strings.Contains(path, "/") {
		namespace, name, err := layout.SplitMemoryName(path)
		if err != nil {
			return fmt.Errorf("field \"name\": %w", err)
		}
		d, err := o.store(record)
		if err != nil {
			return err
		}
		d.Name = name
		o.memory[namespace] = append(o.memory[namespace], d) // P8.4-3: not in the log
		return nil
	}
	switch {
	case record.Fork: // P5.1-8, P5.3-10, P11-1
		if target == o.id {
			return errors.New("a session cannot be forked into itself")
		}
		// P11-3, S11.1-2: the child's ID is the handler's or drawn, but settled here.
		if target.IsZero() { // P11-4
			if target, err = o.Repo.NewSessionID(); err != nil {
				return err
			}
		}
		o.forks++
	case target == o.id: // P12-11, P12-12, S12.3-5: a local write, and the field is dropped
		target = layout.SessionID{}
	}
	// P5.3-11: with a target it is a record for another session, which may be
	// followed by whatever else (P12-1, P12-10). P5.3-12: without, a plain entry.
	d, err := o.store(record)
	if err != nil {
		return err
	}
	d.Fork, d.TargetSession = record.Fork, target // P11.1-1, S12.1-1
	if d.IsCrossSession() {
		o.lookAt(target)
	}
	o.entries = append(o.entries, d)
	return nil
}

// lookAt looks through a session that is written to for earlier deliveries, while
// the handler still runs, so that little is left to search behind the commit
// (S12.2-4). R-30: a missing target is no reason not to commit.
func (o *outputs) lookAt(target layout.SessionID) {
	if o.targets[target] != nil {
		return
	}
	found := &session.Deliveries{}
	o.targets[target] = found
	o.looks.Go(func() {
		if seen, err := o.Repo.Deliveries(o.looking, target, o.id); err == nil {
			*found = seen
		}
	})
}

// seen is what lookAt has found in the target.
func (o *outputs) seen(target layout.SessionID) session.Deliveries {
	o.looks.Wait()
	return *o.targets[target]
}

// sessionID reads the session field of an Output (P5.1-9). Zero, like a missing
// field, is no session at all. F-16: an ID that no path can be made of is refused
// here, where nothing is committed yet.
func sessionID(text string) (layout.SessionID, error) {
	if text == "" {
		return layout.SessionID{}, nil
	}
	id, err := layout.ParseSessionID(text)
	if err != nil {
		return layout.SessionID{}, err
	}
	if _, err := id.Path(); err != nil {
		return layout.SessionID{}, fmt.Errorf("%s: %w", id, err)
	}
	return id, nil
}

// store begins to store the record's body and returns its descriptor, whose
// digest, size and data may come later. P5.3-1 to P5.3-3: data wins over uri.
// P5.1-2, S3.2-1: a uri alone will do. R-03: without either the body is empty.
func (o *outputs) store(record stream.Output) (*session.Descriptor, error) {
	d := &session.Descriptor{}
	media := storable(record)
	// The descriptor holds what the handler said, to the letter (P5.1-3 to P5.1-7).
	describe := func(stored session.Descriptor) {
		d.Digest, d.Size, d.Data, d.CreatedAt = stored.Digest, stored.Size, stored.Data, stored.CreatedAt
	}
	d.ContentType, d.ContentEncoding = record.ContentType, record.ContentEncoding
	d.SchemaURL, d.Name, d.Metadata = record.SchemaURL, record.Name, record.Metadata

	if len(record.Data) == 0 && record.URI != "" {
		if err := checkURI(record.URI); err != nil {
			return nil, fmt.Errorf("field \"uri\": %w", err)
		}
		o.uploads.Go(func() error {
			body, err := o.Fetch(o.ctx, record.URI)
			if err != nil {
				return record.Fault(fmt.Errorf("fetch %s: %w", record.URI, err))
			}
			defer body.Close()
			stored, err := o.Repo.PutBlobFrom(o.ctx, body, o.MaxFetch, media) // S3.2-2 to S3.2-4
			if err != nil {
				return record.Fault(fmt.Errorf("fetch %s: %w", record.URI, err))
			}
			describe(stored)
			return nil
		})
		return d, nil
	}

	known := session.Describe(record.Data)
	describe(known)
	// S1-7, P5.3-5: equal bodies have one key; once per invocation is enough.
	if as := (storedBody{known.Digest, media}); !o.stored[as] {
		o.stored[as] = true
		o.uploads.Go(func() error {
			if _, err := o.Repo.PutBlob(o.ctx, record.Data, media); err != nil {
				return record.Fault(err)
			}
			return nil
		})
	}
	return d, nil
}

// storable is the record's media as an object store can carry it. S2.3-2: a type
// that is none becomes the default. R-12: an encoding is stored as declared.
func storable(record stream.Output) session.Media {
	media := session.Media{ContentType: record.ContentType, ContentEncoding: record.ContentEncoding}
	if _, _, err := mime.ParseMediaType(media.ContentType); err != nil || !printable(media.ContentType) ||
		!strings.Contains(media.ContentType, "/") {
		media.ContentType = ""
	}
	if media.ContentEncoding == "identity" || !printable(media.ContentEncoding) {
		media.ContentEncoding = "" // S2.3-4
	}
	return media
}

func printable(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) < 0
}
