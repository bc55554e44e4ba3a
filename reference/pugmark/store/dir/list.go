package dir

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string, options store.ListOptions) (store.Page, error) {
	pager := store.NewPager(prefix, options)
	w := walk{store: s, ctx: ctx, prefix: prefix, from: pager.Start(), pager: pager}
	// Everything lies below the directory that the prefix names up to its last slash.
	parent := prefix[:strings.LastIndexByte(prefix, '/')+1]
	if parent != "" {
		if _, err := s.path(parent[:len(parent)-1]); err != nil {
			return store.Page{}, nil
		}
	}
	if _, err := w.directory(parent); err != nil {
		return store.Page{}, fmt.Errorf("list %s: %w", prefix, err)
	}
	return pager.Page(), nil
}

// walk offers the keys below a directory to a pager in the order of their bytes.
type walk struct {
	store  *Store
	ctx    context.Context
	prefix string
	from   string // keys before it need not be offered
	pager  *store.Pager
}

// directory walks the keys that start with parent, which is empty or ends in a slash. more is false when the page is full.
func (w *walk) directory(parent string) (more bool, err error) {
	if err := w.ctx.Err(); err != nil {
		return false, err
	}
	names, err := w.names(parent)
	if err != nil {
		return false, err
	}
	for _, name := range names {
		key := parent + name
		nested := strings.HasSuffix(name, "/")
		if key < w.from && !(nested && strings.HasPrefix(w.from, key)) {
			continue
		}
		if !strings.HasPrefix(key, w.prefix) && !(nested && strings.HasPrefix(w.prefix, key)) {
			if key > w.prefix {
				return false, nil
			}
			continue
		}
		if nested {
			more, err = w.directory(key)
		} else {
			var next string
			next, more = w.pager.Offer(key)
			w.from = max(w.from, next)
		}
		if err != nil || !more {
			return false, err
		}
	}
	return true, nil
}

// names gives what is in a directory, directories with a slash at their end, in the order that their keys have.
func (w *walk) names(parent string) ([]string, error) {
	directory := filepath.Join(w.store.root, filepath.FromSlash(parent))
	entries, err := os.ReadDir(directory)
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	names := make([]string, 0, len(entries))
	for _, e := range entries {
		mode := e.Type()
		if mode&fs.ModeSymlink != 0 {
			info, err := os.Stat(filepath.Join(directory, e.Name()))
			if err != nil {
				continue
			}
			mode = info.Mode().Type()
		}
		switch {
		case parent == "" && e.Name() == incoming:
		case mode.IsDir():
			names = append(names, e.Name()+"/")
		case mode.IsRegular():
			names = append(names, e.Name())
		}
	}
	slices.Sort(names)
	return names, nil
}
