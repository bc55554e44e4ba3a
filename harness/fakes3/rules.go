package fakes3

import (
	"context"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Decision says what becomes of one request. The zero Decision is [Pass].
type Decision struct {
	withhold bool   // never reaches the store
	drop     bool   // the connection is closed without an answer
	status   int    // answered with this error; 0: with the store's own answer
	code     string // S3 error code that goes with status
	fate     string
	hide     func(key string) bool
	then     func(ctx context.Context, r *Request)
}

// Pass lets the request take its effect and be answered.
func Pass() Decision { return Decision{} }

// Fail answers with an error, such as 503 and "SlowDown"; the request takes no effect.
func Fail(status int, code string) Decision {
	return Decision{withhold: true, status: status, code: code, fate: "failed before"}
}

// Drop closes the connection without an answer; the request takes no effect.
//
// A client may send a GET or HEAD again by itself when a connection that it had used before is closed on it, as Go's
// net/http does: such a retry is a request of its own in the record.
func Drop() Decision { return Decision{withhold: true, drop: true, fate: "dropped before"} }

// Lose lets the request take its effect, and closes the connection without an answer.
func Lose() Decision { return Decision{drop: true, fate: "response lost"} }

// LoseAs lets the request take its effect, and answers with an error all the same.
func LoseAs(status int, code string) Decision {
	return Decision{status: status, code: code, fate: "applied, answered with an error"}
}

// Hide lets a listing pass, but answered as though the keys for which hidden holds were not there: what a store
// shows whose listings lag behind. On other requests it is the same as [Pass].
func Hide(hidden func(key string) bool) Decision {
	return Decision{hide: hidden}
}

// Then returns d with a step between effect and answer: then is called after the request took (or was denied) its
// effect and before it is answered (or its answer withheld), so blocking in it holds the answer. r shows the answer to
// come; ctx ends as it does for [Server.Intercept].
func (d Decision) Then(then func(ctx context.Context, r *Request)) Decision {
	d.then = then
	return d
}

// Match tells whether a rule is about a request. It is called from the goroutines of the requests, at once for several;
// at most once for each request and rule. It must not change the request.
type Match func(*Request) bool

type rule struct {
	match  Match
	decide func(ctx context.Context, r *Request) Decision
}

// rules is the list of rules, replaced as a whole when it changes.
type rules struct {
	mu   sync.Mutex
	list atomic.Pointer[[]*rule]
}

func (rs *rules) current() []*rule {
	if list := rs.list.Load(); list != nil {
		return *list
	}
	return nil
}

func (rs *rules) add(r *rule) (remove func()) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	list := append(slices.Clone(rs.current()), r)
	rs.list.Store(&list)
	return func() {
		rs.mu.Lock()
		defer rs.mu.Unlock()
		list := slices.DeleteFunc(slices.Clone(rs.current()), func(other *rule) bool { return other == r })
		rs.list.Store(&list)
	}
}

// Intercept adds a rule, and returns what removes it again. For each request, once it has arrived in full and before it
// takes effect, the rules are asked in the order in which they were added; the first whose m says true decides, and the
// others are not asked. A request that no rule matches passes.
//
// decide runs in the request's own goroutine, so that blocking in it holds this request and no other. Its ctx ends when
// the client goes away or the server closes; a decide that blocks must mind it, for [Server.Close] waits for it. r is a
// copy taken before the effect. A decide that panics drops the request, and Close returns what it said.
func (s *Server) Intercept(m Match, decide func(ctx context.Context, r *Request) Decision) (remove func()) {
	return s.rules.add(&rule{match: m, decide: decide})
}

// Any matches every request.
func Any() Match { return func(*Request) bool { return true } }

// OfOp matches requests for one of the operations.
func OfOp(ops ...Op) Match {
	return func(r *Request) bool { return slices.Contains(ops, r.Op) }
}

// KeyPrefix matches requests whose key starts with prefix, and listings of nothing but such keys.
func KeyPrefix(prefix string) Match {
	return func(r *Request) bool {
		if r.Op == OpList {
			return strings.HasPrefix(r.ListPrefix, prefix)
		}
		return r.Key != "" && strings.HasPrefix(r.Key, prefix)
	}
}

// KeySuffix matches requests whose key ends with suffix.
func KeySuffix(suffix string) Match {
	return func(r *Request) bool { return r.Key != "" && strings.HasSuffix(r.Key, suffix) }
}

// From matches requests signed with the access key ID caller.
func From(caller string) Match { return func(r *Request) bool { return r.Caller == caller } }

// Number matches the request with that number.
func Number(n int) Match { return func(r *Request) bool { return r.N == n } }

// And matches where all of ms match. They are asked in order up to the first that does not.
func And(ms ...Match) Match {
	return func(r *Request) bool {
		for _, m := range ms {
			if !m(r) {
				return false
			}
		}
		return true
	}
}

// Or matches where one of ms matches. They are asked in order up to the first that does.
func Or(ms ...Match) Match {
	return func(r *Request) bool {
		for _, m := range ms {
			if m(r) {
				return true
			}
		}
		return false
	}
}

// Not matches where m does not.
func Not(m Match) Match { return func(r *Request) bool { return !m(r) } }

// Nth matches the nth request (from 1) for which m holds, in the order in which they are asked about, and no other.
func Nth(n int, m Match) Match {
	var seen atomic.Int64
	return func(r *Request) bool { return m(r) && seen.Add(1) == int64(n) }
}
