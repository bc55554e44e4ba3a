package fakes3_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

func TestGateOrdersRequests(t *testing.T) {
	s := start(t)
	ctx := within(t)
	g := s.Gate(fakes3.OfOp(fakes3.OpPut), 2)
	results := make(map[string]int)
	var mu sync.Mutex
	var done sync.WaitGroup
	for _, body := range []string{"one", "two"} {
		done.Go(func() {
			got := raw(t, s, "PUT", "/bucket/k", body, "If-None-Match: *")
			mu.Lock()
			defer mu.Unlock()
			results[body] = got.status
		})
	}
	held := map[string]*fakes3.Request{}
	for range 2 {
		r, err := g.Wait(ctx)
		if err != nil {
			t.Fatal(err)
		}
		held[string(r.Body)] = r
	}
	if n := len(g.Held()); n != 2 {
		t.Errorf("%d are held", n)
	}
	for _, r := range s.Requests() {
		if r.Fate != "held" || !r.InFlight() {
			t.Errorf("a held request is %v", r)
		}
	}
	wantReply(t, "others pass", raw(t, s, "GET", "/bucket/k", ""), 404, "NoSuchKey")

	g.Release(held["two"], fakes3.Pass())
	if _, err := s.Await(ctx, func(r *fakes3.Request) bool { return r.N == held["two"].N && !r.InFlight() }); err != nil {
		t.Fatal(err)
	}
	wantBody(t, s, "k", "two")
	g.Release(held["two"], fakes3.Pass()) // nothing any more
	g.Release(held["one"], fakes3.Pass())
	done.Wait()
	if results["one"] != 412 || results["two"] != 200 {
		t.Errorf("%v", results)
	}
	wantReply(t, "a third is not held", raw(t, s, "PUT", "/bucket/k", "three"), 200, "")
	if r := s.Requests()[0]; r.Fate != "held" {
		t.Errorf("a released request is %v", r)
	}
}

func TestGateReleasesByDecision(t *testing.T) {
	s := start(t)
	g := s.Gate(fakes3.Any(), 0)
	answer := make(chan reply, 1)
	go func() {
		got, _ := send(s, "PUT", "/bucket/k", "x")
		answer <- got
	}()
	r, err := g.Wait(within(t))
	if err != nil {
		t.Fatal(err)
	}
	g.Release(r, fakes3.Fail(500, "InternalError"))
	wantReply(t, "released", <-answer, 500, "InternalError")
	wantAbsent(t, s, "k")
	if r := last(t, s); r.Fate != "held, then failed before" {
		t.Errorf("recorded as %v", r)
	}
}

func TestOpenGate(t *testing.T) {
	s := start(t)
	g := s.Gate(fakes3.Any(), 0)
	var done sync.WaitGroup
	for i := range 3 {
		done.Go(func() { raw(t, s, "PUT", fmt.Sprintf("/bucket/k%d", i), "x").expect(t, 200) })
	}
	if _, err := g.Wait(within(t)); err != nil {
		t.Fatal(err)
	}
	g.Open()
	g.Open()
	done.Wait()
	raw(t, s, "PUT", "/bucket/later", "x").expect(t, 200)
	if _, err := g.Wait(within(t)); err != fakes3.ErrGateOpen {
		t.Errorf("Wait: %v", err)
	}
}

func TestAHeldRequestWhoseClientGoesAwayIsNotApplied(t *testing.T) {
	s := start(t)
	ctx := within(t)
	g := s.Gate(fakes3.Any(), 0)
	client, cancel := context.WithCancel(ctx)
	rq, err := http.NewRequestWithContext(client, "PUT", s.Endpoint()+"/bucket/k", strings.NewReader("x"))
	if err != nil {
		t.Fatal(err)
	}
	gone := make(chan struct{})
	go func() {
		defer close(gone)
		if rs, err := http.DefaultClient.Do(rq); err == nil {
			rs.Body.Close()
			t.Error("answered")
		}
	}()
	r, err := g.Wait(ctx)
	if err != nil {
		t.Fatal(err)
	}
	cancel()
	<-gone
	ended, err := s.Await(ctx, func(r *fakes3.Request) bool { return !r.InFlight() })
	if err != nil {
		t.Fatal(err)
	}
	if ended.Took != fakes3.NotApplied || ended.Fate != "held, then dropped when the client went away" || len(g.Held()) != 0 {
		t.Errorf("recorded as %v", ended)
	}
	g.Release(r, fakes3.Pass())
	wantAbsent(t, s, "k")
}
