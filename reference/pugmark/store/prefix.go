package store

import (
	"context"
	"io"
	"strings"
)

// WithPrefix gives the part of s below prefix, which is "" or ends in a slash. S1-1: all keys of the layout are
// relative to that root.
func WithPrefix(s Store, prefix string) Store {
	if prefix == "" {
		return s
	}
	return &prefixed{store: s, prefix: prefix}
}

type prefixed struct {
	store  Store
	prefix string
}

func (p *prefixed) Open(ctx context.Context, key string) (io.ReadCloser, Attributes, error) {
	return p.store.Open(ctx, p.prefix+key)
}

func (p *prefixed) Head(ctx context.Context, key string) (Attributes, error) {
	return p.store.Head(ctx, p.prefix+key)
}

func (p *prefixed) Put(ctx context.Context, key string, body io.ReadSeeker, options PutOptions) (string, error) {
	return p.store.Put(ctx, p.prefix+key, body, options)
}

func (p *prefixed) Delete(ctx context.Context, key string, options DeleteOptions) error {
	return p.store.Delete(ctx, p.prefix+key, options)
}

func (p *prefixed) List(ctx context.Context, prefix string, options ListOptions) (Page, error) {
	if options.After != "" {
		options.After = p.prefix + options.After
	}
	page, err := p.store.List(ctx, p.prefix+prefix, options)
	if err != nil {
		return Page{}, err
	}
	for i, key := range page.Keys {
		page.Keys[i] = strings.TrimPrefix(key, p.prefix)
	}
	for i, group := range page.Prefixes {
		page.Prefixes[i] = strings.TrimPrefix(group, p.prefix)
	}
	return page, nil
}

// ReadOnly implements ReadOnly: the part is as writable as the whole.
func (p *prefixed) ReadOnly() error { return CheckWritable(p.store) }
