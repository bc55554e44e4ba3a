package store_test

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
)

// breaking is a store whose first answers break off in the middle of the body.
type breaking struct {
	store.Store
	left  int
	opens int
}

var errBroken = errors.New("connection reset")

func (b *breaking) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	b.opens++
	r, attrs, err := b.Store.Open(ctx, key)
	if err != nil || b.left == 0 {
		return r, attrs, err
	}
	b.left--
	return io.NopCloser(io.MultiReader(io.LimitReader(r, 3), iotest.ErrReader(errBroken))), attrs, nil
}

func TestGetStartsOver(t *testing.T) {
	ctx := context.Background()
	for left, ok := range map[int]bool{0: true, 1: true, 2: true, 3: false} {
		s := &breaking{Store: mem.New(), left: left}
		if _, err := store.PutBytes(ctx, s, "refs/x", []byte("whole body"), store.PutOptions{}); err != nil {
			t.Fatal(err)
		}
		body, _, err := store.Get(ctx, s, "refs/x")
		if ok && (err != nil || string(body) != "whole body") || !ok && !errors.Is(err, errBroken) {
			t.Errorf("%d broken answers: %q, %v", left, body, err)
		}
		s.opens = 0
		if _, _, err := store.Get(ctx, s, "refs/absent"); !errors.Is(err, store.ErrNotFound) || s.opens != 1 {
			t.Errorf("absent: %v after %d requests", err, s.opens)
		}
	}
}

// A pager, fed with any keys in order, gives what a listing by hand gives, for every prefix, delimiter and page size.
func TestPager(t *testing.T) {
	keys := []string{"a", "a!", "a/", "a/b", "a/b/c", "a/b0", "a0", "b/x", "b/x/y", "b\xff/z", "c\xff", "c\xff\xff/d", "d"}
	slices.Sort(keys)
	for _, prefix := range []string{"", "a", "a/", "a/b", "b", "c\xff", "e"} {
		for _, delimiter := range []string{"", "/", "b"} {
			var want []string
			for _, k := range keys {
				rest, ok := strings.CutPrefix(k, prefix)
				if !ok {
					continue
				}
				if i := strings.Index(rest, delimiter); delimiter != "" && i >= 0 {
					k = prefix + rest[:i+len(delimiter)]
				}
				if !slices.Contains(want, k) {
					want = append(want, k)
				}
			}
			for size := 1; size <= len(keys)+1; size++ {
				var got []string
				options := store.ListOptions{Delimiter: delimiter, Max: size}
				for range 2 * len(keys) {
					page := list(keys, prefix, options)
					part := append(slices.Clone(page.Keys), page.Prefixes...)
					slices.Sort(part)
					if len(part) > size || len(part) == 0 && page.Next != "" {
						t.Fatalf("prefix %q, delimiter %q, size %d: page %+v", prefix, delimiter, size, page)
					}
					got = append(got, part...)
					if options.Token = page.Next; page.Next == "" {
						break
					}
				}
				if !slices.Equal(got, want) {
					t.Fatalf("prefix %q, delimiter %q, size %d: %q, want %q", prefix, delimiter, size, got, want)
				}
			}
		}
	}
}

// list walks sorted keys as a backend does, jumping where the pager says so.
func list(keys []string, prefix string, options store.ListOptions) store.Page {
	pager := store.NewPager(prefix, options)
	i, _ := slices.BinarySearch(keys, pager.Start())
	for i < len(keys) {
		next, more := pager.Offer(keys[i])
		if !more {
			break
		}
		i++
		if next != "" {
			i, _ = slices.BinarySearch(keys, next)
		}
	}
	return pager.Page()
}
