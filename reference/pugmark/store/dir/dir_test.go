package dir_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/dir"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/storetest"
)

func open(t *testing.T, root string) store.Store {
	t.Helper()
	s, err := dir.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestStore(t *testing.T) {
	storetest.Run(t, func(t *testing.T) func() store.Store {
		root := t.TempDir()
		return func() store.Store { return open(t, root) }
	}, storetest.Skip{Row: "key-beside-longer-keys", Reason: "a file and a directory cannot have one name; the layout never asks for it"})
}

func TestOpenRefuses(t *testing.T) {
	root := t.TempDir()
	if _, err := dir.Open(filepath.Join(root, "absent")); !errors.Is(err, store.ErrNoBucket) {
		t.Errorf("absent directory: error %v, want %v", err, store.ErrNoBucket)
	}
	file := filepath.Join(root, "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := dir.Open(file); err == nil {
		t.Error("a file was opened as a bucket")
	}
}

// A key that continues another one with a slash is refused in either order, and never mistaken for a conflict.
func TestNestedKeyIsRefused(t *testing.T) {
	ctx := context.Background()
	s := open(t, t.TempDir())
	for _, pair := range [][2]string{{"refs/a", "refs/a/b"}, {"refs/c/d", "refs/c"}} {
		if _, err := store.PutBytes(ctx, s, pair[0], nil, store.PutOptions{IfAbsent: true}); err != nil {
			t.Fatal(err)
		}
		for _, options := range []store.PutOptions{{IfAbsent: true}, {}} {
			_, err := store.PutBytes(ctx, s, pair[1], nil, options)
			if err == nil || errors.Is(err, store.ErrExists) || errors.Is(err, store.ErrMismatch) {
				t.Errorf("put %s beside %s with %+v: error %v", pair[1], pair[0], options, err)
			}
		}
	}
}

// Keys that would leave the directory, or touch files that are being written, are refused.
func TestKeysStayInside(t *testing.T) {
	ctx := context.Background()
	root := filepath.Join(t.TempDir(), "bucket")
	if err := os.Mkdir(root, 0o777); err != nil {
		t.Fatal(err)
	}
	s := open(t, root)
	for _, key := range []string{"", "/x", "../x", "refs/../../x", "refs//x", "refs/.", "refs/x/", ".incoming/x", ".incoming"} {
		if _, err := store.PutBytes(ctx, s, key, nil, store.PutOptions{}); err == nil {
			t.Errorf("put %q succeeded", key)
		}
		if _, _, err := s.Open(ctx, key); !errors.Is(err, store.ErrNotFound) {
			t.Errorf("open %q: error %v, want %v", key, err, store.ErrNotFound)
		}
	}
	page, err := s.List(ctx, "", store.ListOptions{})
	if err != nil || len(page.Keys) != 0 {
		t.Errorf("list: %q, %v, want nothing", page.Keys, err)
	}
}

// A tree of plain files, as a copy of an S3 bucket leaves it, can be read.
func TestPlainFiles(t *testing.T) {
	ctx := context.Background()
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "refs", "sessions"), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(root, "refs", "sessions", "n"), []byte("{target"), 0o666); err != nil {
		t.Fatal(err)
	}
	s := open(t, root)
	body, attrs, err := store.Get(ctx, s, "refs/sessions/n")
	if err != nil || string(body) != "{target" || attrs.Size != 7 || attrs.ETag == "" || attrs.ContentType != "" {
		t.Fatalf("body %q, attributes %+v, error %v", body, attrs, err)
	}
	if _, err := store.PutBytes(ctx, s, "refs/sessions/n", nil, store.PutOptions{IfAbsent: true}); !errors.Is(err, store.ErrExists) {
		t.Errorf("create over a plain file: error %v, want %v", err, store.ErrExists)
	}
	if _, err := store.PutBytes(ctx, s, "refs/sessions/n", []byte("new"), store.PutOptions{IfMatch: attrs.ETag}); err != nil {
		t.Errorf("replace by its ETag: %v", err)
	}
}

// Nothing is left of a write that failed, and what a killed writer left is cleared away after a day.
func TestIncomingIsKeptClean(t *testing.T) {
	ctx := context.Background()
	root := t.TempDir()
	incoming := filepath.Join(root, ".incoming")
	if err := os.Mkdir(incoming, 0o777); err != nil {
		t.Fatal(err)
	}
	old, young := filepath.Join(incoming, "old"), filepath.Join(incoming, "young")
	for _, path := range []string{old, young} {
		if err := os.WriteFile(path, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	dayBefore := time.Now().Add(-25 * time.Hour)
	if err := os.Chtimes(old, dayBefore, dayBefore); err != nil {
		t.Fatal(err)
	}
	s := open(t, root)
	var wrong [32]byte
	if _, err := store.PutBytes(ctx, s, "objects/x", []byte("x"), store.PutOptions{SHA256: &wrong}); !errors.Is(err, store.ErrChecksum) {
		t.Fatal(err)
	}
	if _, err := store.PutBytes(ctx, s, "objects/x", []byte("x"), store.PutOptions{IfAbsent: true}); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(incoming)
	if err != nil || len(entries) != 1 || entries[0].Name() != "young" {
		t.Errorf("left in .incoming: %v, %v, want only the young file", entries, err)
	}
}
