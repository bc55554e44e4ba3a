package fakes3_test

import (
	"context"
	"fmt"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// always decides the same for every request.
func always(d fakes3.Decision) func(context.Context, *fakes3.Request) fakes3.Decision {
	return func(context.Context, *fakes3.Request) fakes3.Decision { return d }
}

func TestDecisions(t *testing.T) {
	for name, c := range map[string]struct {
		decision fakes3.Decision
		status   int // 0: no answer
		code     string
		stored   bool
		recorded int
		fate     string
	}{
		"pass":     {fakes3.Pass(), 200, "", true, 200, ""},
		"zero":     {fakes3.Decision{}, 200, "", true, 200, ""},
		"fail":     {fakes3.Fail(503, "SlowDown"), 503, "SlowDown", false, 503, "failed before"},
		"drop":     {fakes3.Drop(), 0, "", false, 0, "dropped before"},
		"lose":     {fakes3.Lose(), 0, "", true, 200, "response lost"},
		"lose as":  {fakes3.LoseAs(500, "InternalError"), 500, "InternalError", true, 500, "applied, answered with an error"},
		"hide PUT": {fakes3.Hide(func(string) bool { return true }), 200, "", true, 200, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := start(t)
			s.Intercept(fakes3.Any(), always(c.decision))
			got, err := send(s, "PUT", "/bucket/k", "x", "If-None-Match: *")
			switch {
			case c.status == 0 && err == nil:
				t.Errorf("answered with %+v", got)
			case c.status != 0 && err != nil:
				t.Error(err)
			case c.status != 0:
				wantReply(t, "answer", got, c.status, c.code)
			}
			if _, stored := s.Get(bucket, "k"); stored != c.stored {
				t.Errorf("stored: %v", stored)
			}
			r := last(t, s)
			if r.Status != c.recorded || r.Fate != c.fate || (r.Took == fakes3.Applied) != c.stored || r.InFlight() || r.ErrorCode != c.code || !r.Applied.IsZero() != c.stored {
				t.Errorf("recorded as %s", r.Detail())
			}
		})
	}
}

// The SDK tries again after a lost response, and finds its own object in the way.
func TestLostResponseAndRetryThroughTheSDK(t *testing.T) {
	s := start(t)
	s.Intercept(fakes3.Nth(1, fakes3.OfOp(fakes3.OpPut)), always(fakes3.Lose()))
	s.Intercept(fakes3.Nth(1, fakes3.OfOp(fakes3.OpGet)), always(fakes3.Fail(503, "SlowDown")))
	c := sdk(t, s.Endpoint(), func(o *s3.Options) {
		o.Retryer = retry.NewStandard(func(o *retry.StandardOptions) {
			o.Backoff = retry.BackoffDelayerFunc(func(int, error) (time.Duration, error) { return 0, nil })
		})
	})
	_, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), Body: strings.NewReader("x"), IfNoneMatch: aws.String("*")})
	wantCode(t, "the retry", err, "PreconditionFailed")
	wantBody(t, s, "k", "x")
	got, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k")})
	if err != nil {
		t.Fatal(err)
	}
	_ = got.Body.Close()
	var story []string
	for _, r := range s.Requests() {
		story = append(story, fmt.Sprint(r.N, " ", r.Op, " ", r.Status, " ", r.Took, " ", r.Fate))
	}
	want := "1 PutObject 200 applied response lost; 2 PutObject 412 not applied ; 3 GetObject 503 not applied failed before; 4 GetObject 200 applied "
	if got := strings.Join(story, "; "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestRulesAreAskedInOrder(t *testing.T) {
	s := start(t)
	removeFirst := s.Intercept(fakes3.KeyPrefix("a"), always(fakes3.Fail(503, "First")))
	s.Intercept(fakes3.And(fakes3.KeySuffix("z"), fakes3.Not(fakes3.OfOp(fakes3.OpGet))), always(fakes3.Fail(503, "Second")))
	s.Intercept(fakes3.Or(fakes3.From("somebody"), fakes3.Number(6)), always(fakes3.Fail(503, "Third")))

	wantReply(t, "first of two", raw(t, s, "PUT", "/bucket/az", "x"), 503, "First")
	wantReply(t, "second", raw(t, s, "PUT", "/bucket/bz", "x"), 503, "Second")
	wantReply(t, "none", raw(t, s, "GET", "/bucket/bz", ""), 404, "NoSuchKey")
	wantReply(t, "listing of such keys", raw(t, s, "GET", "/bucket?prefix=ab", ""), 503, "First")
	wantReply(t, "caller", raw(t, s, "GET", "/bucket/k", "", "Authorization: AWS4-HMAC-SHA256 Credential=somebody/20260101/r/s3/aws4_request, SignedHeaders=host, Signature=0"), 503, "Third")
	wantReply(t, "number", raw(t, s, "GET", "/bucket/k", ""), 503, "Third")
	removeFirst()
	removeFirst()
	wantReply(t, "first removed", raw(t, s, "PUT", "/bucket/az", "x"), 503, "Second")
}

func TestNthCountsWhatMatches(t *testing.T) {
	s := start(t)
	s.Intercept(fakes3.Nth(2, fakes3.OfOp(fakes3.OpPut)), always(fakes3.Fail(503, "SlowDown")))
	var statuses []int
	for range 3 {
		raw(t, s, "GET", "/bucket/k", "")
		statuses = append(statuses, raw(t, s, "PUT", "/bucket/k", "x").status)
	}
	if fmt.Sprint(statuses) != "[200 503 200]" {
		t.Errorf("%v", statuses)
	}
}

func TestThenComesBetweenEffectAndAnswer(t *testing.T) {
	s := start(t)
	s.Intercept(fakes3.Any(), always(fakes3.Lose().Then(func(_ context.Context, r *fakes3.Request) {
		if _, stored := s.Get(bucket, "k"); !stored || r.Took != fakes3.Applied || r.Status != 200 || !r.InFlight() {
			t.Errorf("stored %v, recorded as %s", stored, r.Detail())
		}
	})))
	if _, err := send(s, "PUT", "/bucket/k", "x"); err == nil {
		t.Error("the response was not lost")
	}
}

func TestThenSeesTheAnswerToCome(t *testing.T) {
	for _, d := range []fakes3.Decision{fakes3.LoseAs(500, "InternalError"), fakes3.Fail(500, "InternalError")} {
		s := start(t)
		s.Intercept(fakes3.Any(), always(d.Then(func(_ context.Context, r *fakes3.Request) {
			if r.Status != 500 || r.ErrorCode != "InternalError" || !r.InFlight() {
				t.Errorf("saw %s", r.Detail())
			}
		})))
		wantReply(t, "PUT", raw(t, s, "PUT", "/bucket/k", "x"), 500, "InternalError")
	}
}

func TestTheHookSeesTheRequestBeforeItsEffect(t *testing.T) {
	s := start(t)
	var seen *fakes3.Request
	s.Intercept(fakes3.Any(), func(_ context.Context, r *fakes3.Request) fakes3.Decision {
		seen = r
		if _, stored := s.Get(bucket, "k"); stored {
			t.Error("stored already")
		}
		if other := s.Requests()[0]; !other.InFlight() || other.Status != 0 || string(other.Body) != "x" {
			t.Errorf("in flight it is %v", other)
		}
		return fakes3.Pass()
	})
	raw(t, s, "PUT", "/bucket/k", "x", "x-amz-checksum-sha256: "+sums("x")["sha256"])
	if string(seen.Body) != "x" || seen.Op != fakes3.OpPut || seen.Checksums["sha256"] == "" || seen.Status != 0 || seen.N != 1 {
		t.Errorf("saw %s", seen.Detail())
	}
}

// within bounds what would otherwise hang.
func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	t.Cleanup(cancel)
	return ctx
}

func TestABodyThatIsCutShortStoresNothing(t *testing.T) {
	s := start(t)
	s.Intercept(fakes3.Any(), func(_ context.Context, r *fakes3.Request) fakes3.Decision {
		t.Error("the hook was asked about half a request")
		return fakes3.Pass()
	})
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Endpoint(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := io.WriteString(conn, "PUT /bucket/k HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nhalf"); err != nil {
		t.Fatal(err)
	}
	conn.Close()
	r, err := s.Await(within(t), func(r *fakes3.Request) bool { return !r.InFlight() })
	if err != nil {
		t.Fatal(err)
	}
	if r.Took != fakes3.NotApplied || !strings.HasPrefix(r.Fate, "client went away") {
		t.Errorf("recorded as %v", r)
	}
	wantAbsent(t, s, "k")
}

func TestAPanickingRuleIsReported(t *testing.T) {
	s, err := fakes3.Start()
	if err != nil {
		t.Fatal(err)
	}
	s.Intercept(fakes3.Any(), func(context.Context, *fakes3.Request) fakes3.Decision { panic("oh no") })
	if _, err := send(s, "GET", "/bucket/k", ""); err == nil {
		t.Error("answered")
	}
	if err := s.Close(); err == nil || !strings.Contains(err.Error(), "oh no") {
		t.Errorf("Close: %v", err)
	}
}

func TestCloseReleasesEverything(t *testing.T) {
	s, err := fakes3.Start()
	if err != nil {
		t.Fatal(err)
	}
	ctx := within(t)
	g := s.Gate(fakes3.OfOp(fakes3.OpPut), 0)
	s.Intercept(fakes3.Any(), func(ctx context.Context, _ *fakes3.Request) fakes3.Decision {
		<-ctx.Done()
		return fakes3.Drop()
	})
	var waiting sync.WaitGroup
	for _, method := range []string{"PUT", "PUT", "GET"} {
		waiting.Go(func() {
			if _, err := send(s, method, "/bucket/k", ""); err == nil {
				t.Errorf("%s was answered", method)
			}
		})
	}
	idle, err := net.Dial("tcp", strings.TrimPrefix(s.Endpoint(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer idle.Close()
	for range 2 {
		if _, err := g.Wait(ctx); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Await(ctx, func(r *fakes3.Request) bool { return r.Op == fakes3.OpGet }); err != nil {
		t.Fatal(err)
	}
	waiting.Go(func() {
		if _, err := g.Wait(ctx); err == nil || !strings.Contains(err.Error(), fakes3.ErrClosed.Error()) {
			t.Errorf("Wait: %v", err)
		}
	})
	waiting.Go(func() {
		if _, err := s.Await(ctx, func(*fakes3.Request) bool { return false }); err == nil {
			t.Error("Await came back with a request")
		}
	})
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	waiting.Wait()
	for _, r := range s.Requests() {
		if r.InFlight() || r.Took != fakes3.NotApplied {
			t.Errorf("after Close: %v", r)
		}
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	if _, err := send(s, "GET", "/bucket/k", ""); err == nil {
		t.Error("answered after Close")
	}
	// The goroutine of a connection ends just after it has said so.
	for ctx.Err() == nil && strings.Contains(stacks(), "net/http.(*conn).serve") {
		runtime.Gosched()
	}
	if left := stacks(); strings.Contains(left, "net/http.(*conn).serve") || strings.Contains(left, "net/http.(*Server).Serve") {
		t.Errorf("goroutines are left:\n%s", left)
	}
}

func stacks() string {
	b := make([]byte, 1<<20)
	return string(b[:runtime.Stack(b, true)])
}
