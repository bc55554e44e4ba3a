package main

import (
	"bytes"
	"context"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/mem"
)

// differences say for each variant what its story shows that the reference's does
// not. A variant that did nothing would prove nothing.
var differences = map[string]func(o *observation) bool{
	"loop-until-idle": func(o *observation) bool {
		return len(o.calls) > 3 && strings.Contains(o.calls[1].raw, `"name":"served"`)
	},
	"invoked-again-after-a-conflict": func(o *observation) bool { return o.attempts == 2 },
	"conflict-by-status":             func(o *observation) bool { return o.conflict != nil },
	"talks":                          func(o *observation) bool { return strings.Contains(o.printed, `{"event":"push"`) },
	"identifiers-of-chacha8": func(o *observation) bool {
		_, ok := o.random.(*shared)
		return ok
	},

	"head-before-get":       func(o *observation) bool { return len(o.sent("head", "/snapshots/")) > 0 },
	"everything-read-twice": func(o *observation) bool { return repeated(o.requests, "open", "refs/") },
	"blobs-only-where-none-is": func(o *observation) bool {
		return len(o.sent("head", "objects/")) > 0 && len(o.sent("put", "objects/"+digestOf(gzipped))) == 1
	},
	"blobs-written-twice":           func(o *observation) bool { return repeated(o.requests, "put", "objects/") },
	"commits-sent-again":            func(o *observation) bool { return repeated(o.requests, "put", "/manifest.json") },
	"manifest-created-after-a-look": func(o *observation) bool { return o.requests[0].op == "head" },
	"memory-as-it-was": func(o *observation) bool {
		return slices.ContainsFunc(o.sent("list", "memories/"), func(r request) bool { return r.key == "memories/" })
	},
	"ten-keys-a-listing": func(o *observation) bool { return o.sent("list", "/snapshots/")[0].max == 10 },

	"bodies-in-blobs-only": func(o *observation) bool {
		return !slices.ContainsFunc(o.descriptors(), func(d map[string]any) bool { return d["data"] != nil })
	},
	"further-fields-at-rest": func(o *observation) bool {
		return o.manifest()["x-labels"] != nil && o.descriptors()[0]["x-origin"] != nil && o.sent("put", "/snapshots/")[0].options.Metadata["schema"] != ""
	},
	"zeros-spelled-out": func(o *observation) bool {
		_, parent := o.manifest()["parent"]
		return parent && o.descriptors()[0]["target-session"] == strings.Repeat("0", 32)
	},
	"times-of-another-zone": func(o *observation) bool {
		at, _ := o.descriptors()[0]["created-at"].(string)
		return strings.HasSuffix(at, "+05:30") && strings.Contains(o.controls(), `+05:30"`)
	},
	"tombstones-of-zeros":         func(o *observation) bool { return o.tombstone()["digest"] == "sha256:"+strings.Repeat("0", 64) },
	"tombstones-of-an-empty-text": func(o *observation) bool { return o.tombstone()["digest"] == "" },
	"tombstones-of-a-body":        func(o *observation) bool { return o.tombstone()["digest"] == digestOf(nil) },
	"numbered-from-zero":          func(o *observation) bool { return o.numbered() == "" },
	"numbered-from-a-thousand":    func(o *observation) bool { return o.numbered() == "1000" },
	"numbered-from-below-zero":    func(o *observation) bool { return o.numbered() == "-5" },
	"documents-in-other-words": func(o *observation) bool {
		snapshot := o.sent("put", "/snapshots/")[0]
		return bytes.Contains(o.sent("put", "/manifest.json")[0].body, []byte(`\u0073`)) && bytes.Contains((&write{body: snapshot.body}).document(), []byte(`\u006e`)) &&
			strings.Contains(o.controls(), `\u0073`)
	},
	"zstd-in-several-frames": func(o *observation) bool {
		return bytes.Count(o.sent("put", "/snapshots/")[0].body, []byte{0x28, 0xb5, 0x2f, 0xfd}) > 1 && bytes.Count(o.sent("put", "memories/")[0].body, []byte{0x28, 0xb5, 0x2f, 0xfd}) > 1
	},
	"types-with-a-charset": func(o *observation) bool {
		return strings.Contains(o.sent("put", "/snapshots/")[0].options.ContentType, "charset")
	},
	"other-cache-control": func(o *observation) bool {
		return strings.Contains(o.sent("put", "/snapshots/")[0].options.CacheControl, "2592000")
	},
	"transactions-in-hex": func(o *observation) bool {
		return len(o.sent("put", "/snapshots/")[0].options.Metadata["pugmark-transaction-id"]) == 16
	},
	"checkpoints-without-type": func(o *observation) bool {
		return slices.ContainsFunc(o.sent("put", "/snapshots/"), func(r request) bool { return r.options.Metadata["pugmark-snapshot-type"] == "" })
	},
	"running-recorded":           func(o *observation) bool { return strings.Contains(o.controls(), "goes on") },
	"stopped-to-the-letter":      func(o *observation) bool { return !strings.Contains(o.controls(), `"running"`) },
	"lost-deliveries-as-success": func(o *observation) bool { return !o.delivered },

	"urls-only":                  func(o *observation) bool { return !strings.Contains(o.stdin, `"data"`) },
	"data-without-url":           func(o *observation) bool { return strings.Count(o.stdin, `"url"`) == 2 },
	"small-bodies-always-inline": func(o *observation) bool { return strings.Count(o.stdin, `"data"`) == 2 },
	"records-in-other-words":     func(o *observation) bool { return strings.Contains(o.stdin, `\u006d`) },
	"further-fields-on-the-wire": func(o *observation) bool { return strings.Count(o.stdin, `"x-hints"`) == 4 },
	"byte-by-byte":               func(o *observation) bool { return o.written > 4096 },
	"push-on-the-last-delta":     func(o *observation) bool { return strings.Count(o.stdin, `"event":"push"`) == 1 },

	"own-old-forks-shown": func(o *observation) bool {
		return len(o.calls) > 1 && strings.Contains(o.calls[1].raw, `"name":"child"`)
	},

	"further-variables": func(o *observation) bool { return o.environment["PUGMARK_RUNTIME"] != "" },
	"bare-environment":  func(o *observation) bool { _, ok := o.environment["HOME"]; return !ok },
	"empty-variables-unset": func(o *observation) bool {
		_, agent := o.environment["PUGMARK_AGENT_ID"]
		_, metadata := o.environment["PUGMARK_SESSION_METADATA"]
		return !agent && !metadata
	},
	"other-variable-name": func(o *observation) bool {
		_, usual := o.environment["PUGMARK_SNAPSHOT_VERSION"]
		return !usual && o.environment["PUGMARK_VERSION"] == "2"
	},
	"through-a-shell": func(o *observation) bool { return o.directory == "/" },
	"no-trace-state": func(o *observation) bool {
		return o.environment["TRACESTATE"] == "" && o.calls[0].head.Get("Tracestate") == ""
	},

	"other-query-names": func(o *observation) bool {
		return strings.Contains(o.calls[0].query, "session_id=") && !strings.Contains(o.calls[0].query, "&session=")
	},
	"further-headers":      func(o *observation) bool { return o.calls[0].head.Get("X-Request-Id") != "" },
	"service-probed-first": func(o *observation) bool { return slices.Contains(o.asides, "GET /healthz") },

	"servers-on-localhost": func(o *observation) bool {
		return strings.HasPrefix(o.memory, "http://localhost:") && len(o.served) > 1
	},
	"servers-on-ipv6": func(o *observation) bool { return strings.HasPrefix(o.memory, "http://[::1]:") && len(o.served) > 1 },
	"a-port-for-each-server": func(o *observation) bool {
		return !strings.HasPrefix(o.served[1].url, strings.TrimSuffix(o.memory, "/memories/"))
	},
	"memory-root-deeper": func(o *observation) bool {
		return strings.HasSuffix(o.memory, "/memories/"+deeper) && string(o.served[0].body) == "m"
	},
	"chunked-answers": func(o *observation) bool { return o.served[1].length < 0 && string(o.served[0].body) == "m" },
	"lost-gzip-declared": func(o *observation) bool {
		return slices.ContainsFunc(o.served, func(s answered) bool {
			return s.header.Get("Content-Encoding") == "gzip" && bytes.Equal(s.body, gzipped)
		})
	},
	"lost-gzip-undone": func(o *observation) bool {
		return slices.ContainsFunc(o.served, func(s answered) bool { return strings.HasPrefix(string(s.body), "plain plain") })
	},
}

// elsewhere are the variants that tests of their own prove.
var elsewhere = []string{"slow-start", "one-request-at-a-time"}

func TestVariantsDiffer(t *testing.T) {
	t.Setenv("HOME", t.TempDir())
	reference := tell(t, Fault{})
	for name, v := range variants() {
		t.Run(name, func(t *testing.T) {
			differs, ok := differences[name]
			if !ok {
				if !slices.Contains(elsewhere, name) {
					t.Fatal("nothing proves that it differs from the reference")
				}
				return
			}
			if name == "servers-on-ipv6" {
				l, err := net.Listen("tcp", "[::1]:0")
				if err != nil {
					t.Skip(err)
				}
				l.Close()
			}
			if differs(reference) {
				t.Fatal("what is to show that it differs shows in the reference too")
			}
			if o := tell(t, v); !differs(o) {
				t.Errorf("it does not differ from the reference; stdin %q, controls %q", o.stdin, o.controls())
			}
		})
	}
	for name := range differences {
		if _, ok := variants()[name]; !ok {
			t.Errorf("there is no variant %s", name)
		}
	}
}

// controls are the bodies of all control messages that were written.
func (o *observation) controls() string {
	var b strings.Builder
	for _, d := range o.descriptors() {
		if d["content-type"] == controlType {
			digest, _ := d["digest"].(string)
			for _, r := range o.sent("put", "objects/"+digest) {
				b.Write(r.body)
				break
			}
		}
	}
	return b.String()
}

// repeated tells whether a request was sent twice in a row.
func repeated(requests []request, op, part string) bool {
	for i := 1; i < len(requests); i++ {
		if a, b := requests[i-1], requests[i]; a.op == op && b.op == op && a.key == b.key && strings.Contains(a.key, part) {
			return true
		}
	}
	return false
}

// Before its first request a slow runtime waits, and it can be ended meanwhile.
func TestSlowStart(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	// There is no bucket that it could ask.
	if err := variants()["slow-start"].Run(ctx, engine.Config{}, layout.SessionID{}); err != context.DeadlineExceeded {
		t.Errorf("%v", err)
	}
}

func TestOneRequestAtATime(t *testing.T) {
	for _, c := range []struct {
		how      Fault
		patience time.Duration
		together bool
	}{
		{Fault{Store: func(next store.Store) store.Store { return next }}, time.Minute, true},
		{variants()["one-request-at-a-time"], 20 * time.Millisecond, false},
	} {
		meeting := &meeting{Store: mem.New(), patience: c.patience, both: make(chan struct{})}
		s := c.how.Store(meeting)
		var puts sync.WaitGroup
		for _, key := range []string{"a", "b"} {
			puts.Go(func() { _, _ = store.PutBytes(t.Context(), s, key, nil, store.PutOptions{}) })
		}
		puts.Wait()
		select {
		case <-meeting.both:
			if !c.together {
				t.Error("two requests are under way at once")
			}
		default:
			if c.together {
				t.Error("the reference's requests do not meet")
			}
		}
	}
}

// meeting is a store in which a Put waits for another one to come.
type meeting struct {
	store.Store
	patience time.Duration
	mu       sync.Mutex
	inside   int
	both     chan struct{}
}

func (m *meeting) Put(ctx context.Context, key string, body io.ReadSeeker, options store.PutOptions) (string, error) {
	m.mu.Lock()
	if m.inside++; m.inside == 2 {
		close(m.both)
	}
	m.mu.Unlock()
	select {
	case <-m.both:
	case <-time.After(m.patience):
	}
	m.mu.Lock()
	m.inside--
	m.mu.Unlock()
	return m.Store.Put(ctx, key, body, options)
}
