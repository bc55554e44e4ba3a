package engine

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/serve"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
)

// inputs writes the input stream of an invocation: where memory is, one record for
// each entry of the log, as it was committed (P1-14), and the lifecycle record (P1-6,
// P4.2-5). Later snapshots are still being fetched while earlier records are on
// their way.
func (r *runner) inputs(ctx context.Context, st *state, event string, servers Servers, w io.Writer) error {
	enc := stream.NewEncoder(w)
	// P4.2-1 to P4.2-4, P8.1-1: where memory is, first of all.
	if err := enc.Encode(stream.Input{Event: stream.EventMemory, URL: servers.MemoryRoot()}); err != nil {
		return err
	}
	// P4.2-6: ancestors first, the oldest before all, each with the whole snapshot
	// that a child was forked from (P11.2-3). P4.2-7: then the session's
	// own snapshots by version. P4.2-8: each in its own order.
	log := append(slices.Clone(st.parents), session.Segment{Manifest: st.manifest, Last: st.version})
	for e, err := range r.Repo.LogOf(ctx, log) {
		if err != nil {
			return err
		}
		// P4.2-9: no control messages. P4.2-10, P4.2-17, P11.1-15, S11.2-14, R-23,
		// no fork records, whichever snapshot holds them.
		if !session.VisibleToHandler(r.id, e) {
			continue
		}
		in := input(e.Descriptor, servers)
		// P4.3-4, P4.3-6: what comes from ancestors is never new.
		if e.Session == r.id && st.pushed(position{e.Version, e.Index}) {
			in.Event = stream.EventPush
		}
		if err := enc.Encode(in); err != nil {
			return err
		}
	}
	// P4.2-11 to P4.2-13, P6-1, P6-2: one lifecycle record, with nothing but its
	// event, last. P4.1-1: no other record has one of its events.
	return enc.Encode(stream.Input{Event: event})
}

// input is the record of a log entry. R-02, P4.1-3 to P4.1-8: the fields are the
// descriptor's, to the letter.
func input(d session.Descriptor, servers Servers) stream.Input {
	in := stream.Input{
		Size:            d.Size,
		ContentType:     d.ContentType,
		ContentEncoding: d.ContentEncoding,
		SchemaURL:       d.SchemaURL,
		Name:            d.Name,
		Metadata:        d.Metadata,
	}
	// S10-6: a tombstone is replayed too, with its name and without a body (F-8).
	if d.Deleted || d.Digest.IsZero() {
		return in
	}
	// P4.1-2, P4.1-10, P17-7: always a url. P4.1-9, P7.1-2, P7.1-3, P7.1-5: beside it
	// the same bytes as data, only for small bodies. S3.2-5: no other body is in the
	// stream.
	in.URL = servers.ObjectURL(d.Digest)
	if len(d.Data) <= stream.InlineLimit {
		in.Data = d.Data
	}
	return in
}

// objects serves every blob of the bucket by its digest.
func (r *runner) objects() http.Handler {
	return serve.Objects(func(ctx context.Context, digest layout.Digest) (serve.Blob, error) {
		return r.openBlob(ctx, digest)
	})
}

// memory serves all namespaces (P7-4), as they are at the time of the request.
// Nothing is listed before a handler asks.
func (r *runner) memory() http.Handler {
	return serve.Memory(func(ctx context.Context, key string) (serve.Blob, error) {
		record, err := r.Repo.LookupMemory(ctx, key)
		if errors.Is(err, session.ErrNameNotFound) {
			return serve.Blob{}, fmt.Errorf("%w: %w", serve.ErrNotFound, err)
		}
		if err != nil {
			return serve.Blob{}, err
		}
		blob := serve.Blob{}
		if body, ok := record.Inline(); ok {
			blob.Body, blob.Size = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		} else if blob, err = r.openBlob(ctx, record.Digest); err != nil {
			return serve.Blob{}, err
		}
		// The record knows better than the blob, which other names may share.
		if record.ContentType != "" {
			blob.ContentType = record.ContentType // P7-12
		}
		if record.ContentEncoding != "" {
			blob.ContentEncoding = record.ContentEncoding // P7-13
		}
		return blob, nil
	})
}

func (r *runner) openBlob(ctx context.Context, digest layout.Digest) (serve.Blob, error) {
	body, attrs, err := r.Repo.OpenBlob(ctx, digest)
	if err != nil {
		return serve.Blob{}, err
	}
	return serve.Blob{Body: body, Size: attrs.Size, ContentType: attrs.ContentType, ContentEncoding: attrs.ContentEncoding}, nil
}
