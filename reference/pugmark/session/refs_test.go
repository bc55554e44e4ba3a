package session_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

func TestCheckRef(t *testing.T) {
	b := setUp(t)
	plain := b.create(session.Manifest{})
	if err := b.repo.CheckRef(ctx, plain); err != nil || len(b.store.since(0)) != 0 {
		t.Errorf("without a name: %v, requests %q", err, b.store.since(0))
	}
	m := b.create(session.Manifest{Name: "n"})
	for range 2 { // S9-7: asked for each time
		if err := b.repo.CheckRef(ctx, m); err != nil {
			t.Fatal(err)
		}
	}
	if got := b.store.since(0); !slices.Equal(got, []string{"GET refs/sessions/n", "GET refs/sessions/n"}) {
		t.Errorf("requests: %q", got)
	}
	b.point("n", b.path(m.Session).Manifest()+"\r\n")
	if err := b.repo.CheckRef(ctx, m); err != nil {
		t.Errorf("with a line end: %v", err)
	}
	b.point("n", b.path(plain.Session).Manifest())
	wantError(t, b.repo.CheckRef(ctx, m), session.ErrNameTaken)
	b.meet("GET refs/sessions/n", fail)
	wantError(t, b.repo.CheckRef(ctx, m), errOutcomeUnknown)
}

// F-13.
func TestCheckRefAfterRename(t *testing.T) {
	b := setUp(t)
	m := b.create(session.Manifest{Name: "old"})
	b.create(session.Manifest{Name: "another"})
	if id := must(b.repo.Rename(ctx, "old", "new"))(t); id != m.Session {
		t.Errorf("renamed session %s", id)
	}
	if b.exists("refs/sessions/old") || target(b, "new") != b.path(m.Session).Manifest() {
		t.Error("the name has not moved")
	}
	if err := b.repo.CheckRef(ctx, m); err != nil {
		t.Errorf("after the rename: %v", err)
	}
	if err := b.store.Store.Delete(ctx, "refs/sessions/new", store.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	wantError(t, b.repo.CheckRef(ctx, m), session.ErrNameNotFound)
}

// S9-10, F-6: whoever gets the old name in the meantime keeps it, and the rename fails without a trace.
func TestRenameLosesOldName(t *testing.T) {
	b := setUp(t)
	b.create(session.Manifest{Name: "old"})
	foreign := b.create(session.Manifest{})
	b.before("DELETE refs/sessions/old", func() { b.point("old", b.path(foreign.Session).Manifest()) })
	_, err := b.repo.Rename(ctx, "old", "new")
	wantError(t, err, store.ErrMismatch)
	if got := target(b, "old"); got != b.path(foreign.Session).Manifest() {
		t.Errorf("the old name points to %q", got)
	}
	if b.exists("refs/sessions/new") {
		t.Error("the new name was left behind")
	}
}

// A crash between the two writes leaves two names; the same call again leaves one.
func TestRenameResumes(t *testing.T) {
	b := setUp(t)
	m := b.create(session.Manifest{Name: "old"})
	b.meet("DELETE refs/sessions/old", fail)
	_, err := b.repo.Rename(ctx, "old", "new")
	wantError(t, err, errOutcomeUnknown)
	if err := b.fresh().CheckRef(ctx, m); err != nil {
		t.Errorf("in between: %v", err)
	}
	must(b.fresh().Rename(ctx, "old", "new"))(t)
	if b.exists("refs/sessions/old") || target(b, "new") != b.path(m.Session).Manifest() {
		t.Error("the name has not moved")
	}
}

func TestRenameRefuses(t *testing.T) {
	b := setUp(t)
	b.create(session.Manifest{Name: "a"})
	b.create(session.Manifest{Name: "b"})
	_, err := b.repo.Rename(ctx, "absent", "x")
	wantError(t, err, session.ErrNameNotFound)
	_, err = b.repo.Rename(ctx, "a", "b")
	wantError(t, err, session.ErrNameTaken)
	// S4.2-9: the path in the ref is checked.
	b.point("odd", strings.Replace(target(b, "a"), "month=", "month=9", 1))
	var stale *session.StaleRefError
	if _, err := b.repo.Rename(ctx, "odd", "x"); !errors.As(err, &stale) || stale.Key != "refs/sessions/odd" {
		t.Errorf("error %v, want a stale ref", err)
	}
	if b.exists("refs/sessions/x") {
		t.Error("a refused rename made a ref")
	}
	if id := must(b.repo.Rename(ctx, "a", "a"))(t); b.path(id).Manifest() != target(b, "a") {
		t.Error("renaming to the same name lost it")
	}
}
