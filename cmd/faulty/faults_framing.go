package main

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"

	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
)

// framingFaults spoil what stands for one record, and what of an answer is taken
// for records at all.
var framingFaults = map[string]Fault{
	"entries-in-a-frame": lines(func(i, n int, line []byte) []byte {
		switch {
		case i == 0 || i == n-1:
			return append(line, '\n')
		case i == 1 && i == n-2:
			return append(append([]byte(`{"records":[`), line...), "]}\n"...)
		case i == 1:
			return append(append([]byte(`{"records":[`), line...), ',')
		case i == n-2:
			return append(line, "]}\n"...)
		}
		return append(line, ',')
	}),
	"body-apart-from-its-name": records(func(in []stream.Input) []stream.Input {
		out := in[:1:1]
		for _, one := range in[1:] {
			if one.SchemaURL == "" || one.Name == "" {
				out = append(out, one)
				continue
			}
			body := stream.Input{Size: one.Size, URL: one.URL, Data: one.Data}
			one.URL, one.Data = "", nil
			out = append(out, one, body)
		}
		return out
	}),
	"records-in-an-error-text": responses(func(status int, body []byte) (int, []byte) {
		if status != http.StatusInternalServerError {
			return status, body
		}
		var found []byte
		for _, line := range bytes.SplitAfter(body, []byte("\n")) {
			if json.Valid(line) {
				found = append(found, line...)
			}
		}
		return http.StatusOK, found
	}),
	"body-before-status": responses(func(status int, body []byte) (int, []byte) {
		for d := json.NewDecoder(bytes.NewReader(body)); ; {
			var o map[string]json.RawMessage
			if err := d.Decode(&o); err == io.EOF {
				return http.StatusOK, body
			} else if err != nil {
				return status, body
			}
		}
	}),
}

// responses changes the status and the body of what an HTTP handler answers.
func responses(change func(status int, body []byte) (int, []byte)) Fault {
	return proxied(nil, func(r *http.Response) error {
		body, err := io.ReadAll(r.Body)
		r.Body.Close()
		if err != nil {
			return err
		}
		r.StatusCode, body = change(r.StatusCode, body)
		r.Body, r.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
		r.Header.Del("Content-Length")
		return nil
	})
}
