package session

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// Media says how the bytes of a blob are to be understood.
type Media struct {
	ContentType     string
	ContentEncoding string // as declared by the writer; the bytes are stored as they are
}

// ErrTooLarge is the error of a body above the limit of PutBlobFrom.
var ErrTooLarge = errors.New("body is too large")

// PutBlob stores a body under its digest (P5.3-4) and gives its descriptor: digest, size, media, creation time, and the
// body itself where it is short (S3.1-1), which is stored nevertheless (S3.1-3, S7.1-3). Storing the same body again is
// harmless (S3-10): all who refer to it share it (P8.4-4, P12-3).
func (r *Repo) PutBlob(ctx context.Context, body []byte, media Media) (Descriptor, error) {
	d := Describe(body)
	if err := r.putBlob(ctx, d.Digest, bytes.NewReader(body), media); err != nil {
		return Descriptor{}, err
	}
	return r.withMedia(d, media), nil
}

// spoolMemory is the size up to which PutBlobFrom keeps a body in memory.
const spoolMemory = 1 << 20

// PutBlobFrom is PutBlob for a body of unknown length, of which little is held in memory: it is hashed while it streams
// into a temporary file (S3.2-2), since its key is known only at its end. limit bounds the length in bytes where it is
// above 0. ErrTooLarge.
func (r *Repo) PutBlobFrom(ctx context.Context, body io.Reader, limit int64, media Media) (Descriptor, error) {
	if limit > 0 {
		body = io.LimitReader(body, limit+1)
	}
	var head bytes.Buffer
	n, err := io.CopyN(&head, body, spoolMemory+1)
	if err != nil && err != io.EOF {
		return Descriptor{}, fmt.Errorf("read body: %w", err)
	}
	if limit > 0 && n > limit {
		return Descriptor{}, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	if err == io.EOF {
		return r.PutBlob(ctx, head.Bytes(), media)
	}

	file, err := os.CreateTemp(r.options.SpoolDir, "pugmark-blob-*")
	if err != nil {
		return Descriptor{}, fmt.Errorf("spool body: %w", err)
	}
	defer file.Close()
	defer os.Remove(file.Name())
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(file, hash), io.MultiReader(&head, body))
	if err != nil {
		return Descriptor{}, fmt.Errorf("spool body: %w", err)
	}
	if limit > 0 && size > limit {
		return Descriptor{}, fmt.Errorf("%w: more than %d bytes", ErrTooLarge, limit)
	}
	d := Descriptor{Digest: layout.Digest(hash.Sum(nil)), Size: size}
	if err := r.putBlob(ctx, d.Digest, file, media); err != nil {
		return Descriptor{}, err
	}
	return r.withMedia(d, media), nil
}

// putBlob writes a blob, its bytes as they are (S3-4). S3-5, S3-6, S16-1: cacheable for a year. S3-7: with its checksum.
// S3-9: without a condition. S15-1: with the encoding that its writer declared.
func (r *Repo) putBlob(ctx context.Context, digest layout.Digest, body io.ReadSeeker, media Media) error {
	contentType := media.ContentType
	if contentType == "" {
		contentType = "application/octet-stream" // S2.3-2
	}
	sum := [sha256.Size]byte(digest)
	_, err := r.store.Put(ctx, digest.Key(), body, store.PutOptions{
		Attributes: store.Attributes{
			ContentType:     contentType,
			ContentEncoding: media.ContentEncoding,
			CacheControl:    immutableCache,
		},
		SHA256: &sum,
	})
	if err != nil {
		return fmt.Errorf("store blob: %w", err)
	}
	return nil
}

func (r *Repo) withMedia(d Descriptor, media Media) Descriptor {
	d.ContentType = media.ContentType
	d.ContentEncoding = media.ContentEncoding
	d.CreatedAt = r.now()
	return d
}

// OpenBlob gives a blob's stored bytes and attributes; the caller closes it. store.ErrNotFound.
func (r *Repo) OpenBlob(ctx context.Context, digest layout.Digest) (io.ReadCloser, store.Attributes, error) {
	return r.store.Open(ctx, digest.Key())
}

// ReadBody gives the stored bytes of the body that d describes, without a request where d carries them (S7.1-4).
func (r *Repo) ReadBody(ctx context.Context, d Descriptor) ([]byte, error) {
	if body, ok := d.Inline(); ok {
		return body, nil
	}
	body, _, err := store.Get(ctx, r.store, d.Digest.Key())
	if err != nil {
		return nil, fmt.Errorf("read blob: %w", err)
	}
	return body, nil
}
