package main

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/serve"
	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
)

// serverFaults spoil the two services that a handler fetches bodies from.
var serverFaults = map[string]Fault{
	"memory-service-nowhere": served(nil, func(s *services) { s.root = "http://127.0.0.1:1/memories/" }),
	"urls-without-host": replay(func(in *stream.Input) {
		if at := strings.LastIndex(in.URL, "/"); at >= 0 {
			in.URL = in.URL[at:]
		}
	}),
	"object-urls-without-algorithm": served(
		pathOf(func(path string) string { return strings.Replace(path, "/objects/", "/sha256:", 1) }),
		func(s *services) {
			s.url = func(plain string) string { return strings.Replace(plain, "/sha256:", "/objects/", 1) }
		}),
	"object-urls-in-upper-case": served(pathOf(strings.ToLower), func(s *services) {
		s.url = func(plain string) string {
			at := strings.LastIndexByte(plain, ':') + 1
			return plain[:at] + strings.ToUpper(plain[at:])
		}
	}),
	"object-urls-are-tokens": tokenURLs(),
	"flat-memory-only": served(memoryOnly(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if strings.Count(r.URL.Path, "/") > 1 {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	}), nil),
	"deep-memory-hidden": served(memoryOnly(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if strings.Count(r.URL.Path, "/") > 2 {
			http.NotFound(w, r)
			return
		}
		next.ServeHTTP(w, r)
	}), nil),
	"memory-for-ten-seconds":  served(memoryOnly(forTenSeconds()), nil),
	"objects-for-ten-seconds": served(objectsOnly(forTenSeconds()), nil),
	"partial-content": served(objectsOnly(rewritten(func(a *answer) {
		if a.status == http.StatusOK {
			a.status = http.StatusPartialContent
		}
	})), nil),
	"memory-records-served": served(memoryOnly(rewritten(func(a *answer) {
		if a.status == http.StatusOK {
			a.body = fmt.Appendf(nil, `{"name":"x","size":%d}`, len(a.body))
		}
	})), nil),
	"types-sniffed": served(objectsOnly(rewritten(func(a *answer) {
		if a.status == http.StatusOK {
			a.header.Set("Content-Type", http.DetectContentType(a.body))
		}
	})), nil),
	"memory-types-lost": served(memoryOnly(rewritten(func(a *answer) { a.header.Set("Content-Type", "application/octet-stream") })), nil),
	"gzip-undone": served(objectsOnly(rewritten(func(a *answer) {
		if a.header.Get("Content-Encoding") == "gzip" {
			if r, err := gzip.NewReader(bytes.NewReader(a.body)); err == nil {
				a.body, _ = io.ReadAll(r)
			}
		}
	})), nil),
	"memory-unpacked": served(memoryOnly(rewritten(func(a *answer) {
		if a.header.Get("Content-Encoding") == "zstd" {
			d, _ := zstd.NewReader(nil)
			defer d.Close()
			a.body, _ = d.DecodeAll(a.body, nil)
			a.header.Del("Content-Encoding")
		}
	})), nil),
	"unknown-object-is-500": served(objectsOnly(rewritten(func(a *answer) {
		if a.status == http.StatusNotFound {
			a.status = http.StatusInternalServerError
		}
	})), nil),
	"unknown-memory-hangs-up": served(memoryOnly(rewritten(func(a *answer) {
		if a.status == http.StatusNotFound {
			panic(http.ErrAbortHandler)
		}
	})), nil),
	"json-served-compact": served(objectsOnly(rewritten(func(a *answer) {
		var b bytes.Buffer
		if strings.HasPrefix(a.header.Get("Content-Type"), "application/json") && json.Compact(&b, a.body) == nil {
			a.body = b.Bytes()
		}
	})), nil),
	"first-prefix-wins": served(memoryOnly(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		segment, rest, _ := strings.Cut(r.URL.Path, "/")
		for n := 1; n < len(segment); n++ {
			if a := ask(next, r, segment[:n]+"/"+rest); a.status == http.StatusOK {
				a.send(w)
				return
			}
		}
		next.ServeHTTP(w, r)
	}), nil),
	"names-without-extension": served(memoryPath(func(path string) string {
		if at := strings.LastIndexByte(path, '.'); at > strings.LastIndexByte(path, '/') {
			return path[:at]
		}
		return path
	}), nil),
	"nested-hidden-by-prefix": served(memoryPath(func(path string) string {
		if first, rest, _ := strings.Cut(path, "/"); strings.Contains(rest, "/") {
			return first + "/" + strings.ReplaceAll(rest, "/", "\x00")
		}
		return path
	}), nil),
	"memory-names-in-any-case": served(memoryOnly(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if a := ask(next, r, r.URL.Path); a.status == http.StatusOK {
			a.send(w)
			return
		}
		ask(next, r, strings.ToLower(r.URL.Path)).send(w)
	}), nil),
	"memory-by-query": served(memoryPath(func(string) string { return "no path names memory" }), nil),
}

// services are where an invocation's two services are said to be.
type services struct {
	engine.Servers
	root string
	url  func(plain string) string
}

func (s *services) MemoryRoot() string {
	if s.root != "" {
		return s.root
	}
	return s.Servers.MemoryRoot()
}

func (s *services) ObjectURL(d layout.Digest) string {
	if s.url != nil {
		return s.url(s.Servers.ObjectURL(d))
	}
	return s.Servers.ObjectURL(d)
}

// served wraps the handlers of the two services and what is said of their places.
func served(wrap func(objects, memory http.Handler) (http.Handler, http.Handler), change func(*services)) Fault {
	return Fault{Engine: func(c *engine.Config) {
		c.Servers = func(objects, memory http.Handler) (engine.Servers, error) {
			if wrap != nil {
				objects, memory = wrap(objects, memory)
			}
			started, err := serve.Start(objects, memory)
			if err != nil {
				return nil, err
			}
			s := &services{Servers: started}
			if change != nil {
				change(s)
			}
			return s, nil
		}
	}}
}

type middleware func(next http.Handler, w http.ResponseWriter, r *http.Request)

func objectsOnly(f middleware) func(objects, memory http.Handler) (http.Handler, http.Handler) {
	return func(objects, memory http.Handler) (http.Handler, http.Handler) {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(objects, w, r) }), memory
	}
}

func memoryOnly(f middleware) func(objects, memory http.Handler) (http.Handler, http.Handler) {
	return func(objects, memory http.Handler) (http.Handler, http.Handler) {
		return objects, http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { f(memory, w, r) })
	}
}

func pathOf(change func(path string) string) func(objects, memory http.Handler) (http.Handler, http.Handler) {
	return objectsOnly(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		ask(next, r, change(r.URL.Path)).send(w)
	})
}

func memoryPath(change func(path string) string) func(objects, memory http.Handler) (http.Handler, http.Handler) {
	return memoryOnly(func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		ask(next, r, change(r.URL.Path)).send(w)
	})
}

// forTenSeconds answers during the first ten seconds of the process.
func forTenSeconds() middleware {
	started := time.Now()
	return func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		if time.Since(started) > 10*time.Second {
			http.Error(w, "closed", http.StatusServiceUnavailable)
			return
		}
		next.ServeHTTP(w, r)
	}
}

// answer is a whole response.
type answer struct {
	status int
	header http.Header
	body   []byte
}

// ask has a handler answer a request under another path.
func ask(next http.Handler, r *http.Request, path string) *answer {
	r = r.Clone(r.Context())
	r.URL.Path, r.URL.RawPath = path, ""
	recorder := httptest.NewRecorder()
	next.ServeHTTP(recorder, r)
	return &answer{recorder.Code, recorder.Header(), recorder.Body.Bytes()}
}

func (a *answer) send(w http.ResponseWriter) {
	for name, values := range a.header {
		if name != "Content-Length" {
			w.Header()[name] = values
		}
	}
	w.Header().Set("Content-Length", fmt.Sprint(len(a.body)))
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body)
}

// rewritten changes whole answers.
func rewritten(change func(a *answer)) middleware {
	return func(next http.Handler, w http.ResponseWriter, r *http.Request) {
		a := ask(next, r, r.URL.Path)
		change(a)
		a.send(w)
	}
}

// tokenURLs gives every object an address that says nothing.
func tokenURLs() Fault {
	plain := newMemory()
	return served(pathOf(func(path string) string {
		known, _ := plain.get(path)
		return string(known)
	}), func(s *services) {
		n := 0
		s.url = func(url string) string {
			n++
			at := strings.LastIndexByte(url, '/')
			token := fmt.Sprintf("/object-%d", n)
			plain.keep(token, []byte(url[at:]))
			return url[:at] + token
		}
	})
}
