package probe

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

// FetchLimit is the number of bytes of a response body that a fetch keeps.
const FetchLimit = 64 << 20

// A FetchRequest is an HTTP request for the remote process to make.
type FetchRequest struct {
	Method string // empty: GET
	URL    string
	Header http.Header // Host sets the host of the request
	Body   []byte
}

// A FetchResult is the response, as it came: the content encoding is not
// decoded and a redirect is not followed.
type FetchResult struct {
	Status    int // 0 if there was no response
	Header    http.Header
	Body      []byte // at most FetchLimit bytes
	Truncated bool   // Body ends before the response did, or the connection broke within it
	Err       string // what went wrong; empty if the whole response came
}

// doFetch makes the request without proxy and on a connection of its own.
func doFetch(ctx context.Context, r FetchRequest) FetchResult {
	req, err := http.NewRequestWithContext(ctx, r.Method, r.URL, bytes.NewReader(r.Body))
	if err != nil {
		return FetchResult{Err: err.Error()}
	}
	if len(r.Body) == 0 {
		req.Body, req.ContentLength = http.NoBody, 0
	}
	for k, v := range r.Header {
		req.Header[http.CanonicalHeaderKey(k)] = v
	}
	if host := req.Header.Get("Host"); host != "" {
		req.Host = host
	}
	t := &http.Transport{DisableCompression: true, DisableKeepAlives: true}
	res, err := t.RoundTrip(req)
	if err != nil {
		return FetchResult{Err: err.Error()}
	}
	defer func() { _ = res.Body.Close() }()
	out := FetchResult{Status: res.StatusCode, Header: res.Header}
	out.Body, err = io.ReadAll(io.LimitReader(res.Body, FetchLimit+1))
	switch {
	case err != nil:
		out.Truncated, out.Err = true, err.Error()
	case len(out.Body) > FetchLimit:
		out.Body, out.Truncated, out.Err = out.Body[:FetchLimit], true, "the body is longer than what a fetch keeps"
	}
	return out
}

func (p *packer) header(h http.Header) {
	p.num(int64(len(h)))
	for k, v := range h {
		p.str(k)
		p.strs(v)
	}
}

func (u *unpacker) header() http.Header {
	h := http.Header{}
	for n := u.num(); n > 0 && u.err == nil; n-- {
		k := u.str()
		h[k] = u.strs()
	}
	return h
}

func (r FetchRequest) pack() []byte {
	var p packer
	p.str(r.Method)
	p.str(r.URL)
	p.header(r.Header)
	p.bytes(r.Body)
	return p.b
}

func unpackFetchRequest(b []byte) (FetchRequest, error) {
	u := unpacker{b: b}
	r := FetchRequest{Method: u.str(), URL: u.str(), Header: u.header(), Body: u.bytes()}
	return r, u.err
}

func (r FetchResult) pack() []byte {
	var p packer
	p.num(int64(r.Status))
	p.header(r.Header)
	p.bytes(r.Body)
	truncated := int64(0)
	if r.Truncated {
		truncated = 1
	}
	p.num(truncated)
	p.str(r.Err)
	return p.b
}

func unpackFetchResult(b []byte) (FetchResult, error) {
	u := unpacker{b: b}
	r := FetchResult{Status: int(u.num()), Header: u.header(), Body: u.bytes(), Truncated: u.num() != 0, Err: u.str()}
	return r, u.err
}
