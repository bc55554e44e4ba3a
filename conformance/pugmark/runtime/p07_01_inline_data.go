package runtime

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"slices"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

var _ = scenario("P7.1", "inlined-bodies", "short entries of text, JSON and bytes, inline at rest: what comes inline comes as base64 in data, and nowhere else",
	"P7.1-1",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		list := []wire.Entry{
			{Name: "text", Body: []byte(x.Word("text")), ContentType: "text/plain"},
			{Name: "json", Body: fmt.Appendf(nil, `{"k":%q}`, x.Word("v")), ContentType: "application/json"},
			{Name: "bytes", Body: x.Bytes(700)},
		}
		s.Commit(wire.Checkpoint, list...)
		run := x.Run(s.ID)
		inv := run.Next()
		for _, e := range list {
			in, ok := inv.named(e.Name)
			if !ok {
				continue // P4.2-5
			}
			if in.Has("data") && !in.Zero("data") {
				x.Clause("P7.1-1").Holds(in.HasData && bytes.Equal(in.Data, e.Body), "data is the body of "+e.Name+" in base64: "+base64.StdEncoding.EncodeToString(e.Body), "%s", clip(in.Fields["data"], 300))
			}
			for _, field := range in.Keys {
				value := in.Fields[field]
				var text string
				if slices.Contains(wire.InputFields, field) {
					continue
				}
				carries := bytes.Contains(value, e.Body) || json.Unmarshal(value, &text) == nil &&
					(text == string(e.Body) || text == base64.StdEncoding.EncodeToString(e.Body))
				x.Clause("P7.1-1").Holds(!carries, "no other field carries the body of "+e.Name, "field %q: %s", field, clip(value, 300))
			}
			if in.URL != "" && !in.Has("data") {
				x.Clause("P7.1-1").Holds(true, "a runtime is free not to inline", "%s has a url and no data", e.Name)
			}
		}
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P7.1", "limit", "bodies of 1024 and 1025 bytes, seeded without inline data and committed by the runtime itself: the longer one is never inlined",
	"P7.1-2",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		s.Commit(wire.Checkpoint, wire.Entry{Name: "seeded-1024", Body: x.fill(1024), NoInline: true}, wire.Entry{Name: "seeded-1025", Body: x.fill(1025), NoInline: true})
		x.invoked(s, wire.OutputRecord{Name: "own-1024", Data: x.fill(1024)}, wire.OutputRecord{Name: "own-1025", Data: x.fill(1025)})
		run := x.Run(s.ID)
		inv := run.Next()
		for _, name := range fields("seeded-1025 own-1025") {
			if in, ok := inv.named(name); ok {
				x.Clause("P7.1-2").Holds(!in.HasData, "a body of 1025 bytes is not inlined ("+name+")", "data holds %d bytes", len(in.Data))
			}
		}
		for _, in := range inv.Replay() {
			x.Clause("P7.1-2").Holds(len(in.Data) <= 1024, "no Input has more than 1024 bytes inline", "%s has %d", in.Name, len(in.Data))
		}
		inv.Finish()
		run.Wait()
		for _, d := range x.appended(s.ID) {
			if d.Name == "own-1025" {
				x.Clause("P7.1-2").Holds(!d.HasData, "the descriptor of a body of 1025 bytes has no data", "data holds %d bytes", len(d.Data))
			}
		}
	}, overBoth)

var _ = scenario("P7.1", "data-and-url", "short entries, plain and gzip: where an Input has data and url both lead to the same bytes",
	"P7.1-5",
	func(x *Lab) {
		s := x.Session(wire.SessionSpec{})
		packed, _ := x.gzipped()
		list := []wire.Entry{
			{Name: "plain", Body: x.Bytes(500)}, {Name: "gzip", Body: packed, ContentEncoding: "gzip"},
			{Name: "json", Body: []byte(`{"a" : 1}`), ContentType: "application/json"},
		}
		s.Commit(wire.Checkpoint, list...)
		run := x.Run(s.ID)
		inv := run.Next()
		both := 0
		for _, in := range inv.Replay() {
			if in.URL == "" || !in.HasData || leadsElsewhere(in.URL, list, wire.Entry{Name: in.Name}) {
				continue
			}
			res, err := inv.Get(in.URL)
			if err != nil || res.Status != 200 {
				continue // P7-9
			}
			both++
			x.Clause("P7.1-5").Holds(bytes.Equal(res.Body, in.Data), "data and url of "+in.Name+" stand for identical bytes", "data: %d bytes % x…; url: %d bytes % x…", len(in.Data), clip(in.Data, 8), len(res.Body), clip(res.Body, 8))
		}
		if both == 0 {
			x.Clause("P7.1-5").NotExercised("the runtime sends no Input with both data and url")
		}
		inv.Finish()
		run.Wait()
	}, overBoth)
