package stream

import (
	"bytes"
	"encoding/base64"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
)

func TestEncoder(t *testing.T) {
	for _, tc := range []struct {
		name string
		in   Input
		want string
	}{
		{"lifecycle without an event", Input{}, "{}\n"},
		{"memory", Input{Event: EventMemory, URL: "http://127.0.0.1:1/memories/"},
			`{"event":"memory","url":"http://127.0.0.1:1/memories/"}` + "\n"},
		{"standard alphabet", Input{Data: []byte{0xfb, 0xff, 0xfe}}, `{"data":"+//+"}` + "\n"},
		{"padding", Input{Data: []byte("A")}, `{"data":"QQ=="}` + "\n"},
		{"empty metadata", Input{Metadata: map[string]string{}, Data: []byte{}}, "{}\n"},
		{"everything", Input{Event: EventPush, URL: "u", Size: 3, ContentType: "a/b; c=<d>", ContentEncoding: "gzip",
			SchemaURL: "https://x/?a=1&b=2", Name: "ü/日", Metadata: map[string]string{"k": "v", "": "e"}},
			`{"event":"push","url":"u","size":3,"content-type":"a/b; c=<d>","content-encoding":"gzip",` +
				`"schema-url":"https://x/?a=1&b=2","name":"ü/日","metadata":{"":"e","k":"v"}}` + "\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := NewEncoder(&b).Encode(tc.in); err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tc.want, b.String()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// decode reads a whole stream and forgets where its records stood.
func decode(r io.Reader) ([]Output, error) {
	d := NewDecoder(r)
	var all []Output
	for {
		o, err := d.Next()
		if err == io.EOF {
			return all, nil
		}
		if err != nil {
			return all, err
		}
		o.Record, o.Offset = 0, 0
		all = append(all, o)
	}
}

func TestDecoderAccepts(t *testing.T) {
	a, b := Output{Data: []byte("A")}, Output{Name: "b"}
	for _, tc := range []struct {
		name, text string
		want       []Output
	}{
		{"nothing", "", nil},
		{"only whitespace", " \t\r\n\n", nil},
		{"no separator", `{"data":"QQ=="}{"name":"b"}`, []Output{a, b}},
		{"every separator", "\r\n\t {\"data\":\"QQ==\"}\r{\"name\":\"b\"}\t \n\n{\"name\":\"b\"}", []Output{a, b, b}},
		{"pretty-printed", "{\n  \"data\" : \"QQ==\" ,\n\t\"metadata\" : { \"k\" : \"v\" , \"l\":\"\" }\n}\n",
			[]Output{{Data: []byte("A"), Metadata: map[string]string{"k": "v", "l": ""}}}},
		{"everything", `{"uri":"s3://b/k","data":"QUI","content-type":"c","content-encoding":"e","schema-url":"s",` +
			`"name":"n","metadata":{"m":"1"},"fork":true,"session":"AB"}`,
			[]Output{{URI: "s3://b/k", Data: []byte("AB"), ContentType: "c", ContentEncoding: "e", SchemaURL: "s",
				Name: "n", Metadata: map[string]string{"m": "1"}, Fork: true, Session: "AB"}}},
		{"padded", `{"data":"QQ=="}{"data":"QUI="}{"data":"QUJD"}`,
			[]Output{{Data: []byte("A")}, {Data: []byte("AB")}, {Data: []byte("ABC")}}},
		{"unpadded", `{"data":"QQ"}{"data":"QUI"}`, []Output{{Data: []byte("A")}, {Data: []byte("AB")}}},
		{"escaped base64", `{"data":"\u0051Q==\/"}`, nil},
		{"escapes", `{"name":"\ud83d\ude00\u2028ü\""}`, []Output{{Name: "😀\u2028ü\""}}},
		{"escaped field name", `{"n\u0061me":"b"}`, []Output{b}},
		{"other case is another field", `{"name":"b","NAME":"x","Data":"Qg==","Fork":true,"Session":"x"}`, []Output{b}},
		{"unknown fields", `{"n":null,"t":true,"i":-1.5e30,"s":"s","a":[1,[2,{}]],"o":{"data":"eA==","fork":true,"q":"}\\\""},"name":"b","forks":1}`,
			[]Output{b}},
		{"zero values", `{"uri":"","data":"","content-type":"","metadata":{},"fork":false,"session":"","name":"b"}`,
			[]Output{{Data: []byte{}, Metadata: map[string]string{}, Name: "b"}}},
		{"null is missing", `{"data":null,"metadata":null,"fork":null,"session":null,"name":"b"}`, []Output{{Data: []byte{}, Name: "b"}}},
		{"the last of a repeated field", `{"name":"a","name":"b"}`, []Output{b}},
		{"no-ops", `{}{ }{"x-unknown":1}`, []Output{{}, {}, {}}},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once": strings.NewReader(tc.text), "byte by byte": iotest.OneByteReader(strings.NewReader(tc.text)),
				"error with data": iotest.DataErrReader(strings.NewReader(tc.text)),
			} {
				got, err := decode(r)
				if tc.name == "escaped base64" { // four characters and one more: the escapes were undone
					if err == nil || !strings.Contains(err.Error(), "not standard base64") {
						t.Errorf("%s: %v", how, err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%s: %v", how, err)
				}
				if diff := cmp.Diff(tc.want, got); diff != "" {
					t.Errorf("%s: %s", how, diff)
				}
			}
		})
	}
}

func TestDecoderRejects(t *testing.T) {
	for _, tc := range []struct {
		name, text string
		record     int
		offset     int64
		message    string
	}{
		{"garbage between records", `{"name":"a"} log line {}`, 2, 13, "invalid character 'l'"},
		{"byte-order mark", "\ufeff{}", 1, 0, "invalid character"},
		{"comment", "{} // {}", 2, 3, "invalid character '/'"},
		{"array", `{}[{"name":"a"}]`, 2, 2, "JSON object"},
		{"null", `{} null`, 2, 3, "JSON object"},
		{"string", ` "{}"`, 1, 1, "JSON object"},
		{"comma between records", `{},{}`, 2, 2, "invalid character ','"},
		{"trailing comma", `{"name":"a",}`, 1, 12, "invalid character '}'"},
		{"NaN", `{"x":NaN}`, 1, 5, "invalid character 'N'"},
		{"cut off in a record", `{}` + "\n" + `{"name":"a"`, 2, 2, "ends inside a record"},
		{"cut off in a string", `{"name":"a`, 1, 0, "ends inside a record"},
		{"name is a number", ` {"name":5}`, 1, 1, `field "name": has to be a string, not 5`},
		{"fork is a string", `{"fork":"true"}`, 1, 0, `field "fork": has to be true or false`},
		{"metadata is a list", `{"metadata":[]}`, 1, 0, `field "metadata": has to be an object of strings`},
		{"metadata holds a number", `{"metadata":{"a":1}}`, 1, 0, `object of strings`},
		{"no base64", `{"data":"*"}`, 1, 0, "not standard base64"},
		{"base64 of the URL alphabet", `{"data":"-__-"}`, 1, 0, "not standard base64"},
		{"base64 with a line break", `{"data":"QUJD\nQUJD"}`, 1, 0, "line break"},
		{"base64 of impossible length", `{"data":"QUJDR"}`, 1, 0, "not standard base64"},
		{"half the padding", `{"data":"QQ="}`, 1, 0, "not standard base64"},
		{"only padding", `{"data":"="}`, 1, 0, "not standard base64"},
		{"Latin-1", "{\"name\":\"\xfc\"}", 1, 0, "not valid UTF-8"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			for how, r := range map[string]io.Reader{
				"at once": strings.NewReader(tc.text), "byte by byte": iotest.OneByteReader(strings.NewReader(tc.text)),
			} {
				_, err := decode(r)
				var f *Fault
				if !errors.As(err, &f) {
					t.Fatalf("%s: got %v, want a fault", how, err)
				}
				if f.Record != tc.record || f.Offset != tc.offset || !strings.Contains(f.Error(), tc.message) {
					t.Errorf("%s: got %v, want record %d, byte %d, %q", how, f, tc.record, tc.offset, tc.message)
				}
			}
		})
	}
}

func TestDecoderPassesReaderErrorsOn(t *testing.T) {
	broken := errors.New("broken pipe")
	_, err := decode(io.MultiReader(strings.NewReader(`{"name":"a"}{"na`), iotest.ErrReader(broken)))
	var f *Fault
	if !errors.Is(err, broken) || errors.As(err, &f) {
		t.Errorf("got %v", err)
	}
}

func TestDecoderTakesLargeRecords(t *testing.T) {
	body := bytes.Repeat([]byte("0123456789abcdef"), 2<<20/16)
	text := `{"data":"` + base64.StdEncoding.EncodeToString(body) + `"}`
	got, err := decode(strings.NewReader(text + "{}"))
	if err != nil || len(got) != 2 || !bytes.Equal(got[0].Data, body) {
		t.Errorf("%d records, %v", len(got), err)
	}
}

func TestEmpty(t *testing.T) {
	empty := []string{`{}`, `{"data":"","fork":false,"metadata":{},"session":""}`, `{"x-unknown":1}`}
	filled := []string{`{"uri":"u"}`, `{"data":"QQ"}`, `{"content-type":"c"}`, `{"content-encoding":"c"}`, `{"schema-url":"s"}`,
		`{"name":"n"}`, `{"metadata":{"":""}}`, `{"fork":true}`, `{"session":"s"}`}
	for _, text := range append(empty, filled...) {
		o, err := NewDecoder(strings.NewReader(text)).Next()
		if err != nil {
			t.Fatal(err)
		}
		if o.Empty() != slices.Contains(empty, text) {
			t.Errorf("%s: Empty() = %v", text, o.Empty())
		}
	}
}

func FuzzDecoder(f *testing.F) {
	f.Add([]byte(`{"name":"a","x":[{"y":"\""}],"data":"QQ"} {}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d := NewDecoder(bytes.NewReader(text))
		for {
			o, err := d.Next()
			if err != nil {
				return
			}
			if text[o.Offset] != '{' {
				t.Fatalf("record %d does not begin at %d", o.Record, o.Offset)
			}
		}
	})
}

func BenchmarkDecoder(b *testing.B) {
	text := []byte(`{"data":"` + base64.StdEncoding.EncodeToString(make([]byte, 1<<20)) + `","name":"x"}`)
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		if _, err := decode(bytes.NewReader(text)); err != nil {
			b.Fatal(err)
		}
	}
}
