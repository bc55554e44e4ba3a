package fakes3

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"net/http"
	"strconv"
	"strings"
)

// answer is a whole response held back until it is decided what becomes of it. It is the http.ResponseWriter that
// gofakes3 writes to.
type answer struct {
	header http.Header
	status int    // 0 until the header is written
	code   string // S3 error code; "" for success
	body   bytes.Buffer
	lent   []byte // what the whole body will be, if gofakes3 writes it; it never changes
	whole  bool   // the body is lent
}

func newAnswer() *answer { return &answer{header: http.Header{}} }

func (a *answer) Header() http.Header { return a.header }

func (a *answer) WriteHeader(status int) {
	if a.status == 0 {
		a.status = status
	}
}

func (a *answer) Write(p []byte) (int, error) {
	a.WriteHeader(http.StatusOK)
	if len(p) > 0 && len(p) == len(a.lent) && &p[0] == &a.lent[0] && a.body.Len() == 0 {
		a.whole = true
		return len(p), nil
	}
	return a.body.Write(p)
}

// bytes returns the body.
func (a *answer) bytes() []byte {
	if a.whole {
		return a.lent
	}
	return a.body.Bytes()
}

// writeTo sends the answer. Names of headers are sent as S3 spells them, since some clients take the names of user
// metadata as they come.
func (a *answer) writeTo(w http.ResponseWriter, r *http.Request) {
	for name, values := range a.header {
		switch {
		case strings.HasPrefix(name, "X-Amz-"):
			name = strings.ToLower(name)
		case name == "Etag":
			name = "ETag"
		}
		w.Header()[name] = values
	}
	bodiless := r.Method == http.MethodHead || a.status == http.StatusNoContent || a.status == http.StatusNotModified
	if !bodiless {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.bytes())))
	}
	w.WriteHeader(a.status)
	if !bodiless {
		_, _ = w.Write(a.bytes()) // a client that is gone by now misses it
	}
}

// errorCode returns the S3 error code in the body; "" if there is none.
func (a *answer) errorCode() string {
	_, rest, _ := bytes.Cut(a.bytes(), []byte("<Code>"))
	code, _, ok := bytes.Cut(rest, []byte("</Code>"))
	if !ok {
		return ""
	}
	return string(code)
}

// refusal is an error that is answered to the client.
type refusal struct {
	status        int
	code, message string
	header        http.Header // sent as well; may be nil
}

func (r *refusal) Error() string { return r.code + ": " + r.message }

func errorAnswer(e *refusal, r *http.Request, n int) *answer {
	a := newAnswer()
	for name, values := range e.header {
		a.header[name] = values
	}
	id := requestID(n)
	a.header.Set("X-Amz-Request-Id", id)
	a.header.Set("Server", "AmazonS3")
	a.status, a.code = e.status, e.code
	if e.status == http.StatusNotModified {
		return a
	}
	a.header.Set("Content-Type", "application/xml")
	a.body.WriteString(xml.Header + "<Error><Code>")
	_ = xml.EscapeText(&a.body, []byte(e.code)) // a Buffer takes everything
	a.body.WriteString("</Code><Message>")
	_ = xml.EscapeText(&a.body, []byte(e.message))
	a.body.WriteString("</Message><Resource>")
	_ = xml.EscapeText(&a.body, []byte(r.URL.Path))
	a.body.WriteString("</Resource><RequestId>" + id + "</RequestId></Error>")
	return a
}

func requestID(n int) string { return fmt.Sprintf("%016X", n) }

func invalidRequest(message string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "InvalidRequest", message: message}
}

func invalidArgument(message string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "InvalidArgument", message: message}
}

func notImplemented(what string) *refusal {
	return &refusal{status: http.StatusNotImplemented, code: "NotImplemented", message: "this server does not know " + what}
}

func noSuchBucket(bucket string) *refusal {
	return &refusal{status: http.StatusNotFound, code: "NoSuchBucket", message: "there is no bucket " + strconv.Quote(bucket)}
}

func noSuchKey(key string) *refusal {
	return &refusal{status: http.StatusNotFound, code: "NoSuchKey", message: "there is no object " + strconv.Quote(key)}
}

func preconditionFailed(header string) *refusal {
	return &refusal{status: http.StatusPreconditionFailed, code: "PreconditionFailed", message: "the condition of " + header + " does not hold"}
}
