package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"

	"github.com/pugcheck/pugcheck/reference/pugmark/stream"
	"github.com/pugcheck/pugcheck/reference/pugmark/transport"
)

// handlerFunc is a transport.Handler made of a function around another one.
type handlerFunc func(ctx context.Context, inv transport.Invocation) error

func (f handlerFunc) Invoke(ctx context.Context, inv transport.Invocation) error { return f(ctx, inv) }

// input rewrites the whole input stream before it is sent.
func input(rewrite func(whole []byte) []byte) Fault {
	return Fault{Handler: func(next transport.Handler) transport.Handler {
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			produce := inv.Inputs
			inv.Inputs = func(ctx context.Context, w io.Writer) error {
				var whole bytes.Buffer
				if err := produce(ctx, &whole); err != nil {
					return err
				}
				_, err := w.Write(rewrite(whole.Bytes()))
				return err
			}
			return next.Invoke(ctx, inv)
		})
	}}
}

// records rewrites the decoded input records: the first is the memory record, the
// last the lifecycle record.
func records(rewrite func(in []stream.Input) []stream.Input) Fault {
	return input(func(whole []byte) []byte { return encode(rewrite(decode(whole))) })
}

// replay rewrites each replayed record in place.
func replay(change func(in *stream.Input)) Fault {
	return records(func(in []stream.Input) []stream.Input {
		for i := 1; i < len(in)-1; i++ {
			change(&in[i])
		}
		return in
	})
}

// lines rewrites each record of the input as bytes, its line feed excluded, and
// joins them without anything between.
func lines(rewrite func(i, n int, line []byte) []byte) Fault {
	return input(func(whole []byte) []byte {
		parts := bytes.Split(bytes.TrimSuffix(whole, []byte("\n")), []byte("\n"))
		var out []byte
		for i, p := range parts {
			out = append(out, rewrite(i, len(parts), p)...)
		}
		return out
	})
}

// fieldsOf rewrites each record of the input as a JSON object.
func fieldsOf(rewrite func(i, n int, fields map[string]any)) Fault {
	return lines(func(i, n int, line []byte) []byte {
		fields := map[string]any{}
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		if d.Decode(&fields) != nil {
			return append(line, '\n')
		}
		rewrite(i, n, fields)
		out, _ := json.Marshal(fields)
		return append(out, '\n')
	})
}

func decode(whole []byte) []stream.Input {
	var in []stream.Input
	for d := json.NewDecoder(bytes.NewReader(whole)); ; {
		var one stream.Input
		if d.Decode(&one) != nil {
			return in
		}
		in = append(in, one)
	}
}

func encode(in []stream.Input) []byte {
	var b bytes.Buffer
	e := stream.NewEncoder(&b)
	for _, one := range in {
		_ = e.Encode(one)
	}
	return b.Bytes()
}

// output replaces what the runtime reads of the handler's output; an error fails
// the invocation.
func output(rewrite func(whole []byte) ([]byte, error)) Fault {
	return Fault{Handler: func(next transport.Handler) transport.Handler {
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			consume := inv.Outputs
			inv.Outputs = func(ctx context.Context, r io.Reader) error {
				whole, err := io.ReadAll(r)
				if err != nil {
					return err
				}
				whole, err = rewrite(whole)
				if err != nil {
					return err
				}
				return consume(ctx, bytes.NewReader(whole))
			}
			return next.Invoke(ctx, inv)
		})
	}}
}

// objects rewrites the handler's output record by record as JSON objects; a
// record whose rewriting gives nil is dropped.
func objects(rewrite func(o map[string]json.RawMessage) map[string]json.RawMessage) Fault {
	return eachObject(func(o map[string]json.RawMessage, emit func(map[string]json.RawMessage)) {
		if o = rewrite(o); o != nil {
			emit(o)
		}
	})
}

// eachObject gives the handler's output record by record as JSON objects, and passes
// on what is emitted for each.
func eachObject(each func(o map[string]json.RawMessage, emit func(map[string]json.RawMessage))) Fault {
	return output(func(whole []byte) ([]byte, error) {
		var out []byte
		for d := json.NewDecoder(bytes.NewReader(whole)); ; {
			o := map[string]json.RawMessage{}
			if err := d.Decode(&o); err == io.EOF {
				return out, nil
			} else if err != nil {
				return nil, err
			}
			each(o, func(o map[string]json.RawMessage) {
				line, _ := json.Marshal(o)
				out = append(append(out, line...), '\n')
			})
		}
	})
}

// handlerKind is the way to a handler.
type handlerKind bool

const (
	process handlerKind = false
	service handlerKind = true
)

// identity changes what a handler of one kind, process or service, is told beside
// the streams.
func identity(kind handlerKind, change func(id *transport.Identity)) Fault {
	return Fault{Handler: func(next transport.Handler) transport.Handler {
		if _, overHTTP := next.(*transport.HTTP); overHTTP != (kind == service) {
			return next
		}
		return handlerFunc(func(ctx context.Context, inv transport.Invocation) error {
			change(&inv.Identity)
			return next.Invoke(ctx, inv)
		})
	}}
}
