package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// outputFaults spoil how the handler's output stream is read.
var outputFaults = map[string]Fault{
	"one-record-a-line": output(func(whole []byte) ([]byte, error) {
		var out []byte
		for _, line := range bytes.Split(whole, []byte("\n")) {
			var first json.RawMessage
			if json.NewDecoder(bytes.NewReader(line)).Decode(&first) == nil {
				out = append(append(out, first...), '\n')
			}
		}
		return out, nil
	}),
	"carriage-return-is-no-space": output(func(whole []byte) ([]byte, error) {
		if bytes.ContainsRune(whole, '\r') {
			return nil, errors.New("invalid character '\\r'")
		}
		return whole, nil
	}),
	"pretty-printed-refused": output(func(whole []byte) ([]byte, error) {
		for _, line := range bytes.Split(whole, []byte("\n")) {
			for d := json.NewDecoder(bytes.NewReader(line)); ; {
				var v json.RawMessage
				if err := d.Decode(&v); err == io.EOF {
					break
				} else if err != nil {
					return nil, fmt.Errorf("line is no record: %w", err)
				}
			}
		}
		return whole, nil
	}),
	"records-up-to-64-kib": output(func(whole []byte) ([]byte, error) {
		for _, line := range bytes.Split(whole, []byte("\n")) {
			if len(line) > 64<<10 {
				return nil, errors.New("token too long")
			}
		}
		return whole, nil
	}),
	"unknown-fields-refused": objectsOrError(func(o map[string]json.RawMessage) error {
		for k := range o {
			if !knownOutputFields[k] {
				return fmt.Errorf("unknown field %q", k)
			}
		}
		return nil
	}),
	"names-of-fields-in-any-case": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		for k, v := range o {
			if lower := strings.ToLower(k); lower != k {
				o[lower] = v
			}
		}
		return o
	}),
	"last-line-feed-required": output(func(whole []byte) ([]byte, error) {
		return whole[:bytes.LastIndexByte(whole, '\n')+1], nil
	}),
	"empty-record-refused": objectsOrError(func(o map[string]json.RawMessage) error {
		if len(o) == 0 {
			return errors.New("record has neither data nor uri")
		}
		return nil
	}),
	"empty-record-committed": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if len(o) == 0 {
			o["content-type"] = json.RawMessage(`"application/octet-stream"`)
		}
		return o
	}),
	"padding-refused": objectsOrError(func(o map[string]json.RawMessage) error {
		if bytes.HasSuffix(o["data"], []byte(`="`)) {
			return errors.New("illegal base64 data: padding")
		}
		return nil
	}),
	"padding-required": objectsOrError(func(o map[string]json.RawMessage) error {
		var text string
		_ = json.Unmarshal(o["data"], &text)
		if len(text)%4 != 0 {
			return errors.New("incorrect padding")
		}
		return nil
	}),
	"empty-session-is-set": objectsOrError(func(o map[string]json.RawMessage) error {
		if string(o["session"]) == `""` {
			return errors.New("session: want 32 hex digits")
		}
		return nil
	}),
	"uri-before-data": objects(func(o map[string]json.RawMessage) map[string]json.RawMessage {
		if len(o["uri"]) > 2 {
			delete(o, "data")
		}
		return o
	}),
	"content-type-required": objectsOrError(func(o map[string]json.RawMessage) error {
		if len(o["data"]) > 2 && o["content-type"] == nil {
			return errors.New("content-type is missing")
		}
		return nil
	}),
	"exit-status-ignored": {Handler: func(next transport.Handler) transport.Handler {
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			outputs := error(nil)
			consume := inv.Outputs
			inv.Outputs = func(ctx context.Context, r io.Reader) error {
				outputs = consume(ctx, r)
				return outputs
			}
			if err := next.Invoke(ctx, inv); err != nil && outputs != nil {
				return err
			}
			return nil
		})
	}},
}

var knownOutputFields = map[string]bool{
	"uri": true, "data": true, "content-type": true, "content-encoding": true, "schema-url": true,
	"name": true, "metadata": true, "fork": true, "session": true,
}

// objectsOrError fails the invocation on the first record that check refuses.
func objectsOrError(check func(o map[string]json.RawMessage) error) Fault {
	return output(func(whole []byte) ([]byte, error) {
		for d := json.NewDecoder(bytes.NewReader(whole)); ; {
			o := map[string]json.RawMessage{}
			if err := d.Decode(&o); err != nil {
				return whole, nil // the runtime itself says what is wrong
			}
			if err := check(o); err != nil {
				return nil, err
			}
		}
	})
}
