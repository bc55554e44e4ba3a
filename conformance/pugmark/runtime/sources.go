package runtime

import (
	"net"
	"net/http"
	"strconv"
	"sync"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// otherBucket is a bucket beside the subject's own, from which it takes in bodies.
const otherBucket = "other"

// remote puts an object into the other bucket and gives its s3:// address. What
// the store says about it is misleading on purpose.
func (x *Lab) remote(key string, body []byte) string {
	if x.S3.Keys(otherBucket, "") == nil {
		_ = x.S3.CreateBucket(otherBucket) // a second time does no harm
	}
	x.Must(x.S3.Put(otherBucket, key, fakes3.Object{
		Body: body, ContentType: "text/x-source", CacheControl: "no-store",
		Metadata: map[string]string{"sha256": "0000000000000000000000000000000000000000000000000000000000000000"},
	}))
	return "s3://" + otherBucket + "/" + key
}

// webSource is an HTTP server of the scenario's own, from which the subject takes
// in bodies.
type webSource struct {
	address string
	mu      sync.Mutex
	gets    map[string]int // answered, by path
}

// web starts a server that answers with the body that answer gives for a path.
// sent is how much of it is sent before the connection breaks; a negative number
// sends all.
func (x *Lab) web(answer func(path string) (status int, body []byte, sent int)) *webSource {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	x.Must(err)
	w := &webSource{address: "http://" + listener.Addr().String(), gets: map[string]int{}}
	server := &http.Server{Handler: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		w.mu.Lock()
		w.gets[r.URL.Path]++
		w.mu.Unlock()
		status, body, sent := answer(r.URL.Path)
		rw.Header().Set("Content-Type", "text/x-source")
		rw.Header().Set("ETag", `"d41d8cd98f00b204e9800998ecf8427e"`)
		rw.Header().Set("Content-Length", strconv.Itoa(len(body)))
		rw.WriteHeader(status)
		if r.Method == http.MethodHead {
			return
		}
		if sent < 0 {
			_, _ = rw.Write(body) // a client that has gone away shows in what it commits
			return
		}
		_, _ = rw.Write(body[:sent])
		panic(http.ErrAbortHandler) // the connection ends short of its Content-Length
	})}
	go func() { _ = server.Serve(listener) }()
	x.Cleanup(func() { _ = server.Close() })
	return w
}

// asked tells how often a path was requested.
func (w *webSource) asked(path string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.gets[path]
}
