package wire_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// TestDecodeGoesOnBehindFaults has several faults in one stream, each with what survives.
func TestDecodeGoesOnBehindFaults(t *testing.T) {
	text := "\xef\xbb\xbf{\"name\":\"1\"}\nwarning: {not json} here\n{\"name\":\"3\",\"name\":NaN}{\"name\":\n{\"name\":\"5\"}\n" +
		"{\"a\":{\"b\":tru}\n  {\"name\":\"7\"} [1] \"x\" {\"name\":\"\xff\"}\n{\"name\":"
	records, faults := wire.DecodeStream([]byte(text))
	var got []string
	for _, r := range records {
		got = append(got, fmt.Sprintf("%d %s", r.N, r.Raw))
	}
	for _, f := range faults {
		got = append(got, fmt.Sprintf("%d %s %.8q", f.Record, f.Kind, text[f.Offset:]))
	}
	if diff := cmp.Diff([]string{
		"1 {\"name\":\"1\"}",
		"2 {\"name\":\"3\",\"name\":NaN}",
		"5 {\"name\":\"7\"}",
		"8 {\"name\":\"\xff\"}",
		"1 bom \"\\ufeff{\\\"name\\\"\"",
		"2 stray \"warning:\"",
		"2 duplicate-key \"\\\"name\\\":N\"",
		"2 not-a-number \"NaN}{\\\"na\"",
		"3 not-json \"{\\\"a\\\":{\\\"b\"",
		"4 not-json \"tru}\\n  {\"",
		"6 not-object \"[1] \\\"x\\\" \"",
		"7 not-object \"\\\"x\\\" {\\\"na\"",
		"8 invalid-utf8 \"\\xff\\\"}\\n{\\\"na\"",
		"9 truncated \"\"",
	}, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

func TestFaultNamesRecordAndByte(t *testing.T) {
	_, faults := wire.DecodeOutputs([]byte("{}\n{\"fork\":\"yes\"}\n"))
	if len(faults) != 1 || faults[0].Error() != `record 2, byte 11: fork: want true or false, found a string "yes"` {
		t.Errorf("%v", faults)
	}
}

func TestRecordAccess(t *testing.T) {
	records, faults := wire.DecodeStream([]byte(`{"s":"\u00e9","z":"","n":-5,"b":true,"m":{"k":"v"},"e":{ },"x":null,"big":1e400}`))
	if faults != nil {
		t.Fatal(faults)
	}
	r := records[0]
	s, sOK := r.String("s")
	n, nOK := r.Int("n")
	b, bOK := r.Bool("b")
	m, mOK := r.StringMap("m")
	if s != "é" || !sOK || n != -5 || !nOK || !b || !bOK || m["k"] != "v" || !mOK {
		t.Error(s, sOK, n, nOK, b, bOK, m, mOK)
	}
	for field, zero := range map[string]bool{"s": false, "z": true, "n": false, "e": true, "x": true, "m": false, "absent": false} {
		if r.Zero(field) != zero {
			t.Errorf("Zero(%s) is %v", field, !zero)
		}
	}
	if _, ok := r.Int("s"); ok {
		t.Error("a string reads as a number")
	}
	if _, ok := r.Int("big"); ok {
		t.Error("1e400 reads as an integer")
	}
	if _, ok := r.String("absent"); ok || r.Has("absent") || !r.Has("x") {
		t.Error("absence is not seen")
	}
}

func TestRecordsEncodeInOneForm(t *testing.T) {
	out := wire.OutputRecord{URI: "u", Data: []byte{0xfb, 0xff}, ContentType: "t", ContentEncoding: "e", SchemaURL: "s", Name: "<n>\u2028",
		Metadata: map[string]string{"b": "2", "a": ""}, Fork: true, Session: sampleID}
	want := `{"uri":"u","data":"+/8=","content-type":"t","content-encoding":"e","schema-url":"s","name":"<n>\u2028","metadata":{"a":"","b":"2"},"fork":true,"session":"` + sampleID + `"}` + "\n"
	if got := string(out.Encode()); got != want {
		t.Errorf("%s, want %s", got, want)
	}
	decoded, faults := wire.DecodeOutputs(out.Encode())
	if len(decoded) != 1 || faults != nil || string(decoded[0].JSON())+"\n" != want || decoded[0].Empty() {
		t.Errorf("%+v, %v", decoded, faults)
	}
	in := wire.InputRecord{Event: "push", URL: "u", Size: 3, Name: "n", Data: []byte("abc")}
	if got := string(in.Encode()); got != `{"event":"push","url":"u","size":3,"name":"n","data":"YWJj"}`+"\n" {
		t.Error(got)
	}
	spelled, _ := wire.DecodeInputs([]byte(`{"data":"YWJj","x":1,"size": 3,"name":"\u006e","url":"u","metadata":{},"event":"push","content-type":""}`))
	if string(spelled[0].JSON())+"\n" != string(in.Encode()) {
		t.Errorf("%s", spelled[0].JSON())
	}
	if got := string(wire.InputRecord{}.Encode()); got != "{}\n" {
		t.Error(got)
	}
	empty, _ := wire.DecodeOutputs([]byte(`{"x":1,"data":"","fork":false,"metadata":{}}`))
	if !empty[0].Empty() {
		t.Error("a record without any known value is not empty")
	}
}

// stress are streams of n bytes or so that a careless decoder takes quadratic time for, or its stack's end.
func stress(n int) map[string][]byte {
	record := `{"name":"entry","metadata":{"k":"v"},"data":"` + strings.Repeat("QUJD", 20) + `"}` + "\n"
	return map[string][]byte{
		"records":             bytes.Repeat([]byte(record), n/len(record)),
		"one long string":     []byte(`{"data":"` + strings.Repeat("A", n) + `"}`),
		"escapes":             []byte(`{"name":"` + strings.Repeat(`\ud83d\ude00`, n/12) + `"}`),
		"whitespace":          bytes.Repeat([]byte(" \n"), n/2),
		"open braces":         bytes.Repeat([]byte("{"), n),
		"open brackets":       bytes.Repeat([]byte("["), n),
		"broken lines":        bytes.Repeat([]byte("{\"a\":\n"), n/6),
		"nested unfinished":   bytes.Repeat([]byte(`{"a":`), n/5),
		"stray braces":        append([]byte("x"), bytes.Repeat([]byte("{ "), n/2)...),
		"stray and objects":   bytes.Repeat([]byte("x{}"), n/3),
		"array never closed":  append([]byte("["), bytes.Repeat([]byte("{},"), n/3)...),
		"array broken at end": append(append([]byte("["), bytes.Repeat([]byte("{},"), n/3)...), 'x'),
		"many keys":           manyKeys(n),
		"values of all kinds": bytes.Repeat([]byte(`[1] "s" null 4 `), n/15),
		"byte-order marks":    bytes.Repeat([]byte("\xef\xbb\xbf"), n/3),
		"spaced braces":       append([]byte("{"), bytes.Repeat([]byte("         {"), n/10)...),
	}
}

func manyKeys(n int) []byte {
	var b bytes.Buffer
	b.WriteString(`{"":0`)
	for i := 0; b.Len() < n; i++ {
		fmt.Fprintf(&b, `,"k%d":%d`, i, i)
	}
	b.WriteString("}")
	return b.Bytes()
}

// TestDecodeIsLinear would run for hours on any of these if the time grew with the square of the length.
func TestDecodeIsLinear(t *testing.T) {
	for name, text := range stress(1 << 18) {
		records, faults := wire.DecodeStream(text)
		if len(records) == 0 && len(faults) == 0 && name != "whitespace" {
			t.Errorf("%s: neither record nor fault", name)
		}
	}
}

func BenchmarkDecodeStream(b *testing.B) {
	for name, text := range stress(10 << 20) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				wire.DecodeStream(text)
			}
		})
	}
}

func BenchmarkDecodeOutputs(b *testing.B) {
	text := stress(10 << 20)["records"]
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		wire.DecodeOutputs(text)
	}
}

func FuzzDecodeStream(f *testing.F) {
	for _, c := range append(validStreams, invalidStreams...) {
		s, err := c.parse()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(s.Bytes)
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		records, faults := wire.DecodeStream(b)
		end, n := int64(0), 0
		for _, r := range records {
			if r.Offset < end || r.N <= n || !bytes.Equal(b[r.Offset:r.End], r.Raw) || len(bytes.Trim(r.After, " \t\r\n")) > 0 {
				t.Fatalf("record %d is misplaced: %+v", r.N, r)
			}
			end, n = r.End, r.N
		}
		at, clean := int64(0), true
		for _, fault := range faults {
			if fault.Offset < at || fault.Offset > int64(len(b)) || fault.Record < 1 || fault.Text == "" {
				t.Fatalf("fault %+v behind byte %d", fault, at)
			}
			at = fault.Offset
			clean = clean && (fault.Kind == wire.DuplicateKey || fault.Kind == wire.InvalidUTF8 || fault.Kind == wire.LoneSurrogate)
		}
		// The standard library is another reader of the same grammar: it has to find the same records, or fail as we do.
		var theirs []json.RawMessage
		d := json.NewDecoder(bytes.NewReader(b))
		for {
			var v json.RawMessage
			if err := d.Decode(&v); err != nil {
				if broken := err.Error() != "EOF"; broken == clean {
					t.Fatalf("the standard library says %v, we say %v", err, faults)
				}
				break
			}
			if v[0] != '{' {
				clean = false
				if len(faults) == 0 {
					t.Fatalf("no fault for %s", v)
				}
				break
			}
			theirs = append(theirs, v)
		}
		for i, v := range theirs {
			if clean && (i >= len(records) || !bytes.Equal(v, records[i].Raw)) || i >= len(records) && len(faults) == 0 {
				t.Fatalf("record %d is %s by the standard library", i+1, v)
			}
		}
		if clean && len(theirs) != len(records) {
			t.Fatalf("%d records, the standard library finds %d", len(records), len(theirs))
		}
		wire.DecodeInputs(b)
		wire.DecodeOutputs(b)
	})
}

func FuzzDecodeSnapshot(f *testing.F) {
	key := sessionID(1).SnapshotKey(1)
	for _, c := range bucketCases {
		objects := wire.Objects{}
		c.lay(wire.NewBucket(objects))
		for _, o := range objects {
			f.Add(o.Body, o.ContentEncoding == "zstd")
		}
	}
	f.Fuzz(func(t *testing.T, body []byte, compressed bool) {
		text := body
		o := wire.Stored{Key: key, Body: body, ContentEncoding: "zstd", ContentType: "application/json"}
		if !compressed {
			o.Body = wire.EncodeZstd(body)
		} else if text, _ = wire.DecodeZstd(body); len(text) > 1<<20 {
			t.Skip("too large")
		}
		s, found := wire.DecodeSnapshot(o)
		for _, p := range found {
			if p.Key != key || p.Kind == "" || p.Text == "" {
				t.Fatalf("problem %+v", p)
			}
		}
		if len(found) == 0 {
			var theirs []json.RawMessage
			if err := json.Unmarshal(text, &theirs); err != nil || len(theirs) != len(s.Descriptors) {
				t.Fatalf("no problem and %d descriptors, the standard library finds %d (%v)", len(s.Descriptors), len(theirs), err)
			}
		}
		for _, d := range s.Descriptors {
			d.IsFork()
			d.ForkTarget()
			d.CrossTarget()
			d.BlobKey()
		}
		wire.DecodeManifest(wire.Stored{Key: sessionID(1).ManifestKey(), Body: text})
		wire.DecodeMemory(wire.Stored{Key: "memories/a/FFFFFFFF.json", Body: o.Body, ContentEncoding: "zstd"})
		wire.DecodeControl(text)
		wire.DecodeRef(wire.Stored{Key: "refs/a", Body: text})
		wire.ParseKey(string(text))
	})
}
