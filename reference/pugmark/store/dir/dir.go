// Package dir keeps a bucket in a directory, safely for any number of processes at once.
//
// An object is one file at its key's path: a line of JSON with the object's attributes, then the body. One file has the
// two together, so that no reader ever sees the one without the other. Each file is written and synced
// under another name first, and then linked or renamed to its place, so that no reader sees a half of it either.
// Creating is link(2), which fails where the name is taken and is atomic between processes.
//
// A file without such a line, say out of a copied bucket, is read as a body whose attributes got lost.
package dir

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// incoming is the directory, below the root, of files that are still being written, and of the lock. It is no part of
// the bucket.
const incoming = ".incoming"

// Store is a bucket in a directory; Open makes it.
type Store struct {
	root    string
	sweep   sync.Once
	durable sync.Map // directories whose way from the root is known to be on disk
}

var _ store.Store = (*Store)(nil)

// Open gives the bucket in the directory root, which has to exist: store.ErrNoBucket.
func Open(root string) (*Store, error) {
	info, err := os.Stat(root)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, fmt.Errorf("directory %s: %w", root, store.ErrNoBucket)
	case err != nil:
		return nil, err
	case !info.IsDir():
		return nil, fmt.Errorf("%s is not a directory", root)
	}
	root, err = filepath.Abs(root)
	if err != nil {
		return nil, err
	}
	return &Store{root: root}, nil
}

// Open implements store.Store.
func (s *Store) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	f, attrs, err := s.open(ctx, key)
	if err != nil {
		return nil, store.Attributes{}, fmt.Errorf("open %s: %w", key, err)
	}
	return f, attrs, nil
}

// Head implements store.Store.
func (s *Store) Head(ctx context.Context, key string) (store.Attributes, error) {
	f, attrs, err := s.open(ctx, key)
	if err != nil {
		return store.Attributes{}, fmt.Errorf("head %s: %w", key, err)
	}
	return attrs, f.Close()
}

func (s *Store) open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	if err := ctx.Err(); err != nil {
		return nil, store.Attributes{}, err
	}
	path, err := s.path(key)
	if err != nil {
		return nil, store.Attributes{}, fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	return openObject(path)
}

// Put implements store.Store.
func (s *Store) Put(ctx context.Context, key string, body io.ReadSeeker, options store.PutOptions) (string, error) {
	etag, err := s.put(ctx, key, body, options)
	if err != nil {
		return "", fmt.Errorf("put %s: %w", key, err)
	}
	return etag, nil
}

func (s *Store) put(ctx context.Context, key string, body io.ReadSeeker, options store.PutOptions) (string, error) {
	path, err := s.path(key)
	if err != nil {
		return "", err
	}
	if err := s.prepare(); err != nil {
		return "", err
	}
	if options.IfAbsent {
		if _, err := os.Lstat(path); err == nil {
			return "", taken(path) // spares the writing; link has the last word
		}
	}
	temporary, etag, err := writeObject(s.incoming(), body, options)
	if err != nil {
		return "", err
	}
	defer os.Remove(temporary)
	if err := ctx.Err(); err != nil {
		return "", err
	}
	if err := s.makeDirectory(filepath.Dir(path)); err != nil {
		return "", err
	}
	if options.IfAbsent {
		err = os.Link(temporary, path)
		if errors.Is(err, fs.ErrExist) {
			return "", taken(path)
		}
	} else {
		err = s.replace(temporary, path, options.IfMatch)
	}
	if err != nil {
		return "", err
	}
	return etag, syncDirectory(filepath.Dir(path))
}

// taken gives the error of a name that is taken: by an object, or by the directory of keys that go on from it.
func taken(path string) error {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return errNested
	}
	return store.ErrExists
}

var errNested = errors.New("in a directory, a key cannot stand beside keys that continue it with a slash")

// replace puts a finished file in the place of whatever is there, on the condition ifMatch where it is not empty.
func (s *Store) replace(temporary, path, ifMatch string) error {
	return s.locked(func() error {
		if err := matches(path, ifMatch); err != nil {
			return err
		}
		err := os.Rename(temporary, path)
		if errors.Is(err, fs.ErrExist) {
			return taken(path)
		}
		return err
	})
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key string, options store.DeleteOptions) error {
	path, err := s.path(key)
	if err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	if err := errors.Join(ctx.Err(), s.prepare()); err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	err = s.locked(func() error {
		if err := matches(path, options.IfMatch); err != nil {
			return err
		}
		if info, err := os.Lstat(path); err != nil || info.IsDir() {
			return nil
		}
		return errors.Join(os.Remove(path), syncDirectory(filepath.Dir(path)))
	})
	if err != nil {
		return fmt.Errorf("delete %s: %w", key, err)
	}
	return nil
}

func matches(path, etag string) error {
	if etag == "" {
		return nil
	}
	f, attrs, err := openObject(path)
	switch {
	case errors.Is(err, store.ErrNotFound):
		return store.ErrMismatch
	case err != nil:
		return err
	}
	defer f.Close()
	if attrs.ETag != etag {
		return store.ErrMismatch
	}
	return nil
}

// path gives the place of a key, and refuses keys that no file can have.
func (s *Store) path(key string) (string, error) {
	for segment := range strings.SplitSeq(key, "/") {
		switch {
		case segment == "", segment == ".", segment == "..":
			return "", fmt.Errorf("key %q: a directory has no place for the segment %q", key, segment)
		case len(segment) > 255 || strings.ContainsRune(segment, 0):
			return "", fmt.Errorf("key %q: a directory has no place for the segment %.40q", key, segment)
		}
	}
	if key == incoming || strings.HasPrefix(key, incoming+"/") {
		return "", fmt.Errorf("key %q: %s is reserved", key, incoming)
	}
	return filepath.Join(s.root, filepath.FromSlash(key)), nil
}

func (s *Store) incoming() string { return filepath.Join(s.root, incoming) }

// abandoned is the age from which a file in incoming belongs to a writer that died.
const abandoned = 24 * time.Hour

// prepare makes the place for files that are being written, and once in a Store's life clears out what killed
// writers left there.
func (s *Store) prepare() error {
	if err := os.Mkdir(s.incoming(), 0o777); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	s.sweep.Do(func() {
		entries, err := os.ReadDir(s.incoming())
		if err != nil {
			return
		}
		for _, e := range entries {
			info, err := e.Info()
			if err == nil && e.Name() != lockName && time.Since(info.ModTime()) > abandoned {
				os.Remove(filepath.Join(s.incoming(), e.Name()))
			}
		}
	})
	return nil
}
