package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/serve"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
)

// serverVariants serve bodies and memory elsewhere, or with other answers that say
// the same.
var serverVariants = map[string]Fault{
	"servers-on-localhost": servers(func(objects, memory http.Handler) (engine.Servers, error) {
		return serve.StartOn("localhost", objects, memory)
	}),
	"servers-on-ipv6": servers(func(objects, memory http.Handler) (engine.Servers, error) {
		return serve.StartOn("::1", objects, memory)
	}),
	"a-port-for-each-server": servers(func(objects, memory http.Handler) (engine.Servers, error) {
		first, err := serve.Start(objects, http.NotFoundHandler())
		if err != nil {
			return nil, err
		}
		second, err := serve.Start(http.NotFoundHandler(), memory)
		if err != nil {
			first.Close()
			return nil, err
		}
		return apart{first, second}, nil
	}),
	"memory-root-deeper": servers(func(objects, memory http.Handler) (engine.Servers, error) {
		s, err := serve.Start(objects, http.StripPrefix(deeper, memory))
		if err != nil {
			return nil, err
		}
		return moved{s, s.MemoryRoot() + deeper}, nil
	}),
	"chunked-answers":    answers(chunked),
	"lost-gzip-declared": answers(func(h http.Handler) http.Handler { return sniffing(h, false) }),
	"lost-gzip-undone":   answers(func(h http.Handler) http.Handler { return sniffing(h, true) }),
	"memory-as-it-was":   {Engine: memoryAsItWas},
}

const deeper = "v1/of/this/run/"

func servers(start func(objects, memory http.Handler) (engine.Servers, error)) Fault {
	return Fault{Engine: func(c *engine.Config) { c.Servers = start }}
}

type apart struct{ objects, memory *serve.Server }

func (s apart) ObjectURL(d layout.Digest) string { return s.objects.ObjectURL(d) }
func (s apart) MemoryRoot() string               { return s.memory.MemoryRoot() }
func (s apart) Close() error                     { return errors.Join(s.objects.Close(), s.memory.Close()) }

type moved struct {
	engine.Servers
	root string
}

func (s moved) MemoryRoot() string { return s.root }

// answers changes what both servers answer.
func answers(change func(http.Handler) http.Handler) Fault {
	return servers(func(objects, memory http.Handler) (engine.Servers, error) {
		return serve.Start(change(objects), change(memory))
	})
}

// chunked answers without a length, in pieces, and with headers that nobody needs.
func chunked(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet {
			next.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(&pieces{w}, r)
	})
}

type pieces struct{ http.ResponseWriter }

func (p *pieces) Write(b []byte) (int, error) {
	header := p.Header()
	header.Del("Content-Length")
	header.Set("Server", "variant")
	header.Set("X-Content-Type-Options", "nosniff")
	header.Set("Vary", "Accept")
	half := len(b) / 2
	n, err := p.ResponseWriter.Write(b[:half])
	if err == nil {
		if f, ok := p.ResponseWriter.(http.Flusher); ok {
			f.Flush()
		}
		var more int
		more, err = p.ResponseWriter.Write(b[half:])
		n += more
	}
	return n, err
}

// sniffing looks at the first bytes of a body that declares no encoding: one that
// is compressed is declared so, or its compression is undone.
func sniffing(next http.Handler, undo bool) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept := &keptAnswer{header: http.Header{}, status: http.StatusOK}
		next.ServeHTTP(kept, r)
		encoding := ""
		if kept.status == http.StatusOK && kept.header.Get("Content-Encoding") == "" {
			encoding = encodingOf(kept.body.Bytes())
		}
		body := kept.body.Bytes()
		if encoding != "" && !undo {
			kept.header.Set("Content-Encoding", encoding)
		}
		if plain, err := decoded(body, encoding); undo && encoding != "" && err == nil {
			body = plain
			kept.header.Del("Content-Length")
		}
		for name, values := range kept.header {
			w.Header()[name] = values
		}
		w.WriteHeader(kept.status)
		_, _ = w.Write(body)
	})
}

func encodingOf(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte{0x1f, 0x8b}):
		return "gzip"
	case bytes.HasPrefix(body, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	}
	return ""
}

func decoded(body []byte, encoding string) ([]byte, error) {
	if encoding == "gzip" {
		r, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, err
		}
		return io.ReadAll(r)
	}
	d, err := zstd.NewReader(nil)
	if err != nil {
		return nil, err
	}
	defer d.Close()
	return d.DecodeAll(body, nil)
}

// keptAnswer is a response that is kept back.
type keptAnswer struct {
	header http.Header
	status int
	body   bytes.Buffer
}

func (a *keptAnswer) Header() http.Header         { return a.header }
func (a *keptAnswer) WriteHeader(status int)      { a.status = status }
func (a *keptAnswer) Write(b []byte) (int, error) { return a.body.Write(b) }

// memoryAsItWas reads all of memory before an invocation and serves that, whatever
// is written meanwhile.
func memoryAsItWas(c *engine.Config) {
	repo := c.Repo
	c.Servers = func(objects, _ http.Handler) (engine.Servers, error) {
		ctx := context.Background()
		namespaces, err := repo.Namespaces(ctx)
		if err != nil {
			return nil, err
		}
		files := map[string]session.MemoryFile{}
		for namespace, version := range namespaces {
			if files[namespace], err = repo.ReadMemory(ctx, namespace, version); err != nil {
				return nil, err
			}
		}
		return serve.Start(objects, serve.Memory(func(ctx context.Context, key string) (serve.Blob, error) {
			namespace, name, err := layout.SplitMemoryName(key)
			if err != nil {
				return serve.Blob{}, serve.ErrNotFound
			}
			record, ok := files[namespace].Lookup(name)
			if !ok {
				return serve.Blob{}, serve.ErrNotFound
			}
			blob := serve.Blob{ContentType: record.ContentType, ContentEncoding: record.ContentEncoding}
			if body, ok := record.Inline(); ok {
				blob.Body, blob.Size = io.NopCloser(bytes.NewReader(body)), int64(len(body))
				return blob, nil
			}
			body, attrs, err := repo.OpenBlob(ctx, record.Digest)
			if err != nil {
				return serve.Blob{}, err
			}
			blob.Body, blob.Size = body, attrs.Size
			if blob.ContentType == "" {
				blob.ContentType = attrs.ContentType
			}
			if blob.ContentEncoding == "" {
				blob.ContentEncoding = attrs.ContentEncoding
			}
			return blob, nil
		}))
	}
}
