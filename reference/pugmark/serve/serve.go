// Package serve is the pair of HTTP services that a handler reads bodies from
// during one invocation: one for the objects of the log, one for memory (P1-4).
// Both give the same kind of answers (P8.3-2): the bytes as they are stored, never
// a redirect to the store, and 404 for what is not there.
//
// Both are plain http.Handlers over small interfaces, so that they can be wrapped
// or replaced; [Start] puts them on a loopback port.
package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"strconv"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// memoryPath is where the memory service is mounted.
const memoryPath = "/memories/"

// Server serves both services on one port.
type Server struct {
	http    *http.Server
	address string
}

// Start serves objects and memory until Close, on a port that the system chooses
// anew each time (P7-7, P7-8). A request whose path begins with
// /memories/ goes to memory with that prefix taken off, any other to objects.
// There are no time limits: both services can be reached at every moment of the
// invocation (P7-5, P7-6).
//
// It listens on the loopback interface, which is where a handler on this machine
// looks and where nobody else can.
func Start(objects, memory http.Handler) (*Server, error) {
	return StartOn("127.0.0.1", objects, memory)
}

// StartOn is Start for handlers on other machines: host is a name or an address of
// this machine that they can reach (P7-5), and stands in the URLs. Whoever else can
// reach it can read every body too.
func StartOn(host string, objects, memory http.Handler) (*Server, error) {
	if err := CheckHost(host); err != nil {
		return nil, err
	}
	listener, err := net.Listen("tcp", net.JoinHostPort(host, "0"))
	if err != nil {
		return nil, err
	}
	memory = http.StripPrefix(memoryPath, memory)
	_, port, err := net.SplitHostPort(listener.Addr().String())
	if err != nil {
		listener.Close()
		return nil, err
	}
	s := &Server{
		address: net.JoinHostPort(host, port),
		http: &http.Server{
			// No ServeMux: it would redirect paths with empty or dotted segments.
			Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				if strings.HasPrefix(r.URL.Path, memoryPath) {
					memory.ServeHTTP(w, r)
				} else {
					objects.ServeHTTP(w, r)
				}
			}),
			ErrorLog: log.New(io.Discard, "", 0), // a client that hangs up is no news
		},
	}
	go s.http.Serve(listener)
	return s, nil
}

// CheckHost tells what is wrong with the host of StartOn: it has to be one that can
// stand in a URL.
func CheckHost(host string) error {
	if ip := net.ParseIP(host); host == "" || ip != nil && ip.IsUnspecified() {
		return fmt.Errorf("%q is no address that a handler could reach", host)
	}
	return nil
}

// ObjectURL is where the body with this digest is served, as an absolute URL
// (P1-5, P7-2, P7-3).
func (s *Server) ObjectURL(d layout.Digest) string {
	return "http://" + s.address + "/" + d.String()
}

// MemoryRoot is the root of the memory service. P8.1-2: it ends with a slash.
func (s *Server) MemoryRoot() string { return "http://" + s.address + memoryPath }

// Close ends both services and cuts off whoever still reads from them.
func (s *Server) Close() error { return s.http.Close() }

// Blob is a body that is ready to be served. The caller closes Body.
type Blob struct {
	Body            io.ReadCloser
	Size            int64
	ContentType     string
	ContentEncoding string
}

// ErrNotFound is the error of a source for a key that it does not know; anything
// else that it returns means that it could not look.
var ErrNotFound = store.ErrNotFound

// Objects answers GET and HEAD of /sha256:<hex> with the stored bytes of that
// digest, as open finds them. open returns ErrNotFound for an unknown digest.
func Objects(open func(context.Context, layout.Digest) (Blob, error)) http.Handler {
	return readOnly(func(ctx context.Context, path string) (Blob, error) {
		digest, err := layout.ParseDigest(strings.TrimPrefix(path, "/"))
		if err != nil || path != "/"+digest.String() {
			return Blob{}, ErrNotFound // P7-14: a malformed key is an unknown one
		}
		return open(ctx, digest)
	})
}

// Memory answers GET and HEAD of <namespace>/<object-name>, relative to the
// memory root and with nothing else in the path (P17-8), as open finds it. open
// returns ErrNotFound for an unknown key.
func Memory(open func(ctx context.Context, key string) (Blob, error)) http.Handler {
	return readOnly(open)
}

// readOnly serves what open finds at the path of a request.
func readOnly(open func(ctx context.Context, path string) (Blob, error)) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "this service is read-only", http.StatusMethodNotAllowed)
			return
		}
		blob, err := open(r.Context(), r.URL.Path)
		switch {
		case errors.Is(err, ErrNotFound): // P7-14, P7-15
			http.Error(w, "not found", http.StatusNotFound)
			return
		case err != nil:
			http.Error(w, err.Error(), http.StatusBadGateway)
			return
		}
		defer blob.Body.Close()
		header := w.Header() // P7-9, P7-10: with status 200
		header.Set("Content-Length", strconv.FormatInt(blob.Size, 10))
		// P7-11, P7-12: always there, so that nothing is guessed from the bytes.
		header.Set("Content-Type", blob.ContentType)
		if blob.ContentType == "" {
			header.Set("Content-Type", "application/octet-stream")
		}
		if blob.ContentEncoding != "" && blob.ContentEncoding != "identity" {
			header.Set("Content-Encoding", blob.ContentEncoding) // P7-13: sent as it is stored
		}
		if r.Method == http.MethodHead {
			return
		}
		if n, err := io.Copy(w, blob.Body); err != nil || n != blob.Size {
			// The head is out: all that is left is not to pretend that this was all.
			panic(http.ErrAbortHandler)
		}
	})
}
