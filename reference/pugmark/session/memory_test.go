package session_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

func objects(pairs ...string) []session.Descriptor {
	var out []session.Descriptor
	for _, pair := range pairs {
		name, body, _ := strings.Cut(pair, "=")
		d := session.Describe([]byte(body))
		d.Name = name
		out = append(out, d)
	}
	return out
}

func (b *bench) remember(namespace string, pairs ...string) uint32 {
	b.t.Helper()
	return must(b.other().WriteMemory(ctx, namespace, objects(pairs...), b.writer()))(b.t)
}

func (b *bench) writer() session.Envelope {
	return session.Envelope{Session: b.newID(), Version: 1, Transaction: must(b.repo.NewTransaction())(b.t)}
}

func (b *bench) wantMemory(namespace string, version uint32, want ...string) {
	b.t.Helper()
	latest := must(b.other().LatestMemory(ctx, namespace))(b.t)
	f := must(b.other().ReadMemory(ctx, namespace, latest))(b.t)
	var got []string
	for _, r := range f.Records {
		got = append(got, r.Name+"="+string(r.Data))
	}
	if latest != version || !slices.Equal(got, want) {
		b.t.Errorf("memory %s: version %d, %q, want %d, %q", namespace, latest, got, version, want)
	}
}

// S8.3-3, S8.3-4.
func TestWriteMemory(t *testing.T) {
	b := setUp(t)
	b.wantMemory("ns", 0)
	w := session.Envelope{Session: b.newID(), Version: 5, Transaction: math.MaxUint64}
	if v := must(b.repo.WriteMemory(ctx, "ns", objects("a=1", "b=2", "c=3", "a=4"), w))(t); v != 1 {
		t.Errorf("version %d, want 1", v)
	}
	b.wantMemory("ns", 1, "b=2", "c=3", "a=4")
	b.remember("ns", "b=5", "d=6")
	b.wantMemory("ns", 2, "c=3", "a=4", "b=5", "d=6")
	f := must(b.repo.ReadMemory(ctx, "ns", 2))(t)
	if r, _ := f.Lookup("c"); r.Commit != w || r.CreatedAt.IsZero() {
		t.Errorf("kept record %+v, want its envelope %+v", r, w)
	}
	attrs := must(b.store.Head(ctx, layout.MemoryKey("ns", 2)))(t)
	if attrs.ContentType != "application/json" || attrs.ContentEncoding != "zstd" || attrs.CacheControl != "max-age=31536000, immutable" {
		t.Errorf("attributes %+v", attrs)
	}
	if _, err := b.repo.WriteMemory(ctx, "ns", objects("a/b=1"), w); err == nil {
		t.Error("a name with a slash was written")
	}
	if _, err := b.repo.WriteMemory(ctx, "ns/..", objects("a=1"), w); err == nil {
		t.Error("a namespace that leaves its place was written")
	}
}

// S18-5: records of others stay as they are, with what this version does not know of.
func TestWriteMemoryKeepsUnknownFields(t *testing.T) {
	b := setUp(t)
	record := `{"name":"old","novel":{"x":[1,2.50]},"sequence-number":17,"commit":{"session":"` + b.newID().String() +
		`","version":4294967295,"transaction":18446744073709551615,"more":true}}`
	b.write(layout.MemoryKey("ns", 1), []byte("[\n"+record+"\n]"), store.Attributes{})
	b.remember("ns", "new=1")
	body := plainBody(t, b, layout.MemoryKey("ns", 2))
	if !strings.Contains(body, record) {
		t.Errorf("%s\nlost what was in\n%s", body, record)
	}
}

// S8.3-5, S13.4-2: merged again from what landed, as often as it takes.
func TestWriteMemoryMeetsOthers(t *testing.T) {
	b := setUp(t)
	b.remember("ns", "a=1", "b=2")
	b.before("PUT "+layout.MemoryKey("ns", 2), func() {
		b.remember("ns", "x=foreign", "b=foreign")
		b.remember("ns", "y=foreign", "a=foreign")
	})
	if v := must(b.repo.WriteMemory(ctx, "ns", objects("b=mine", "c=mine"), b.writer()))(t); v != 4 {
		t.Errorf("version %d, want 4", v)
	}
	b.wantMemory("ns", 4, "x=foreign", "y=foreign", "a=foreign", "b=mine", "c=mine")
}

func TestWriteMemoryLostAnswer(t *testing.T) {
	for _, fate := range []verdict{lose, loseThenRetry} {
		b := setUp(t)
		b.remember("ns", "a=1")
		b.meet("PUT "+layout.MemoryKey("ns", 2), fate)
		if v := must(b.repo.WriteMemory(ctx, "ns", objects("b=2"), b.writer()))(t); v != 2 {
			t.Errorf("version %d, want 2", v)
		}
		b.wantMemory("ns", 2, "a=1", "b=2")
	}
}

// S2.5-5: one stale listing costs one doomed write, however much it hides.
func TestWriteMemoryStaleListing(t *testing.T) {
	b := setUp(t)
	for i := range 20 {
		b.remember("ns", fmt.Sprint("a", i, "=1"))
	}
	stale := session.New(staleList{b.store}, session.Options{})
	if v := must(stale.WriteMemory(ctx, "ns", objects("b=2"), b.writer()))(t); v != 21 {
		t.Errorf("version %d, want 21", v)
	}
	puts := slices.DeleteFunc(b.store.since(0), func(r string) bool { return !strings.HasPrefix(r, "PUT ") })
	if len(puts) != 2 {
		t.Errorf("writes: %q", puts)
	}
}

func TestWriteMemoryGivesUp(t *testing.T) {
	b := setUp(t)
	b.repo = session.New(b.store, session.Options{Attempts: 3})
	n := 0
	b.store.hook = func(r string) verdict {
		if strings.HasPrefix(r, "PUT ") {
			n++
			b.remember("ns", fmt.Sprint("x", n, "=1"))
		}
		return pass
	}
	_, err := b.repo.WriteMemory(ctx, "ns", objects("mine=1"), b.writer())
	wantError(t, err, session.ErrGaveUp)
	b.wantMemory("ns", 3, "x1=1", "x2=1", "x3=1")
}

// S13.4: many writers at once, none is lost.
func TestWriteMemoryConcurrently(t *testing.T) {
	b := setUp(t)
	var wg sync.WaitGroup
	for i := range 16 {
		w := b.writer()
		wg.Go(func() {
			if _, err := b.other().WriteMemory(ctx, "ns", objects(fmt.Sprint("n", i, "=1"), fmt.Sprint("last=", i)), w); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	f := must(b.other().ReadMemory(ctx, "ns", 16))(t)
	if len(f.Records) != 17 {
		t.Errorf("%d records, want 17", len(f.Records))
	}
}

// F-5, S8.4-3: nested namespaces that sort before the files of the outer one.
func TestNestedNamespaces(t *testing.T) {
	b := setUp(t)
	b.remember("user", "old=1", "k=1")
	b.remember("user/123", "x=2")
	b.remember("user/A/b", "x=3")
	b.remember("user/zed", "x=4")
	b.remember("user", "k=5")
	b.wantMemory("user", 2, "old=1", "k=5")
	for key, want := range map[string]string{"user/old": "1", "user/k": "5", "user/123/x": "2", "user/A/b/x": "3", "user/zed/x": "4"} {
		r, err := b.repo.LookupMemory(ctx, key)
		if err != nil || string(r.Data) != want {
			t.Errorf("%s: %q, %v, want %q", key, r.Data, err, want)
		}
	}
	for _, key := range []string{"user", "user/x", "user/A/x", "user/123/old", "user/123/x/y", "user//k", "", "/", "user/"} {
		if _, err := b.repo.LookupMemory(ctx, key); err == nil {
			t.Errorf("%q was found", key)
		} else {
			wantError(t, err, session.ErrNameNotFound)
		}
	}
	got := must(b.repo.Namespaces(ctx))(t)
	if len(got) != 4 || got["user"] != 2 || got["user/A/b"] != 1 {
		t.Errorf("namespaces %v", got)
	}
	if v := b.remember("user/A", "x=6"); v != 1 {
		t.Errorf("user/A is at version %d, want 1", v)
	}
}

// A flat namespace costs one listing of one key, whatever lies beside it.
func TestLookupMemoryCost(t *testing.T) {
	b := setUp(t)
	for i := range 30 {
		b.remember("ns", fmt.Sprint("a=", i))
	}
	must(b.repo.LookupMemory(ctx, "ns/a"))(t)
	if got := b.store.since(0); !slices.Equal(got, []string{"LIST memories/ns/", "GET " + layout.MemoryKey("ns", 30)}) {
		t.Errorf("requests: %q", got)
	}
}
