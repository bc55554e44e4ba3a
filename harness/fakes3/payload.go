package fakes3

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
)

// maxBody is how many bytes of a body the server takes: it keeps them all in memory, twice over once they are recorded.
const maxBody = 1 << 30

// receive reads the body, takes its framing off, holds it against every digest that came with it, and completes the
// record up to the moment before the effect. What is wrong with the request becomes its refusal; the error is only for
// a body that never arrived in full.
func (x *exchange) receive() error {
	raw, err := readBody(x.http)
	if err != nil {
		return err
	}
	h := x.http.Header
	body, trailer, wrong := unframe(h, x.http.ContentLength, raw)
	sums := checksumsOf(h, trailer)
	sum := sha256.Sum256(body)
	var bodySHA256 string
	if hasBody(x.http.Method) {
		bodySHA256 = hex.EncodeToString(sum[:])
	}
	x.server.journal.note(x.record, func(r *Request) {
		r.Checksums, r.BodySHA256 = sums, bodySHA256
		if hasBody(r.Method) {
			r.Body = body
		}
	})
	if wrong == nil {
		wrong = x.checkDigests(body, sum[:], sums)
	}
	if wrong == nil && x.record.Op == OpDeleteMany {
		wrong = checkDeletion(body)
	}
	if x.refusal == nil {
		x.refusal = wrong
	}
	return nil
}

func hasBody(method string) bool { return method == http.MethodPut || method == http.MethodPost }

// readBody reads as much as the server takes, and one byte more where there is more.
func readBody(r *http.Request) ([]byte, error) {
	if length := r.ContentLength; length >= 0 && length <= 1<<20 { // not the memory that somebody merely announces
		body := make([]byte, length)
		_, err := io.ReadFull(r.Body, body)
		return body, err
	}
	return io.ReadAll(io.LimitReader(r.Body, maxBody+1))
}

// isFramed tells whether a body is in the chunks of aws-chunked.
func isFramed(h http.Header) bool {
	if strings.HasPrefix(h.Get("X-Amz-Content-Sha256"), "STREAMING-") {
		return true
	}
	return strings.Contains(strings.ToLower(strings.Join(h.Values("Content-Encoding"), ",")), "aws-chunked") &&
		h.Get("X-Amz-Decoded-Content-Length") != ""
}

// unframe returns the body proper and the trailer that came after it, if any.
func unframe(h http.Header, length int64, raw []byte) (body []byte, trailer http.Header, wrong *refusal) {
	if len(raw) > maxBody {
		return nil, nil, &refusal{status: http.StatusBadRequest, code: "EntityTooLarge", message: "more than this server takes"}
	}
	if !isFramed(h) {
		if length < 0 {
			return raw, nil, &refusal{status: http.StatusLengthRequired, code: "MissingContentLength", message: "S3 takes no body without Content-Length"}
		}
		return raw, nil, nil
	}
	body, trailer, err := dechunk(raw)
	if err != nil {
		return nil, nil, incompleteBody(err.Error())
	}
	if n, err := strconv.Atoi(h.Get("X-Amz-Decoded-Content-Length")); err != nil || n != len(body) {
		return body, trailer, incompleteBody(fmt.Sprintf("the chunks hold %d bytes, x-amz-decoded-content-length says %q",
			len(body), h.Get("X-Amz-Decoded-Content-Length")))
	}
	for _, name := range trailerNames(h) {
		if trailer.Get(name) == "" {
			return body, trailer, &refusal{status: http.StatusBadRequest, code: "MalformedTrailerError", message: "no " + name + " in the trailer"}
		}
	}
	return body, trailer, nil
}

func incompleteBody(message string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "IncompleteBody", message: message}
}

// trailerNames returns the announced names, in canonical form.
func trailerNames(h http.Header) []string {
	var names []string
	for name := range strings.SplitSeq(h.Get("X-Amz-Trailer"), ",") {
		if name = strings.TrimSpace(name); name != "" {
			names = append(names, http.CanonicalHeaderKey(name))
		}
	}
	return names
}

// dechunk takes apart a body of the form
//
//	SIZE-IN-HEX[;chunk-signature=…] CRLF DATA CRLF … 0[;chunk-signature=…] CRLF [NAME:VALUE CRLF]… [CRLF]
//
// Signatures are not checked.
func dechunk(raw []byte) (body []byte, trailer http.Header, err error) {
	body = make([]byte, 0, len(raw))
	rest := raw
	offset := func() int { return len(raw) - len(rest) }
	for {
		line, after, ok := bytes.Cut(rest, []byte("\r\n"))
		if !ok {
			return nil, nil, fmt.Errorf("byte %d: the header of a chunk has no end", offset())
		}
		digits, _, _ := strings.Cut(string(line), ";")
		size, err := strconv.ParseUint(strings.TrimSpace(digits), 16, 31)
		if err != nil {
			return nil, nil, fmt.Errorf("byte %d: the size of a chunk: %w", offset(), err)
		}
		rest = after
		if size == 0 {
			break
		}
		if uint64(len(rest)) < size+2 {
			return nil, nil, fmt.Errorf("byte %d: a chunk of %d bytes, of which %d came", offset(), size, len(rest))
		}
		body = append(body, rest[:size]...)
		rest = rest[size:]
		if !bytes.HasPrefix(rest, []byte("\r\n")) {
			return nil, nil, fmt.Errorf("byte %d: no line end after the data of a chunk", offset())
		}
		rest = rest[2:]
	}
	trailer = http.Header{}
	for line := range bytes.Lines(rest) {
		line = bytes.TrimRight(line, "\r\n")
		if len(line) == 0 {
			continue
		}
		name, value, ok := strings.Cut(string(line), ":")
		if !ok {
			return nil, nil, fmt.Errorf("a line of the trailer has no colon: %q", line)
		}
		trailer.Set(strings.TrimSpace(name), strings.TrimSpace(value))
	}
	return body, trailer, nil
}
