package engine

import (
	"crypto/sha256"
	"maps"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
)

// TestWalkSeesWhatIsBroken breaks one thing at a time in the bucket that a walk has left, and wants the walk's checks to
// name it.
func TestWalkSeesWhatIsBroken(t *testing.T) {
	walked := newWalk(t, 2, mem.New())
	walked.lone = true
	walked.walk(200)
	walked.finish()
	if t.Failed() {
		return
	}
	table := map[string]struct {
		wreck func(w *wreck)
		want  string
	}{
		"a snapshot is missing": {func(w *wreck) {
			at, _ := w.find(func(at place, _ *documents) bool { return !w.last(at) })
			w.drop(w.key(at))
		}, "S13.3-1: there is no such version"},
		"the latest commit is missing": {func(w *wreck) {
			at, _ := w.find(func(at place, f *documents) bool { return w.last(at) && at.version > 1 && isCommit(at, f) })
			w.drop(w.key(at))
		}, "S14.2-1: it was committed to session"},
		"a push is missing": {func(w *wreck) {
			at, _ := w.find(func(at place, f *documents) bool {
				return w.last(at) && !isDelivery(at, f) && f.kind != string(session.Checkpoint) && strings.HasPrefix(f.entries[0].tag(), "1")
			})
			w.drop(w.key(at))
		}, "S14.2-1: it was committed to session"},
		"a commit is there twice": {func(w *wreck) { w.again(w.find(isCommit)) }, "S14.2-1: "},
		"a delivery is there twice": {func(w *wreck) { w.again(w.find(isDelivery)) },
			"times in session"},
		"a delivery is missing": {func(w *wreck) {
			at, _ := w.find(func(at place, f *documents) bool { return w.last(at) && isDelivery(at, f) })
			w.drop(w.key(at))
		}, "S12.2-2: "},
		"half a delivery is missing": {func(w *wreck) {
			at, _ := w.find(func(at place, f *documents) bool { return isDelivery(at, f) && len(f.entries) > 1 })
			w.edit(w.key(at), func(r []map[string]any) []map[string]any { return r[:1] })
		}, "S12.2-2: session"},
		"a delivery keeps its target": {func(w *wreck) {
			at, _ := w.find(isDelivery)
			w.edit(w.key(at), func(r []map[string]any) []map[string]any { r[0]["target-session"] = at.session; return r })
		}, "S12.2-5: "},
		"a delivery is a checkpoint": {func(w *wreck) {
			at, _ := w.find(isDelivery)
			w.describe(at, "pugmark-snapshot-type", "checkpoint")
		}, "S12.2-9: "},
		"a delivery without a source snapshot": {func(w *wreck) {
			at, _ := w.find(isDelivery)
			w.edit(w.key(at), func(r []map[string]any) []map[string]any { r[0]["source-version"] = 1000; return r })
		}, "S12.2-1: "},
		"a number is skipped": {func(w *wreck) {
			at, f := w.find(isCommit)
			w.edit(w.key(at), renumbered(f.entries[0].Number+1))
		}, "S7.3-8: "},
		"a number is taken twice": {func(w *wreck) {
			at, f := w.find(isCommit)
			w.edit(w.key(at), func(r []map[string]any) []map[string]any {
				r[1]["sequence-number"] = f.entries[0].Number
				return r
			})
		}, "S7.3-8: "},
		"no transaction ID": {func(w *wreck) {
			at, _ := w.find(isCommit)
			w.describe(at, "pugmark-transaction-id", "0")
		}, "S13.2-8: "},
		"a transaction ID of another": {func(w *wreck) {
			at, _ := w.find(isCommit)
			_, other := w.find(isDelivery)
			w.describe(at, "pugmark-transaction-id", strconv.FormatUint(other.transaction, 10))
		}, "S13.2-1: "},
		"a version of another": {func(w *wreck) {
			at, _ := w.find(isCommit)
			w.describe(at, "pugmark-snapshot-version", "77")
		}, "S6.2-9: "},
		"a type of another": {func(w *wreck) {
			at, _ := w.find(isCommit)
			w.describe(at, "pugmark-snapshot-type", "queueing")
		}, "S6.4: "},
		"state instead of a delta": {func(w *wreck) {
			at, f := w.find(isCommit)
			w.edit(w.key(at), func(r []map[string]any) []map[string]any {
				return renumbered(f.entries[0].Number)(append(r, maps.Clone(r[0])))
			})
		}, "S6.5-1: "},
		"entries in another order": {func(w *wreck) {
			at, f := w.find(func(_ place, f *documents) bool { return len(f.entries) > 1 && f.entries[1].tag() != "" })
			w.edit(w.key(at), func(r []map[string]any) []map[string]any {
				r[0], r[1] = r[1], r[0]
				return renumbered(f.entries[0].Number)(r)
			})
		}, "S13.1-3: "},
		"half a commit": {func(w *wreck) {
			at, _ := w.find(func(at place, f *documents) bool { return w.last(at) && isCommit(at, f) && f.entries[1].tag() != "" })
			w.edit(w.key(at), func(r []map[string]any) []map[string]any { return r[:1] })
		}, "S13.1-3: "},
		"a stop without its message": {func(w *wreck) {
			at, _ := w.find(func(at place, f *documents) bool { return isCommit(at, f) && f.entries[len(f.entries)-1].isControl() })
			w.edit(w.key(at), func(r []map[string]any) []map[string]any { return r[:len(r)-1] })
		}, "P10-9: "},
		"another name": {func(w *wreck) {
			at, _ := w.find(isCommit)
			w.edit(w.key(at), func(r []map[string]any) []map[string]any { r[0]["name"] = "other"; return r })
		}, "S7-1: "},
		"a snapshot that nobody wrote": {func(w *wreck) {
			at, _ := w.find(isCommit)
			w.edit(w.key(at), func(r []map[string]any) []map[string]any {
				r[0]["metadata"] = map[string]string{tagKey: "nobody#0"}
				return r
			})
		}, "which nobody wrote"},
		"a checkpoint over one that its handler had not seen": {func(w *wreck) {
			at, f := w.find(func(at place, f *documents) bool { return isCommit(at, f) && at.version > 5 })
			wk, _, _ := w.ledger.find(f.entries[0].tag())
			unseen := *wk
			unseen.base = 0
			w.ledger.works[wk.tag] = &unseen
			w.describe(at, "pugmark-snapshot-type", "checkpoint")
		}, "S13.3-3: "},
		"a stop over what its handler had not seen": {func(w *wreck) {
			var wk *work
			w.find(func(at place, f *documents) bool {
				wk, _, _ = w.ledger.find(f.entries[0].tag())
				return isCommit(at, f) && at.version > 2 && wk.ends() == session.StatusStopped
			})
			unseen := *wk
			unseen.base, unseen.final = 0, true
			w.ledger.works[wk.tag] = &unseen
		}, "F-2: "},
		"something discarded": {func(w *wreck) {
			_, f := w.find(isCommit)
			wk, _, _ := w.ledger.find(f.entries[0].tag())
			discarded := *wk
			discarded.fate = out_
			w.ledger.order[slices.Index(w.ledger.order, wk)] = &discarded
		}, "S14.2-5: "},
		"a blob is missing": {func(w *wreck) {
			_, f := w.find(isCommit)
			w.drop("objects/" + f.entries[0].Digest)
		}, "S7-3: "},
		"a blob has changed": {func(w *wreck) {
			_, f := w.find(func(_ place, f *documents) bool { return f.entries[0].Size > 0 })
			key := "objects/" + f.entries[0].Digest
			w.changes[key] = &storedObject{[]byte("changed"), w.objects[key].attrs}
		}, "S3-3: "},
		"a size is wrong": {func(w *wreck) {
			at, _ := w.find(isCommit)
			w.edit(w.key(at), func(r []map[string]any) []map[string]any { r[0]["size"] = 12345; return r })
		}, "S7-4: "},
		"inlined bytes are wrong": {func(w *wreck) {
			at, _ := w.find(isCommit)
			w.edit(w.key(at), func(r []map[string]any) []map[string]any { r[0]["data"] = "eHh4"; return r })
		}, "S7.1-1: "},
		"a manifest has changed": {func(w *wreck) {
			for id, m := range w.ledger.roots {
				if m.Agent != "" {
					w.rewriteManifest(id, `"agent":"agent"`, `"agent":"other"`)
					return
				}
			}
			w.Fatal("the walk has made no session with an agent")
		}, "S5.1-5: "},
		"a child of another parent": {func(w *wreck) {
			at, _ := w.find(w.isBirth)
			w.rewriteManifest(at.session, `"parent":{"session":"0`, `"parent":{"session":"1`)
		}, "S11.2-4: "},
		"a child at another version": {func(w *wreck) {
			at, _ := w.find(w.isBirth)
			w.rewriteManifest(at.session, `"version":`, `"version":4`)
		}, "S11.2-4: "},
		"a child with another first number": {func(w *wreck) {
			at, _ := w.find(w.isBirth)
			w.rewriteManifest(at.session, `"first-sequence-number":`, `"first-sequence-number":1`)
		}, "S7.3-8: "},
		"a child with a name": {func(w *wreck) {
			at, _ := w.find(w.isBirth)
			w.rewriteManifest(at.session, `{"session":`, `{"name":"n","session":`)
		}, "S11.2-4: "},
		"a child without a manifest": {func(w *wreck) {
			at, _ := w.find(w.isBirth)
			w.drop(w.path(at.session).Manifest())
		}, "S11.2-15: "},
		"a child without its body": {func(w *wreck) {
			at, _ := w.find(func(at place, f *documents) bool { return w.isBirth(at, f) && w.last(at) })
			w.drop(w.key(at))
		}, "S11.2-9: "},
		"a child is born as a fork record": {func(w *wreck) {
			at, _ := w.find(w.isBirth)
			w.edit(w.key(at), func(r []map[string]any) []map[string]any { r[0]["fork"] = true; return r })
		}, "S11.2-10: "},
		"a child is born by a push": {func(w *wreck) {
			at, _ := w.find(w.isBirth)
			w.describe(at, "pugmark-snapshot-type", "provisional")
		}, "S11.2-12: "},
		"memory loses a record of others": {func(w *wreck) {
			w.edit(w.memoryKey(1), func(r []map[string]any) []map[string]any { return r[1:] })
		}, "S8.3-3: "},
		"memory loses a version": {func(w *wreck) {
			w.drop(layout.MemoryKey("ns", 1))
		}, "S8.1-1: "},
		"memory loses the latest version": {func(w *wreck) {
			w.drop(layout.MemoryKey("ns", uint32(len(w.memory["ns"]))))
		}, "S14.2-1: what "},
		"two envelopes in one write":        {func(w *wreck) { w.editEnvelope(2, "version", 1000) }, "S8.2-3: "},
		"an envelope with another version":  {func(w *wreck) { w.editEnvelope(1, "version", 1000) }, "S8.2-4: "},
		"an envelope without a transaction": {func(w *wreck) { w.editEnvelope(1, "transaction", 0) }, "S8.2-4: "},
		"a key of no kind": {func(w *wreck) {
			w.changes["other/key"] = &storedObject{}
		}, "S1-2: "},
	}
	for name, c := range table {
		t.Run(name, func(t *testing.T) {
			w := &wreck{T: t, contents: walked.bucket, changes: map[string]*storedObject{},
				ledger: &ledger{works: maps.Clone(walked.works), order: slices.Clone(walked.ledger.order), roots: walked.roots}}
			c.wreck(w)
			complaints := check(walked.bucket.with(w.changes), w.ledger, true)
			if !slices.ContainsFunc(complaints, func(s string) bool { return strings.Contains(s, c.want) }) {
				t.Errorf("got %q, want %q", complaints, c.want)
			}
		})
	}
}

// What a writer does to the bucket shows only while it does it.
func TestWalkSeesForbiddenRequests(t *testing.T) {
	for want, do := range map[string]func(s store.Store) error{
		"S13.1-1: PUT sessions/x/manifest.json": func(s store.Store) error {
			_, err := store.PutBytes(t.Context(), s, "sessions/x/manifest.json", nil, store.PutOptions{})
			return err
		},
		"S3-7: PUT objects/x": func(s store.Store) error {
			_, err := store.PutBytes(t.Context(), s, "objects/x", nil, store.PutOptions{})
			return err
		},
		"S5.1-5: memories/ns/x was written over": func(s store.Store) error {
			_, err := store.PutBytes(t.Context(), s, "memories/ns/x", []byte("other"), store.PutOptions{})
			return err
		},
		"S5.1-5: DELETE memories/ns/x": func(s store.Store) error {
			return s.Delete(t.Context(), "memories/ns/x", store.DeleteOptions{})
		},
	} {
		w := &witness{Store: mem.New(), first: map[string][sha256.Size]byte{}}
		if _, err := store.PutBytes(t.Context(), w, "memories/ns/x", []byte("x"), store.PutOptions{IfAbsent: true}); err != nil {
			t.Fatal(err)
		}
		if err := do(w); err != nil {
			t.Fatal(err)
		}
		if !slices.ContainsFunc(w.complaints, func(s string) bool { return strings.Contains(s, want) }) {
			t.Errorf("got %q, want %q", w.complaints, want)
		}
	}
}

// An object that changes, or goes away, behind everybody's back.
func TestWalkSeesChangedObjects(t *testing.T) {
	w := newWalk(t, 3, mem.New())
	w.walk(20)
	key := slices.Sorted(maps.Keys(w.bucket.objects))[0]
	for want, o := range map[string]*storedObject{"is gone": nil, "has changed": {body: []byte("changed")}} {
		complaints := w.world.changed(w.bucket.with(map[string]*storedObject{key: o}))
		if len(complaints) != 1 || !strings.Contains(complaints[0], want) {
			t.Errorf("got %q, want %q", complaints, want)
		}
	}
	first := w.order[0]
	blind := *first
	blind.told, blind.kind = append(slices.Clone(first.told), "more"), session.Checkpoint
	if complaints := w.bucket.shown([]*work{&blind}); len(complaints) != 1 {
		t.Errorf("got %q for an invocation that was shown what is not there", complaints)
	}
}
