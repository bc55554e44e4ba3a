package session_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// S6.2, S7.3: numbers, metadata and attributes of a plain commit, for every kind of first number.
func TestCommit(t *testing.T) {
	for _, first := range []int64{1, 1000, -5, math.MaxInt64 - 3, 1<<53 + 1} {
		b := setUp(t)
		id := b.create(session.Manifest{FirstSequenceNumber: first}).Session
		got := must(b.repo.Commit(ctx, session.Commit{
			Session: id, Type: session.Checkpoint, Transaction: math.MaxUint64, Descriptors: entries("a", "b"),
		}))(t)
		if got.Version != 1 || len(got.Merged) != 0 || got.Descriptors[0].SequenceNumber != first || got.Descriptors[0].CreatedAt.IsZero() {
			t.Errorf("committed %+v", got)
		}
		b.commit(id, session.Provisional, "c")
		b.wantLog(id, fmt.Sprint(first, ":a"), fmt.Sprint(first+1, ":b"), fmt.Sprint(first+2, ":c"))

		attrs := must(b.store.Head(ctx, b.path(id).Snapshot(1)))(t)
		want := map[string]string{
			"pugmark-snapshot-session": id.String(), "pugmark-snapshot-version": "1",
			"pugmark-transaction-id": "18446744073709551615", "pugmark-snapshot-type": "checkpoint",
		}
		for k, v := range want {
			if attrs.Metadata[k] != v {
				t.Errorf("metadata %s is %q, want %q", k, attrs.Metadata[k], v)
			}
		}
		if attrs.ContentType != "application/json" || attrs.ContentEncoding != "zstd" || attrs.CacheControl != "max-age=31536000, immutable" {
			t.Errorf("attributes %+v", attrs)
		}
	}
}

// A manifest without the field starts at 0, and the first number is written although it is zero.
func TestCommitFromZero(t *testing.T) {
	b := setUp(t)
	id := b.newID()
	b.write(b.path(id).Manifest(), []byte(`{"session":"`+id.String()+`"}`), store.Attributes{})
	b.commit(id, session.Checkpoint, "a", "b")
	b.wantLog(id, "0:a", "1:b")
}

// In the usual case a commit is one request when the base has been read, as a run does.
func TestCommitCostsOneRequest(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	b.commit(id, session.Checkpoint, "a")
	for _, err := range b.repo.Log(ctx, id, 1) {
		if err != nil {
			t.Fatal(err)
		}
	}
	n := len(b.store.since(0))
	must(b.repo.Commit(ctx, session.Commit{Session: id, Base: 1, Type: session.Checkpoint, Descriptors: entries("b")}))(t)
	if got := b.store.since(n); !slices.Equal(got, []string{"PUT " + b.path(id).Snapshot(2)}) {
		t.Errorf("requests: %q", got)
	}
	// Nor does reading the log again cost any, with what was just committed.
	n = len(b.store.since(0))
	for _, err := range b.repo.Log(ctx, id, 2) {
		if err != nil {
			t.Fatal(err)
		}
	}
	if got := b.store.since(n); len(got) != 0 {
		t.Errorf("requests for a log that is known: %q", got)
	}
}

// S13.2-3, S13.2-5, F-4: the own attempt is found, whether the store repeats the lost request or gives up, and whether
// it happens at the first version or after a merge.
func TestLostAnswerIsSuccess(t *testing.T) {
	for _, fate := range []verdict{lose, loseThenRetry} {
		for _, merged := range []int{0, 1, 3} {
			for _, kind := range []session.SnapshotType{session.Checkpoint, session.Provisional} {
				t.Run(fmt.Sprintf("fate %d after %d others, %s", fate, merged, kind), func(t *testing.T) {
					b := setUp(t)
					id := b.create(session.Manifest{}).Session
					for i := range merged {
						b.commit(id, session.Queueing, fmt.Sprint(i))
					}
					b.meet("PUT "+b.path(id).Snapshot(uint32(merged+1)), fate)
					got := must(b.repo.Commit(ctx, session.Commit{Session: id, Base: 0, Type: kind, Descriptors: entries("mine")}))(t)
					if got.Version != uint32(merged+1) || len(got.Merged) != merged {
						t.Errorf("committed at %d after %d others", got.Version, len(got.Merged))
					}
					if n := must(b.other().Latest(ctx, id))(t); n != got.Version {
						t.Errorf("latest version %d, want %d", n, got.Version)
					}
				})
			}
		}
	}
}

// S13.2-5: whoever repeats a whole commit with its transaction ID commits once, even with others on top.
func TestRepeatedCommitIsOne(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	c := session.Commit{Session: id, Type: session.Checkpoint, Descriptors: entries("mine"), Transaction: 42}
	must(b.repo.Commit(ctx, c))(t)
	b.commit(id, session.Provisional, "later")
	again := must(b.fresh().Commit(ctx, c))(t)
	if again.Version != 1 {
		t.Errorf("second commit at version %d", again.Version)
	}
	b.wantLog(id, "1:mine", "2:later")
}

// An unknown outcome that turns out to be a failure is reported as the failure it was.
func TestFailedPut(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	b.meet("PUT "+b.path(id).Snapshot(1), fail)
	_, err := b.repo.Commit(ctx, session.Commit{Session: id, Type: session.Checkpoint, Descriptors: entries("mine")})
	wantError(t, err, errOutcomeUnknown)
	b.wantLog(id)
}

// S13.3-4: what comes from outside stays, and the checkpoint lies above it with the next numbers.
func TestCheckpointMerges(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	b.commit(id, session.Checkpoint, "a")
	b.before("PUT "+b.path(id).Snapshot(2), func() {
		b.commit(id, session.Provisional, "p1", "p2")
		b.commit(id, session.Queueing, "q")
		b.commit(id, session.Provisional, "p3")
	})
	got := must(b.repo.Commit(ctx, session.Commit{Session: id, Base: 1, Type: session.Checkpoint, Descriptors: entries("x", "y")}))(t)
	if got.Version != 5 || len(got.Merged) != 3 || got.Merged[1].Type != session.Queueing {
		t.Errorf("committed %+v", got)
	}
	b.wantLog(id, "1:a", "2:p1", "3:p2", "4:q", "5:p3", "6:x", "7:y")
}

// S13.3-3, S6.2-13: a foreign checkpoint wins, also one without a type, and also behind others.
func TestCheckpointLoses(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	lose := func(version uint32) {
		t.Helper()
		_, err := b.repo.Commit(ctx, session.Commit{Session: id, Base: 0, Type: session.Checkpoint, Descriptors: entries("mine")})
		var conflict *session.ConflictError
		if !errors.As(err, &conflict) || !errors.Is(err, session.ErrConflict) || conflict.Version != version {
			t.Fatalf("error %v, want a conflict at version %d", err, version)
		}
	}
	b.commit(id, session.Provisional, "p")
	untyped := must(b.store.Head(ctx, b.path(id).Snapshot(1)))(t)
	body, _, err := store.Get(ctx, b.store.Store, b.path(id).Snapshot(1))
	if err != nil {
		t.Fatal(err)
	}
	delete(untyped.Metadata, "pugmark-snapshot-type")
	b.write(b.path(id).Snapshot(2), body, untyped)
	lose(2)
	b.commit(id, session.Provisional, "q")
	lose(2)
	if got := must(b.other().Latest(ctx, id))(t); got != 3 {
		t.Errorf("latest version %d, want 3", got)
	}
}

// A type that nobody knows bars a checkpoint: what it stands for cannot be told.
func TestUnknownTypeBars(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	b.commit(id, session.SnapshotType("novel"), "n")
	_, err := b.repo.Commit(ctx, session.Commit{Session: id, Type: session.Checkpoint, Descriptors: entries("mine")})
	wantError(t, err, session.ErrConflict)
	b.commit(id, session.Provisional, "p")
	b.wantLog(id, "1:n", "2:p")
}

// S13.3-8: what comes from outside goes on over anything.
func TestProvisionalGoesOn(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	b.before("PUT "+b.path(id).Snapshot(1), func() {
		b.commit(id, session.Checkpoint, "c1")
		b.commit(id, session.Provisional, "p")
		b.commit(id, session.Checkpoint, "c2")
	})
	got := must(b.repo.Commit(ctx, session.Commit{Session: id, Type: session.Provisional, Descriptors: entries("mine")}))(t)
	if got.Version != 4 {
		t.Errorf("version %d, want 4", got.Version)
	}
	b.wantLog(id, "1:c1", "2:p", "3:c2", "4:mine")
}

// What has piled up since the base is read over, and costs no tries.
func TestFarBehind(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	for i := range 150 {
		b.commit(id, session.Provisional, fmt.Sprint(i))
	}
	got := must(b.repo.Commit(ctx, session.Commit{Session: id, Type: session.Checkpoint, Descriptors: entries("mine")}))(t)
	if got.Version != 151 || len(got.Merged) != 150 || got.Descriptors[0].SequenceNumber != 151 {
		t.Errorf("version %d after %d others, number %d", got.Version, len(got.Merged), got.Descriptors[0].SequenceNumber)
	}
}

// S13.3-9, S13.3-10.
func TestGivesUp(t *testing.T) {
	b := setUp(t)
	b.repo = session.New(b.store, session.Options{Attempts: 5})
	id := b.create(session.Manifest{}).Session
	puts := 0
	b.store.hook = func(r string) verdict {
		if strings.HasPrefix(r, "PUT ") {
			puts++
			b.commit(id, session.Provisional, "in the way")
		}
		return pass
	}
	_, err := b.repo.Commit(ctx, session.Commit{Session: id, Type: session.Checkpoint, Descriptors: entries("mine")})
	wantError(t, err, session.ErrGaveUp)
	if puts != 5 || slices.Contains(b.log(id), "6:mine") {
		t.Errorf("%d tries, log %q", puts, b.log(id))
	}
}

// Snapshots without descriptors, as others may write them, do not disturb the numbering.
func TestEmptySnapshots(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{FirstSequenceNumber: 7}).Session
	b.write(b.path(id).Snapshot(1), []byte("[]"), store.Attributes{})
	b.commit(id, session.Checkpoint, "a")
	b.write(b.path(id).Snapshot(3), []byte("[]"), store.Attributes{Metadata: map[string]string{"pugmark-snapshot-type": "provisional"}})
	got := must(b.repo.Commit(ctx, session.Commit{Session: id, Base: 2, Type: session.Checkpoint, Descriptors: entries("b")}))(t)
	if got.Version != 4 {
		t.Errorf("version %d, want 4", got.Version)
	}
	b.wantLog(id, "7:a", "8:b")
}

func TestNothingToCommit(t *testing.T) {
	b := setUp(t)
	id := b.create(session.Manifest{}).Session
	if _, err := b.repo.Commit(ctx, session.Commit{Session: id, Type: session.Checkpoint}); err == nil {
		t.Error("an empty commit succeeded")
	}
}
