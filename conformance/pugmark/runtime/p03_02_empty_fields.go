package runtime

import (
	"encoding/base64"
	"fmt"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
)

var _ = scenario("P3.2", "any-subset", "Outputs with a body only, with a name too, with every optional field: all are committed",
	"P3.2-1",
	func(x *Lab) {
		full := x.unpadded("full")
		full.ContentEncoding, full.SchemaURL = "x-none", "https://example.com/s"
		full.Metadata = map[string]string{"k": "v"}
		x.control(full)
		bare, named := wire.OutputRecord{Data: x.threes("bare")}, wire.OutputRecord{Name: "named", Data: x.threes("named")}
		got := x.commitOf("P3.2-1", plainly(bare, named, full))
		for _, o := range []struct {
			how  string
			data []byte
		}{{"data only", bare.Data}, {"name and data", named.Data}, {"every optional field", full.Data}} {
			_, ok := got.by(o.data)
			x.Clause("P3.2-1").Holds(ok, "an Output with "+o.how+" is committed", "%s; committed: %s%s", got.exit.Exit, got.list(), got.complaint())
		}
	}, overBoth)

var _ = scenario("P3.2", "no-empty-fields", "an entry with only a body, one of zero length, and an invocation without an event: records hold no empty field",
	"P3.2-2",
	func(x *Lab) {
		// Judged by the invariant of this clause.
		s := x.plainLog()
		s.Commit(wire.Checkpoint, wire.Entry{Body: x.threes("nothing but a body")}, wire.Entry{Name: "empty", Body: []byte{}}, x.text("last"))
		run := x.Run(s.ID)
		inv := run.Next()
		inv.Received()
		inv.Finish()
		run.Wait()
	}, overBoth)

var _ = scenario("P3.2", "missing-is-zero", "Outputs with their empty fields spelled out and left out: both mean the same",
	"P3.2-3",
	func(x *Lab) {
		body := x.threes("body")
		control := x.control(wire.OutputRecord{Data: body})
		b64 := base64.StdEncoding.EncodeToString(body)
		zeros := `"uri":"","content-type":"","content-encoding":"","schema-url":"","name":"","metadata":{},"fork":false,"session":""`
		control.same(x.Clause("P3.2-3"), x.commitOf("P3.2-3", `{"data":"`+b64+`",`+zeros+"}\n"), "every other field there with its zero value")

		named := x.control(wire.OutputRecord{Name: "n", Data: body})
		named.same(x.Clause("P3.2-3"), x.commitOf("P3.2-3", `{"fork":false,"session":"","name":"n","data":"`+b64+`"}`+"\n"), `"fork":false and "session":""`)

		uri := x.elsewhere("fetched", body)
		fetched := x.commitOf("", fmt.Sprintf(`{"name":"n","uri":%q}`+"\n", uri))
		if _, ok := fetched.by(body); !ok {
			return // what a uri does is judged at P5.3-2; empty data beside one says nothing then
		}
		fetched.same(x.Clause("P3.2-3"), x.commitOf("P3.2-3", fmt.Sprintf(`{"data":"","name":"n","uri":%q}`+"\n", uri)), `"data":"" beside a uri, which means no data`)
	})

// elsewhere puts an object outside the root of the pugmark bucket and gives its
// s3:// address.
func (x *Lab) elsewhere(key string, body []byte) string {
	x.Must(x.S3.Put(bucketName, "outside/"+key, fakes3.Object{Body: body, ContentType: "text/plain"}))
	return "s3://" + bucketName + "/outside/" + key
}
