package serve

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
)

func blob(body, contentType, encoding string) Blob {
	return Blob{io.NopCloser(strings.NewReader(body)), int64(len(body)), contentType, encoding}
}

// start serves a handful of bodies, keyed by digest and by memory key.
func start(t *testing.T) *Server {
	t.Helper()
	html := layout.DigestOf([]byte("<html>"))
	objects := Objects(func(_ context.Context, d layout.Digest) (Blob, error) {
		switch d {
		case html:
			return blob("<html>", "text/plain; charset=utf-8", ""), nil
		case layout.DigestOf(nil):
			return blob("", "", "identity"), nil // no encoding by another name
		case layout.DigestOf([]byte("z")):
			return blob("\x1f\x8bpacked", "application/x.foo+json", "gzip"), nil
		case layout.DigestOf([]byte("large")):
			return blob(strings.Repeat("0123456789", 500_000), "", ""), nil
		case layout.DigestOf([]byte("short")):
			b := blob("half", "", "")
			b.Size = 8
			return b, nil
		case layout.DigestOf([]byte("trouble")):
			return Blob{}, errors.New("the store is away")
		}
		return Blob{}, ErrNotFound
	})
	memory := Memory(func(_ context.Context, key string) (Blob, error) {
		switch key {
		case "ns/x", "user/123/alice/a b", "100%/ä", "sha256:ns/x":
			return blob("memory of "+key, "text/markdown", ""), nil
		}
		return Blob{}, ErrNotFound
	})
	s, err := Start(objects, memory)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// plain neither asks for compression nor undoes it.
var plain = &http.Client{Transport: &http.Transport{DisableCompression: true}}

func get(t *testing.T, method, url string) (*http.Response, string, error) {
	t.Helper()
	req, err := http.NewRequest(method, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("traceparent", "00-000000000000000000000000000000aa-00000000000000bb-01")
	resp, err := plain.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	body, err := io.ReadAll(resp.Body)
	return resp, string(body), err
}

func TestServices(t *testing.T) {
	s := start(t)
	object := func(body string) string { return s.ObjectURL(layout.DigestOf([]byte(body))) }
	root := strings.TrimSuffix(object(""), "/"+layout.DigestOf(nil).String())
	for _, tc := range []struct {
		url, body, contentType, encoding string
		status                           int
	}{
		{url: object("<html>"), status: 200, body: "<html>", contentType: "text/plain; charset=utf-8"},
		{url: object(""), status: 200, contentType: "application/octet-stream"},
		{url: object("z"), status: 200, body: "\x1f\x8bpacked", contentType: "application/x.foo+json", encoding: "gzip"},
		{url: object("large"), status: 200, body: strings.Repeat("0123456789", 500_000), contentType: "application/octet-stream"},
		{url: object("unknown"), status: 404},
		{url: object("trouble"), status: 502},
		{url: root + "/sha256:zz", status: 404},
		{url: root + "/" + strings.ToUpper(layout.DigestOf(nil).String()), status: 404},
		{url: root + "/nope", status: 404},
		{url: root + "/", status: 404},
		{url: root + "//" + layout.DigestOf(nil).String(), status: 404},
		{url: s.MemoryRoot() + "ns/x", status: 200, body: "memory of ns/x", contentType: "text/markdown"},
		{url: s.MemoryRoot() + "user/123/alice/a%20b", status: 200, body: "memory of user/123/alice/a b", contentType: "text/markdown"},
		{url: s.MemoryRoot() + "100%25/%C3%A4", status: 200, body: "memory of 100%/ä", contentType: "text/markdown"},
		{url: s.MemoryRoot() + "sha256:ns/x", status: 200, body: "memory of sha256:ns/x", contentType: "text/markdown"},
		{url: s.MemoryRoot() + "ns/y", status: 404},
		{url: s.MemoryRoot(), status: 404},
		{url: s.MemoryRoot() + "../" + layout.DigestOf(nil).String(), status: 404},
	} {
		resp, body, err := get(t, "GET", tc.url)
		if err != nil || resp.StatusCode != tc.status {
			t.Errorf("%s: status %d, %v", tc.url, resp.StatusCode, err)
			continue
		}
		if tc.status != 200 {
			continue
		}
		if body != tc.body || resp.ContentLength != int64(len(tc.body)) || resp.TransferEncoding != nil {
			t.Errorf("%s: %d bytes, Content-Length %d", tc.url, len(body), resp.ContentLength)
		}
		if got := resp.Header.Get("Content-Type"); got != tc.contentType {
			t.Errorf("%s: Content-Type %q", tc.url, got)
		}
		if got := resp.Header.Get("Content-Encoding"); got != tc.encoding {
			t.Errorf("%s: Content-Encoding %q", tc.url, got)
		}
		head, _, err := get(t, "HEAD", tc.url)
		if err != nil || head.StatusCode != 200 || head.ContentLength != int64(len(tc.body)) {
			t.Errorf("HEAD %s: %v, %v", tc.url, head, err)
		}
	}
}

func TestStartOn(t *testing.T) {
	memory := Memory(func(_ context.Context, key string) (Blob, error) { return blob(key, "", ""), nil })
	for _, host := range []string{"localhost", "127.0.0.1", "::1"} {
		s, err := StartOn(host, nil, memory)
		if err != nil {
			if host == "::1" {
				t.Logf("no IPv6 here: %v", err)
				continue
			}
			t.Fatal(err)
		}
		defer s.Close()
		if resp, body, err := get(t, "GET", s.MemoryRoot()+"n/x"); err != nil || body != "n/x" || resp.Request.URL.Hostname() != host {
			t.Errorf("%s: %q, %v, root %s", host, body, err, s.MemoryRoot())
		}
	}
	for _, host := range []string{"", "0.0.0.0", "::"} {
		if s, err := StartOn(host, nil, memory); err == nil {
			s.Close()
			t.Errorf("started on %q", host)
		}
	}
}

func TestOtherMethodsAreHarmless(t *testing.T) {
	s := start(t)
	for _, method := range []string{"PUT", "POST", "DELETE", "PATCH"} {
		for _, url := range []string{s.ObjectURL(layout.DigestOf(nil)), s.MemoryRoot() + "ns/x"} {
			if resp, _, err := get(t, method, url); err != nil || resp.StatusCode != 405 {
				t.Errorf("%s %s: %v, %v", method, url, resp.StatusCode, err)
			}
		}
	}
}

func TestABodyThatBreaksOffIsNoAnswer(t *testing.T) {
	s := start(t)
	resp, err := plain.Get(s.ObjectURL(layout.DigestOf([]byte("short"))))
	if err != nil {
		return // cut off before the head was sent
	}
	defer resp.Body.Close()
	if body, err := io.ReadAll(resp.Body); err == nil {
		t.Errorf("got %q without an error", body)
	}
}

func TestParallelReaders(t *testing.T) {
	s := start(t)
	url := s.ObjectURL(layout.DigestOf([]byte("large")))
	var readers sync.WaitGroup
	for range 8 {
		readers.Go(func() {
			resp, err := http.Get(url)
			if err != nil {
				t.Error(err)
				return
			}
			defer resp.Body.Close()
			var b bytes.Buffer
			if n, err := io.Copy(&b, resp.Body); n != 5_000_000 || err != nil {
				t.Errorf("%d bytes, %v", n, err)
			}
		})
	}
	readers.Wait()
}

func TestClose(t *testing.T) {
	s := start(t)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := http.Get(s.MemoryRoot() + "ns/x"); err == nil {
		t.Error("still served")
	}
}
