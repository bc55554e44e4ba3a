package fakes3

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// exchange is one request on its way through the server. It belongs to the goroutine of the request; only its record is
// shared, and changed through the journal.
type exchange struct {
	server *Server
	http   *http.Request
	record *Request

	refusal *refusal          // why the request is refused; nil as long as it is not
	hide    func(string) bool // keys that a listing leaves out; nil for none
	found   *object           // what a GET or HEAD is answered with, or what a PUT stored
	applied time.Time         // when it took effect; zero if it did not
	answer  *answer
	plain   *http.Request // what gofakes3 is asked; nil where it is not
}

// arrive numbers a request and opens its record.
func (s *Server) arrive(r *http.Request) *exchange {
	query, err := url.ParseQuery(r.URL.RawQuery)
	bucket, key := splitPath(r.URL.Path)
	record := &Request{
		Op:     operation(r, query, bucket, key),
		Method: r.Method, Bucket: bucket, Key: key, RawQuery: r.URL.RawQuery, Query: query, Header: r.Header,
		Caller:        callerOf(r, query),
		IfMatch:       r.Header.Get("If-Match"),
		IfNoneMatch:   r.Header.Get("If-None-Match"),
		ContentSHA256: r.Header.Get("X-Amz-Content-Sha256"),
		MaxKeys:       -1,
	}
	if record.Op == OpList {
		record.ListPrefix = query.Get("prefix")
		if n, err := strconv.Atoi(query.Get("max-keys")); err == nil && n >= 0 {
			record.MaxKeys = n
		}
	}
	x := &exchange{server: s, http: r, record: record}
	s.journal.add(record)
	if err != nil {
		x.refusal = invalidArgument("the query is malformed: " + err.Error())
	} else if what := unsupported(r, query, record.Op, key); what != "" {
		x.refusal = notImplemented(what)
	} else if key != "" {
		x.refusal = checkKey(key)
	}
	return x
}

// end completes the record.
func (x *exchange) end(fate string) {
	x.noteAnswer()
	x.server.journal.note(x.record, func(r *Request) {
		switch {
		case r.Fate == "":
			r.Fate = fate
		case fate != "":
			r.Fate += ", then " + fate
		}
		r.Answered = time.Now()
	})
}

// apply lets the request take its effect, and prepares the answer.
func (x *exchange) apply() {
	x.answer = newAnswer()
	switch {
	case x.refusal != nil:
	case x.record.Op == OpList:
		x.list()
	default:
		x.plain = x.plainRequest()
		gofakes3For(x).ServeHTTP(x.answer, x.plain)
	}
	if x.refusal != nil {
		x.answer = errorAnswer(x.refusal, x.http, x.record.N)
	} else {
		x.finish()
	}
	if !x.applied.IsZero() {
		x.server.journal.note(x.record, func(r *Request) { r.Took, r.Applied = Applied, x.applied })
	}
	x.noteAnswer()
}

// noteAnswer records the answer as it stands.
func (x *exchange) noteAnswer() {
	x.server.journal.note(x.record, func(r *Request) {
		if x.answer != nil {
			r.Status, r.ErrorCode = x.answer.status, x.answer.code
		}
	})
}

// plainRequest is the request as gofakes3 is to see it. Conditions, digests and metadata are seen to by the backend and
// before it, and gofakes3 would see to some of them in its own way; so it gets the few headers that are left to it.
func (x *exchange) plainRequest() *http.Request {
	body := x.record.Body
	if x.record.Op == OpPut {
		body = nil // the backend has it, and gofakes3 would only compute its MD5
	}
	plain := x.http.WithContext(x.http.Context())
	plain.Header = http.Header{}
	plain.Body = io.NopCloser(bytes.NewReader(body))
	plain.ContentLength = int64(len(body))
	length := len(body)
	if x.record.Op == OpUploadPart {
		length = max(length, 1) // gofakes3 takes no empty part, though the last one may be empty; the backend uses the body
	}
	plain.Header.Set("Content-Length", strconv.Itoa(length))
	if byteRange := x.http.Header.Get("Range"); isByteRange(byteRange) {
		plain.Header.Set("Range", byteRange)
	}
	if source := x.http.Header.Get("X-Amz-Copy-Source"); source != "" {
		plain.Header.Set("X-Amz-Copy-Source", strings.ReplaceAll(source, "+", "%2B")) // which it would take for a space
	}
	return plain
}

// isByteRange tells whether a Range header is to be minded. One that is malformed is ignored, as in HTTP at large.
// One of several ranges is left to gofakes3, which answers 501.
func isByteRange(value string) bool {
	ranges, ok := strings.CutPrefix(value, "bytes=")
	if !ok {
		return false
	}
	for one := range strings.SplitSeq(ranges, ",") {
		first, last, ok := strings.Cut(strings.TrimSpace(one), "-")
		if !ok || first == "" && last == "" {
			return false
		}
		from, err := strconv.ParseInt("0"+first, 10, 64)
		if err != nil {
			return false
		}
		if last != "" {
			to, err := strconv.ParseInt("0"+last, 10, 64)
			if err != nil || first != "" && to < from {
				return false
			}
		}
	}
	return true
}

// finish touches up what gofakes3 has answered.
func (x *exchange) finish() {
	a := x.answer
	a.WriteHeader(http.StatusOK) // where it wrote nothing
	if a.status >= 400 {
		a.code = a.errorCode()
	}
	if a.status == http.StatusRequestedRangeNotSatisfiable {
		a.code = "InvalidRange" // of a HEAD, whose answer has no body to find it in
	}
	for name := range a.header {
		if strings.HasPrefix(name, "Access-Control-") {
			delete(a.header, name)
		}
	}
	a.header.Del("X-Amz-Delete-Marker")
	if x.found != nil && a.status < 300 {
		a.header.Set("Etag", x.found.etag()) // gofakes3 has no way to say that of a multipart upload
		if x.http.Header.Get("X-Amz-Checksum-Mode") == "ENABLED" && a.status == http.StatusOK {
			x.found.putChecksums(a.header) // never beside a part of the body, which they do not fit
		}
	}
	if len(a.bytes()) > 0 && a.header.Get("Content-Type") == "" {
		a.header.Set("Content-Type", "application/xml")
	}
}

// refuse keeps the reason for the answer. It returns err.
func (x *exchange) refuse(err error) error {
	errors.As(err, &x.refusal)
	return err
}

// read looks into a bucket for the request, which thereby takes its effect whatever f finds.
func (x *exchange) read(bucketName string, f func(*bucket) error) error {
	return x.refuse(x.server.store.read(bucketName, func(b *bucket) error {
		x.applied = time.Now()
		return f(b)
	}))
}

// write changes a bucket for the request, which takes its effect if f returns nil.
func (x *exchange) write(bucketName string, f func(*bucket) error) error {
	return x.refuse(x.server.store.write(bucketName, func(b *bucket) error {
		if err := f(b); err != nil {
			return err
		}
		x.applied = time.Now()
		return nil
	}))
}
