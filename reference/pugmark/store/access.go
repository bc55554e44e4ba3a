package store

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"iter"
)

// Get reads the whole object at key.
func Get(ctx context.Context, s Store, key string) ([]byte, Attributes, error) {
	r, attrs, err := s.Open(ctx, key)
	if err != nil {
		return nil, Attributes{}, err
	}
	defer r.Close()
	body := bytes.NewBuffer(make([]byte, 0, max(attrs.Size, 0)+bytes.MinRead))
	if _, err := body.ReadFrom(r); err != nil {
		return nil, Attributes{}, fmt.Errorf("read %s: %w", key, err)
	}
	return body.Bytes(), attrs, nil
}

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
