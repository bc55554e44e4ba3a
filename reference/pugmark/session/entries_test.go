package session_test

import (
	"bytes"
	"crypto/sha256"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// S10-8, S10-9.
func TestLookup(t *testing.T) {
	b := setUp(t)
	root := b.create(session.Manifest{}).Session
	lookup := func(id layout.SessionID, name, want string) {
		t.Helper()
		d, err := b.fresh().Lookup(ctx, id, name)
		if want == "" {
			wantError(t, err, session.ErrNameNotFound)
		} else if err != nil || string(d.Data) != want {
			t.Errorf("%s: %q, %v, want %q", name, d.Data, err, want)
		}
	}
	must(b.repo.Push(ctx, root, session.Provisional, objects("doc=1", "doc=2", "gone=3", "kept=4")...))(t)
	lookup(root, "doc", "2")
	must(b.repo.Delete(ctx, root, "gone"))(t)
	must(b.repo.Push(ctx, root, session.Queueing, objects("other=5")...))(t)
	lookup(root, "gone", "")
	lookup(root, "absent", "")
	fork := objects("forked=6")[0]
	fork.Fork, fork.TargetSession = true, b.newID()
	must(b.repo.Commit(ctx, session.Commit{Session: root, Base: 3, Type: session.Checkpoint, Descriptors: []session.Descriptor{fork}}))(t)

	child := b.create(session.Manifest{Parent: session.Pointer{Session: root, Version: 4}}).Session
	lookup(child, "doc", "2")
	lookup(child, "gone", "")
	lookup(child, "forked", "") // S11.3-2
	must(b.repo.Push(ctx, child, session.Provisional, objects("gone=7")...))(t)
	must(b.repo.Delete(ctx, child, "kept"))(t)
	lookup(child, "gone", "7")
	lookup(child, "kept", "")
	lookup(root, "kept", "4")

	_, err := b.repo.Lookup(ctx, b.newID(), "doc")
	wantError(t, err, session.ErrSessionNotFound)
}

func TestPushRefuses(t *testing.T) {
	b := setUp(t)
	_, err := b.repo.Push(ctx, b.newID(), session.Provisional, entries("x")...)
	wantError(t, err, session.ErrSessionNotFound)
	id := b.create(session.Manifest{}).Session
	if _, err := b.repo.Push(ctx, id, session.Checkpoint, entries("x")...); err == nil {
		t.Error("a checkpoint was pushed")
	}
	if _, err := b.repo.Delete(ctx, id, ""); err == nil {
		t.Error("an empty name was deleted")
	}
	b.wantLog(id)
}

// S3: key, attributes and inlining, on both sides of the limit.
func TestPutBlob(t *testing.T) {
	b := setUp(t)
	for _, size := range []int{0, 1, 1024, 1025, 3 << 20} {
		body := bytes.Repeat([]byte{'x', 0xff, '\n'}, size/3+1)[:size]
		for name, put := range map[string]func() (session.Descriptor, error){
			"whole": func() (session.Descriptor, error) {
				return b.repo.PutBlob(ctx, body, session.Media{ContentEncoding: "gzip"})
			},
			"streamed": func() (session.Descriptor, error) {
				return b.repo.PutBlobFrom(ctx, bytes.NewReader(body), int64(size), session.Media{ContentEncoding: "gzip"})
			},
		} {
			d := must(put())(t)
			if d.Digest != sha256.Sum256(body) || d.Size != int64(size) || d.ContentEncoding != "gzip" || d.CreatedAt.IsZero() {
				t.Errorf("%s, %d bytes: %+v", name, size, d)
			}
			if inline := size > 0 && size <= session.InlineLimit; inline != (d.Data != nil && len(d.Data) == size) && size > 0 {
				t.Errorf("%s, %d bytes: %d inline", name, size, len(d.Data))
			}
			stored, attrs, err := store.Get(ctx, b.store.Store, d.Digest.Key())
			if err != nil || !bytes.Equal(stored, body) || attrs.ContentType != "application/octet-stream" || attrs.ContentEncoding != "gzip" ||
				attrs.CacheControl != "max-age=31536000, immutable" {
				t.Errorf("%s, %d bytes: stored %d bytes, %+v, %v", name, size, len(stored), attrs, err)
			}
			if got := must(b.repo.ReadBody(ctx, d))(t); !bytes.Equal(got, body) {
				t.Errorf("%s, %d bytes: read back %d", name, size, len(got))
			}
			if err := b.store.Store.Delete(ctx, d.Digest.Key(), store.DeleteOptions{}); err != nil {
				t.Fatal(err)
			}
		}
	}
}

func TestPutBlobFromLimit(t *testing.T) {
	b := setUp(t)
	for _, size := range []int{11, 3 << 20} {
		_, err := b.repo.PutBlobFrom(ctx, strings.NewReader(strings.Repeat("x", size)), int64(size-1), session.Media{})
		wantError(t, err, session.ErrTooLarge)
	}
	if got := b.store.since(0); len(got) != 0 {
		t.Errorf("requests: %q", got)
	}
}
