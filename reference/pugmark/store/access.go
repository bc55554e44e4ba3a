package store

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
)

// readAttempts is how often Get starts over when an answer breaks off in the middle.
const readAttempts = 3

// Get reads the whole object at key. Unlike a reader of Open it can start over when the connection breaks in the
// middle of the body, and does.
func Get(ctx context.Context, s Store, key string) ([]byte, Attributes, error) {
	var failure error
	for range readAttempts {
		r, attrs, err := s.Open(ctx, key)
		if err != nil {
			return nil, Attributes{}, err
		}
		body := bytes.NewBuffer(make([]byte, 0, min(max(attrs.Size, 0), maxPreallocated)+bytes.MinRead))
		_, err = body.ReadFrom(r)
		r.Close()
		if err == nil {
			return body.Bytes(), attrs, nil
		}
		failure = fmt.Errorf("read %s: %w", key, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, Attributes{}, failure
}

// maxPreallocated bounds what Get sets aside on the word of a header alone, in bytes.
const maxPreallocated = 16 << 20

// PutBytes stores body at key.
func PutBytes(ctx context.Context, s Store, key string, body []byte, options PutOptions) (etag string, err error) {
	return s.Put(ctx, key, bytes.NewReader(body), options)
}

// Keys iterates over all keys with the prefix, page after page.
func Keys(ctx context.Context, s Store, prefix string) iter.Seq2[string, error] {
	return func(yield func(string, error) bool) {
		options := ListOptions{}
		for {
			page, err := s.List(ctx, prefix, options)
			if err != nil {
				yield("", err)
				return
			}
			for _, key := range page.Keys {
				if !yield(key, nil) {
					return
				}
			}
			if page.Next == "" {
				return
			}
			options.Token = page.Next
		}
	}
}

// Size gives the length of body and rewinds it to its start.
func Size(body io.ReadSeeker) (int64, error) {
	n, err := body.Seek(0, io.SeekEnd)
	if err != nil {
		return 0, fmt.Errorf("size of body: %w", err)
	}
	if _, err := body.Seek(0, io.SeekStart); err != nil {
		return 0, fmt.Errorf("rewind body: %w", err)
	}
	return n, nil
}
