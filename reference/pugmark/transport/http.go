package transport

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf16"
)

const headerMetadata = "X-Pugmark-Session-Metadata"

// HTTP is a handler that is reached by one POST per invocation (P2.2-1). The
// request body is the input stream and the response body the output stream,
// neither of them wrapped in anything (P2.2-3, P2.2-4).
type HTTP struct {
	URL *url.URL // where the handler listens; its path and query are kept (P2.2-2)
}

// Invoke implements Handler.
func (h *HTTP) Invoke(ctx context.Context, inv Invocation) error {
	// P2.2-16, P2.2-17: the length has to be known before the first byte is sent.
	body := &spool{}
	defer body.Close()
	buffered := bufio.NewWriterSize(body, bufferSize)
	if err := inv.Inputs(ctx, buffered); err != nil {
		return err
	}
	if _ = buffered.Flush(); body.err != nil {
		return fmt.Errorf("keep the input stream: %w", body.err)
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	req, err := h.request(ctx, inv.Identity, body)
	if err != nil {
		return fmt.Errorf("handler %s: %w", h.URL.Redacted(), err)
	}
	resp, err := client.Do(req)
	if err != nil {
		return fmt.Errorf("handler: %w", err)
	}
	defer resp.Body.Close()
	// P2.2-6, P16-8: 200 is the only success, and redirects are not followed.
	if resp.StatusCode != http.StatusOK {
		return fmt.Errorf("handler %s: status %s%s", h.URL.Redacted(), resp.Status, excerpt(resp.Body))
	}
	return inv.Outputs(ctx, responseBody{resp.Body})
}

func (h *HTTP) request(ctx context.Context, id Identity, body *spool) (*http.Request, error) {
	u := *h.URL
	// P2.2-8 to P2.2-12. R-01: the names. A blank is sent as %20, which every
	// decoder understands.
	query := strings.ReplaceAll(url.Values{
		"agent":   {id.Agent},
		"session": {id.Session},
		"version": {strconv.FormatUint(uint64(id.Version), 10)},
	}.Encode(), "+", "%20")
	if u.RawQuery != "" {
		query = u.RawQuery + "&" + query
	}
	u.RawQuery, u.ForceQuery = query, false

	content, err := body.Reader()
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, u.String(), content)
	if err != nil {
		return nil, err
	}
	req.ContentLength = body.size
	req.GetBody = nil                                  // P2.2-1: never sent twice
	req.Header.Set("Content-Type", "application/json") // P2.2-15
	req.Header.Set("User-Agent", "pugcheck-reference")
	if len(id.Metadata) > 0 { // P2.2-14: absent without metadata
		req.Header.Set(headerMetadata, escapeNonASCII(metadataJSON(id.Metadata)))
	}
	req.Header.Set("traceparent", id.TraceParent) // P14-4
	if id.TraceState != "" {
		req.Header.Set("tracestate", id.TraceState) // P14-5
	}
	return req, nil
}

// client sends a request once, on a connection of its own: no redirects, no
// repetition, no decompression, no time limit.
var client = &http.Client{
	CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	Transport: &http.Transport{
		Proxy:              http.ProxyFromEnvironment,
		DisableKeepAlives:  true,
		DisableCompression: true,
		DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
			conn, err := (&net.Dialer{}).DialContext(ctx, network, address)
			if err != nil {
				return nil, err
			}
			return oneWay{conn}, nil
		},
	},
}

// oneWay is a connection on which a peer that stops reading is no error. P16-4:
// a handler may answer before it has read its inputs, and net/http would drop
// its answer for the failed write. Whether there is an answer shows on reading.
type oneWay struct{ net.Conn }

func (c oneWay) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, syscall.ECONNRESET) {
		return len(p), nil
	}
	return n, err
}

// responseBody tells a body that broke off from an output stream that ends
// inside a record. P2.2-7: such an invocation did not complete.
type responseBody struct{ r io.Reader }

func (b responseBody) Read(p []byte) (int, error) {
	n, err := b.r.Read(p)
	if err != nil && err != io.EOF {
		err = fmt.Errorf("the handler's response broke off: %w", err)
	}
	return n, err
}

// excerpt is the beginning of an error response, for a message.
func excerpt(r io.Reader) string {
	const limit = 400
	text, _ := io.ReadAll(io.LimitReader(r, limit))
	s := strings.TrimSpace(strings.ToValidUTF8(string(text), "\ufffd"))
	if s == "" {
		return ""
	}
	return ": " + s
}

// escapeNonASCII makes JSON text safe for a header. P2.2-13: the value still
// parses to the same object.
func escapeNonASCII(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r < 0x7f:
			b.WriteRune(r)
		case r <= 0xffff:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		}
	}
	return b.String()
}
