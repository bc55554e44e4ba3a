package main

import (
	"encoding/base64"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/dir"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
)

// servedBucket is a bucket on an S3 server whose requests can be held, with two sessions.
type servedBucket struct {
	*testing.T
	server     *fakes3.Server
	id, target layout.SessionID
}

const servedBucketName = "bucket"

func newServedBucket(t *testing.T) *servedBucket {
	t.Helper()
	server, err := fakes3.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := server.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := server.CreateBucket(servedBucketName); err != nil {
		t.Fatal(err)
	}
	b := &servedBucket{T: t, server: server}
	b.write(func(repo *session.Repo) {
		for _, id := range []*layout.SessionID{&b.id, &b.target} {
			m, err := repo.Create(t.Context(), session.Manifest{})
			if err != nil {
				t.Fatal(err)
			}
			*id = m.Session
		}
	})
	return b
}

// write adds what do writes to the bucket.
func (b *servedBucket) write(do func(*session.Repo)) {
	b.Helper()
	s := b.copy()
	do(session.New(s, session.Options{}))
	for key, err := range store.Keys(b.Context(), s, "") {
		if err != nil {
			b.Fatal(err)
		}
		body, attrs, err := store.Get(b.Context(), s, key)
		if err != nil {
			b.Fatal(err)
		}
		if err := b.server.Put(servedBucketName, key, fakes3.Object{Body: body, ContentType: attrs.ContentType,
			ContentEncoding: attrs.ContentEncoding, CacheControl: attrs.CacheControl, Metadata: attrs.Metadata}); err != nil {
			b.Fatal(err)
		}
	}
}

// copy is a bucket in memory with the same objects.
func (b *servedBucket) copy() store.Store {
	b.Helper()
	s := mem.New()
	for _, key := range b.server.Keys(servedBucketName, "") {
		o, ok := b.server.Get(servedBucketName, key)
		if !ok {
			b.Fatalf("%s is gone", key)
		}
		if _, err := store.PutBytes(b.Context(), s, key, o.Body, store.PutOptions{Attributes: store.Attributes{ContentType: o.ContentType,
			ContentEncoding: o.ContentEncoding, CacheControl: o.CacheControl, Metadata: o.Metadata}}); err != nil {
			b.Fatal(err)
		}
	}
	return s
}

// run starts a run of the session. What comes before and behind -- are flags and the handler.
func (b *servedBucket) run(env []string, args ...string) *process {
	b.Helper()
	env = append([]string{"AWS_ENDPOINT_URL=" + b.server.Endpoint(), "AWS_ACCESS_KEY_ID=test", "AWS_SECRET_ACCESS_KEY=test",
		"AWS_REGION=us-east-1"}, env...)
	return startProcess(b.T, env, append([]string{"reference", "run", "--bucket", "s3://" + servedBucketName, "--session", b.id.String()}, args...)...)
}

func (b *servedBucket) snapshot(id layout.SessionID, version uint32) string {
	b.Helper()
	path, err := id.Path()
	if err != nil {
		b.Fatal(err)
	}
	return path.Snapshot(version)
}

// wantDone wants all that work leads to, or none of it.
func (b *servedBucket) wantDone(done bool) {
	b.Helper()
	for what, prefix := range map[string]string{
		"commit": b.snapshot(b.id, 1), "memory": "memories/ns/", "delivery": b.snapshot(b.target, 1),
	} {
		if there := len(b.server.Keys(servedBucketName, prefix)) > 0; there != done {
			b.Errorf("the %s is there: %v, want %v", what, there, done)
		}
	}
}

// work is the output stream of a handler that appends, remembers, and writes to the target.
func (b *servedBucket) work() string {
	data := `"data":"` + base64.StdEncoding.EncodeToString([]byte("body")) + `"`
	return `{"name":"a",` + data + `}{"name":"memories/ns/k",` + data + `}{"name":"x","session":"` + b.target.String() + `",` + data + `}`
}

// sleep lays out that the session sleeps until t.
func (b *servedBucket) sleep(t time.Time) {
	b.Helper()
	b.write(func(repo *session.Repo) {
		body, err := session.Control{Status: session.StatusStopped, StartAt: t}.Encode()
		if err != nil {
			b.Fatal(err)
		}
		d, err := repo.PutBlob(b.Context(), body, session.Media{ContentType: session.ControlType})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := repo.Commit(b.Context(), session.Commit{Session: b.id, Type: session.Checkpoint, Descriptors: []session.Descriptor{d}}); err != nil {
			b.Fatal(err)
		}
	})
}

// awaitSleep waits until a run has read all that there is before it sleeps.
func (b *servedBucket) awaitSleep() {
	b.Helper()
	read := fakes3.And(fakes3.OfOp(fakes3.OpGet), fakes3.KeySuffix(b.snapshot(b.id, 1)), func(r *fakes3.Request) bool { return !r.InFlight() })
	if _, err := b.server.Await(within(b.T), read); err != nil {
		b.Fatal(err)
	}
}

// An interrupted sleep changes nothing: the session sleeps on, and is woken by whoever runs it when the time has come.
func TestInterruptedSleep(t *testing.T) {
	t.Parallel()
	bySignal(t, func(t *testing.T, s syscall.Signal) {
		b := newServedBucket(t)
		b.sleep(time.Now().Add(10 * time.Minute))
		before := len(b.server.Keys(servedBucketName, ""))
		p := b.run(nil, "--", "false")
		b.awaitSleep()
		p.signal(s)
		p.wantExit(1, "interrupted: ")
		if after := len(b.server.Keys(servedBucketName, "")); after != before {
			t.Errorf("%d objects became %d", before, after)
		}
	})
	t.Run("woken later", func(t *testing.T) {
		t.Parallel()
		b := newServedBucket(t)
		startAt := time.Now().Add(4 * time.Second)
		b.sleep(startAt)
		p := b.run(nil, "--", "false")
		b.awaitSleep()
		p.signal(syscall.SIGINT)
		p.wantExit(1, "interrupted: ")
		p = b.run(nil, "--", "sh", "-c", `cat >&2`)
		p.wantExit(0, `{"event":"wake"}`)
		if time.Now().Before(startAt) {
			t.Error("it is woken before its time")
		}
	})
}

// Whatever a handler is and does, it is ended with all that it has started, and nothing of it is committed.
func TestInterruptedHandler(t *testing.T) {
	t.Parallel()
	up := `: >"$` + markVariable + `"; `
	for name, handler := range map[string][]string{
		"patient":      {"--", "sh", "-c", `echo '{"name":"x"}'; ` + up + `exec sleep 1000`},
		"deaf":         {"--", "sh", "-c", `trap "" INT TERM; sleep 1000 & (sleep 1000 & sleep 1000) & ` + up + `while :; do sleep 1000; done`},
		"deaf reader":  {"--", "sh", "-c", `trap "" INT TERM; ` + up + `sleep 1000; cat`},
		"service":      {"--rpc", "--", "service"},
		"deaf service": {"--rpc", "--", "sh", "-c", `trap "" INT TERM; sleep 1000 & service`},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			bySignal(t, func(t *testing.T, s syscall.Signal) {
				testInterruptedHandler(t, s, nil, handler...)
			})
		})
	}
	t.Run("http", func(t *testing.T) {
		t.Parallel()
		bySignal(t, func(t *testing.T, s syscall.Signal) {
			mark := t.TempDir() + "/up"
			server := httptest.NewServer(serviceHandler(mark, ""))
			t.Cleanup(server.Close)
			testInterruptedHandler(t, s, &mark, "--", server.URL)
			await(t, "the handler sees its client go away", func() bool { return thereIs(mark + ".gone") })
		})
	})
}

func testInterruptedHandler(t *testing.T, s syscall.Signal, mark *string, args ...string) {
	root := t.TempDir()
	bucket, err := dir.Open(root)
	if err != nil {
		t.Fatal(err)
	}
	repo := session.New(bucket, session.Options{})
	m, err := repo.Create(t.Context(), session.Manifest{})
	if err != nil {
		t.Fatal(err)
	}
	p := startProcess(t, nil, append([]string{"reference", "run", "--bucket", root, "--session", m.Session.String()}, args...)...)
	if mark != nil {
		await(t, "the handler is called", func() bool { return thereIs(*mark) })
	} else {
		p.awaitHandler()
	}
	p.signal(s)
	p.wantExit(1, "interrupted: ", "nothing is committed")
	p.wantNoStrays()
	if v, err := repo.Latest(t.Context(), m.Session); v != 0 || err != nil {
		t.Errorf("version %d, %v", v, err)
	}
}

// A commit that has begun is completed, with the memory and the deliveries that belong to it.
func TestInterruptedCommit(t *testing.T) {
	t.Parallel()
	for name, held := range map[string]func(*servedBucket) string{
		"snapshot": func(b *servedBucket) string { return b.snapshot(b.id, 1) },
		"memory":   func(b *servedBucket) string { return "memories/ns/" + layout.VersionFile(1) },
		"delivery": func(b *servedBucket) string { return b.snapshot(b.target, 1) },
	} {
		for _, transport := range []string{"process", "http", "rpc"} {
			t.Run(name+"/"+transport, func(t *testing.T) {
				t.Parallel()
				bySignal(t, func(t *testing.T, s syscall.Signal) {
					b := newServedBucket(t)
					gate, p := b.hold(held(b), transport)
					p.signal(s)
					gate.Open()
					p.wantExit(0)
					b.wantDone(true)
				})
			})
		}
	}
}

// hold starts a run, and returns when the request that writes the key is held.
func (b *servedBucket) hold(key, transport string) (*fakes3.Gate, *process) {
	b.Helper()
	gate := b.server.Gate(fakes3.And(fakes3.OfOp(fakes3.OpPut), fakes3.KeyPrefix(key)), 0)
	var env, args []string
	switch transport {
	case "process":
		args = []string{"--", "sh", "-c", "cat >/dev/null; echo '" + b.work() + "'"}
	case "http":
		server := httptest.NewServer(serviceHandler(b.TempDir()+"/up", b.work()))
		b.Cleanup(server.Close)
		args = []string{"--", server.URL}
	case "rpc":
		env, args = []string{answerVariable + "=" + b.work()}, []string{"--rpc", "--", "service"}
	}
	p := b.run(env, args...)
	if _, err := gate.Wait(within(b.T)); err != nil {
		b.Fatal(err)
	}
	return gate, p
}

// The handler stops while something arrives: the commit is completed, and whoever interrupts it learns that the wake is missing.
func TestInterruptedStop(t *testing.T) {
	t.Parallel()
	bySignal(t, func(t *testing.T, s syscall.Signal) {
		b := newServedBucket(t)
		gate := b.server.Gate(fakes3.And(fakes3.OfOp(fakes3.OpPut), fakes3.KeyPrefix(b.snapshot(b.id, 1))), 0)
		p := b.run(nil, "--", "sh", "-c", `cat >/dev/null; echo '{"content-type":"application/vnd.pugmark.pause+text"}'`)
		if _, err := gate.Wait(within(t)); err != nil {
			t.Fatal(err)
		}
		b.write(func(repo *session.Repo) {
			if _, err := repo.Push(t.Context(), b.id, session.Provisional, session.Tombstone("n")); err != nil {
				t.Fatal(err)
			}
		})
		p.signal(s)
		gate.Open()
		p.wantExit(1, "interrupted: ", "stopped with version 2", "wait for the next wake")
		if _, ok := b.server.Get(servedBucketName, b.snapshot(b.id, 2)); !ok {
			t.Error("the commit is missing")
		}
	})
}

// Before the commit has begun, an interruption ends it all.
func TestInterruptedUpload(t *testing.T) {
	t.Parallel()
	bySignal(t, func(t *testing.T, s syscall.Signal) {
		b := newServedBucket(t)
		_, p := b.hold("objects/", "process")
		p.signal(s)
		p.wantExit(1, "interrupted: ", "nothing is committed")
		b.wantDone(false)
	})
}

// The second signal ends even a commit that never comes to its end, and the next run does it all again.
func TestInterruptedTwice(t *testing.T) {
	t.Parallel()
	bySignal(t, func(t *testing.T, s syscall.Signal) {
		b := newServedBucket(t)
		gate, p := b.hold(b.snapshot(b.id, 1), "process")
		await(t, "signals kill it", func() bool {
			select {
			case <-p.ended:
				return true
			default:
				p.signal(s)
				return false
			}
		})
		if status, text := p.end(); !status.Signaled() || status.Signal() != s {
			t.Errorf("got %v; it said %q", status, text)
		}
		p.wantNoStrays()
		gate.Open()
		b.wantDone(false)
		b.run(nil, "--", "sh", "-c", "cat >/dev/null; echo '"+b.work()+"'").wantExit(0)
		b.wantDone(true)
		if strings.Count(strings.Join(b.server.Keys(servedBucketName, "sessions/"), " "), "/snapshots/") != 2 {
			t.Errorf("there is something twice: %q", b.server.Keys(servedBucketName, "sessions/"))
		}
	})
}
