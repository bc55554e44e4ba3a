package web

import (
	"context"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// maxTries bounds how often one request is sent: about three seconds of trouble are waited out.
const maxTries = 8

// statusError is an answer that is none of what was asked for.
type statusError struct {
	status int
	text   string // as in the status line
	code   string // of an S3 error document, or ""
}

func (e *statusError) Error() string {
	if e.code != "" {
		return fmt.Sprintf("status %s, %s", e.text, e.code)
	}
	return "status " + e.text
}

// Unwrap names what callers tell apart.
func (e *statusError) Unwrap() error {
	switch {
	case e.code == "NoSuchBucket":
		return store.ErrNoBucket
	case e.status == http.StatusNotFound, e.status == http.StatusGone:
		return store.ErrNotFound
	}
	return nil
}

// passing tells whether the same request may well succeed soon.
func (e *statusError) passing() bool {
	switch e.status {
	case http.StatusRequestTimeout, http.StatusTooManyRequests, http.StatusInternalServerError,
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return true
	}
	return false
}

// send gives the answer 200 to a request, which it repeats while the failure looks passing. The caller closes the
// body. Every other status is a *statusError.
func (s *Store) send(ctx context.Context, method, target string) (*http.Response, error) {
	var failure error // of the latest try, also where the context ends the wait for the next one
	pause := &backoff.ExponentialBackOff{
		InitialInterval:     25 * time.Millisecond,
		RandomizationFactor: backoff.DefaultRandomizationFactor,
		Multiplier:          2,
		MaxInterval:         2 * time.Second,
	}
	response, err := backoff.Retry(ctx, func() (*http.Response, error) {
		var response *http.Response
		response, failure = s.sendOnce(ctx, method, target)
		var status *statusError
		if errors.As(failure, &status) && !status.passing() {
			return nil, backoff.Permanent(failure)
		}
		return response, failure
	}, backoff.WithBackOff(pause), backoff.WithMaxTries(maxTries))
	switch {
	case err == nil:
		return response, nil
	case ctx.Err() != nil:
		return nil, fmt.Errorf("%s %s: %w", method, target, context.Cause(ctx))
	}
	return nil, fmt.Errorf("%s %s: %w", method, target, failure)
}

// maxPage bounds the page of a listing that is read, in bytes: a thousand of the longest keys take a tenth of it.
const maxPage = 64 << 20

// read gives a whole page of a listing. It starts over when the answer breaks off in the middle.
func (s *Store) read(ctx context.Context, target string) ([]byte, error) {
	var failure error
	for range maxTries {
		response, err := s.send(ctx, http.MethodGet, target)
		if err != nil {
			return nil, err
		}
		body, err := io.ReadAll(io.LimitReader(response.Body, maxPage))
		response.Body.Close()
		if err == nil {
			return body, nil
		}
		failure = fmt.Errorf("GET %s: %w", target, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, failure
}

func (s *Store) sendOnce(ctx context.Context, method, target string) (*http.Response, error) {
	request, err := http.NewRequestWithContext(ctx, method, target, nil)
	if err != nil {
		return nil, err
	}
	// The body as stored: without this a server may encode it as it likes.
	request.Header.Set("Accept-Encoding", "identity")
	response, err := s.client.Do(request)
	if err != nil {
		var u *url.Error
		if errors.As(err, &u) {
			err = u.Err // send names the URL
		}
		return nil, err
	}
	if response.StatusCode != http.StatusOK {
		defer response.Body.Close()
		return nil, &statusError{status: response.StatusCode, text: response.Status, code: errorCode(response.Body)}
	}
	return response, nil
}

// errorCode reads the code out of an S3 error document; "" where the body is none.
func errorCode(body io.Reader) string {
	var document struct {
		XMLName xml.Name `xml:"Error"`
		Code    string
	}
	if xml.NewDecoder(io.LimitReader(body, 64<<10)).Decode(&document) != nil {
		return ""
	}
	return document.Code
}
