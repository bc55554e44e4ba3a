package storetest

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

func list(t *testing.T, s store.Store, prefix string, options store.ListOptions) store.Page {
	t.Helper()
	page, err := s.List(context.Background(), prefix, options)
	if err != nil {
		t.Fatalf("list %q: %v", prefix, err)
	}
	return page
}

func allKeys(t *testing.T, s store.Store, prefix string) []string {
	t.Helper()
	var keys []string
	for key, err := range store.Keys(context.Background(), s, prefix) {
		if err != nil {
			t.Fatalf("list %q: %v", prefix, err)
		}
		keys = append(keys, key)
	}
	return keys
}

func wantKeys(t *testing.T, what string, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(got, want) {
		t.Fatalf("%s: %q, want %q", what, got, want)
	}
}

// S2.1-9: every shape of key that the layout uses, and names that people choose.
func testKeys(t *testing.T, a, b store.Store) {
	keys := []string{
		"memories/user 1/Ünïcode+100%/FFFFFFFF.json",
		"memories/user/123/alice/FFFFFFFF.json",
		"objects/sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
		"refs/sessions/a&b=c?d#e",
		"refs/sessions/ends in a dot.",
		"sessions/year=2025/month=01/day=02/hour=03/00112233445566778899AABB/manifest.json",
		"sessions/year=2025/month=01/day=02/hour=03/00112233445566778899AABB/snapshots/FFFFFFFF.json",
	}
	for _, k := range keys {
		put(t, a, k, "at "+k, ifAbsent(plain))
	}
	for _, k := range keys {
		wantBody(t, b, k, "at "+k)
		wantKeys(t, "list "+k, list(t, b, k, store.ListOptions{}).Keys, k)
	}
	wantKeys(t, "all keys", allKeys(t, b, ""), keys...)
}

// A key may be the beginning of another one, up to a slash.
func testNestedKeys(t *testing.T, a, b store.Store) {
	put(t, a, "refs/a", "1", ifAbsent(plain))
	put(t, a, "refs/a/b", "2", ifAbsent(plain))
	wantBody(t, b, "refs/a", "1")
	wantBody(t, b, "refs/a/b", "2")
	wantKeys(t, "keys", allKeys(t, b, "refs/"), "refs/a", "refs/a/b")
}

// S2.4-1: by bytes, so that a slash sorts among the other characters and not before them.
func testListOrder(t *testing.T, a, b store.Store) {
	want := []string{
		"memories/a!/x", "memories/a-b/x", "memories/a.b/x", "memories/a/x", "memories/a/x!", "memories/a0/x", "memories/aB/x",
		"memories/a_/x", "memories/ab/x", "memories/a~/x", "memories/aé/x", "memories/a\uffee/x", "memories/a\U0001f600/x",
	}
	if !slices.IsSorted(want) {
		t.Fatal("the test's own keys are not in order")
	}
	for i := range want {
		put(t, a, want[(i*5)%len(want)], "", plain)
	}
	put(t, a, "objects/x", "", plain)
	wantKeys(t, "list", list(t, b, "memories/", store.ListOptions{}).Keys, want...)
	wantKeys(t, "list of another prefix", list(t, b, "nothing/", store.ListOptions{}).Keys)
}

// S2.1-5.
func testListPages(t *testing.T, a, b store.Store) {
	var want []string
	for i := range 23 {
		k := fmt.Sprintf("sessions/x/%02d/%d", i/3, i%3)
		want = append(want, k)
		put(t, a, k, "", plain)
	}
	put(t, a, "sessions/y", "", plain)
	for _, size := range []int{1, 2, 5, 22, 23, 24} {
		var got []string
		options := store.ListOptions{Max: size}
		for range 100 {
			page := list(t, b, "sessions/x/", options)
			if len(page.Keys) > size {
				t.Fatalf("page of %d keys, want at most %d", len(page.Keys), size)
			}
			got = append(got, page.Keys...)
			if options.Token = page.Next; page.Next == "" {
				break
			}
		}
		wantKeys(t, fmt.Sprintf("pages of %d", size), got, want...)
	}
}

// S2.4-2, S6.3-1: one key asked for is the latest version.
func testListMaxOne(t *testing.T, a, b store.Store) {
	for v := range 20 {
		k := fmt.Sprintf("sessions/s/snapshots/%08X.json", 0xFFFFFFFF-v)
		put(t, a, k, "", ifAbsent(plain))
		wantKeys(t, "latest", list(t, b, "sessions/s/snapshots/", store.ListOptions{Max: 1}).Keys, k)
	}
}

// S2.1-7.
func testListAfter(t *testing.T, a, b store.Store) {
	for _, k := range []string{"refs/a", "refs/b", "refs/b1/x", "refs/c"} {
		put(t, a, k, "", plain)
	}
	wantKeys(t, "after b", list(t, b, "refs/", store.ListOptions{After: "refs/b"}).Keys, "refs/b1/x", "refs/c")
	wantKeys(t, "after b1", list(t, b, "refs/", store.ListOptions{After: "refs/b1"}).Keys, "refs/b1/x", "refs/c")
	wantKeys(t, "after b2", list(t, b, "refs/", store.ListOptions{After: "refs/b2"}).Keys, "refs/c")
	wantKeys(t, "one after a", list(t, b, "refs/", store.ListOptions{After: "refs/a", Max: 1}).Keys, "refs/b")
	wantKeys(t, "after c", list(t, b, "refs/", store.ListOptions{After: "refs/c"}).Keys)
}

// S2.1-8.
func testListDelimiter(t *testing.T, a, b store.Store) {
	for _, k := range []string{"m/user/1/x", "m/user/1/y", "m/user/2/x", "m/user/A/b/x", "m/user/FFFF", "m/user/FFFFF", "m/user/z/x", "m/zz"} {
		put(t, a, k, "", plain)
	}
	page := list(t, b, "m/user/", store.ListOptions{Delimiter: "/"})
	wantKeys(t, "keys", page.Keys, "m/user/FFFF", "m/user/FFFFF")
	wantKeys(t, "prefixes", page.Prefixes, "m/user/1/", "m/user/2/", "m/user/A/", "m/user/z/")

	for _, size := range []int{1, 2, 3} {
		var keys, prefixes []string
		options := store.ListOptions{Delimiter: "/", Max: size}
		for range 100 {
			page := list(t, b, "m/user/", options)
			if n := len(page.Keys) + len(page.Prefixes); n > size {
				t.Fatalf("page of %d entries, want at most %d", n, size)
			}
			keys, prefixes = append(keys, page.Keys...), append(prefixes, page.Prefixes...)
			if options.Token = page.Next; page.Next == "" {
				break
			}
		}
		wantKeys(t, key("keys by pages of ", size), keys, "m/user/FFFF", "m/user/FFFFF")
		wantKeys(t, key("prefixes by pages of ", size), prefixes, "m/user/1/", "m/user/2/", "m/user/A/", "m/user/z/")
	}
}

// A prefix is a beginning of keys, not a directory.
func testListPartialPrefix(t *testing.T, a, b store.Store) {
	for _, k := range []string{"refs/a/1", "refs/ab/1", "refs/abc", "refs/b"} {
		put(t, a, k, "", plain)
	}
	wantKeys(t, "refs/a", list(t, b, "refs/a", store.ListOptions{}).Keys, "refs/a/1", "refs/ab/1", "refs/abc")
	wantKeys(t, "refs/ab", list(t, b, "refs/ab", store.ListOptions{}).Keys, "refs/ab/1", "refs/abc")
	wantKeys(t, "re", list(t, b, "re", store.ListOptions{Max: 2}).Keys, "refs/a/1", "refs/ab/1")
	wantKeys(t, "refs/a/", list(t, b, "refs/a/", store.ListOptions{}).Keys, "refs/a/1")
	wantKeys(t, "../", list(t, b, "../", store.ListOptions{}).Keys)
}

// S1-1.
func testPrefix(t *testing.T, a, b store.Store) {
	inner, seen := store.WithPrefix(a, "deep/root/"), store.WithPrefix(b, "deep/root/")
	put(t, inner, "refs/x", "x", ifAbsent(plain))
	put(t, inner, "refs/y/z", "z", plain)
	put(t, a, "deep/rooted", "", plain)
	put(t, a, "refs/x", "outside", plain)
	wantBody(t, seen, "refs/x", "x")
	wantBody(t, b, "deep/root/refs/x", "x")
	wantKeys(t, "all", allKeys(t, seen, ""), "refs/x", "refs/y/z")
	page := list(t, seen, "refs/", store.ListOptions{Delimiter: "/", After: "refs/w"})
	wantKeys(t, "keys", page.Keys, "refs/x")
	wantKeys(t, "prefixes", page.Prefixes, "refs/y/")
	first := list(t, seen, "", store.ListOptions{Max: 1})
	wantKeys(t, "second page", list(t, seen, "", store.ListOptions{Max: 1, Token: first.Next}).Keys, "refs/y/z")
	if err := inner.Delete(context.Background(), "refs/x", store.DeleteOptions{}); err != nil {
		t.Fatal(err)
	}
	wantAbsent(t, b, "deep/root/refs/x")
	wantBody(t, b, "refs/x", "outside")
}
