package wire_test

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"

	fixtures "github.com/pugcheck/pugcheck/fixtures/pugmark"
)

// streamCase is a stream written by hand: ‹ and › enclose each record that can be read whole, † stands before the byte
// of the fault. The expected places so come from the text itself, not from the decoder under test.
type streamCase struct {
	name, about, text string
	kind              string // of the fault
	record            int    // of the fault
	input             bool   // a stream of Inputs; otherwise of Outputs
}

// gzipped is {"a":1} and a line feed, as gzip packs it, in base64.
const gzipped = "H4sIAAAAAAACA6tWSlSyMqzlAgBGo+h0CAAAAA=="

var validStreams = []streamCase{
	{name: "empty", about: "no bytes at all"},
	{name: "whitespace-only", about: "all four kinds of whitespace and no record", text: " \t\r\n"},
	{name: "back-to-back", about: "nothing between, before or after the records", text: `‹{"data":"QQ=="}›‹{"data":"Qg=="}›‹{"data":"Qw=="}›`},
	{name: "line-feeds", about: "one line feed after each record", text: "‹{\"data\":\"QQ==\"}›\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "no-final-line-feed", about: "the last record ends with its brace", text: "‹{\"data\":\"QQ==\"}›\n‹{\"data\":\"Qg==\"}›"},
	{name: "carriage-returns", about: "lone CRs as separators", text: "‹{\"data\":\"QQ==\"}›\r‹{\"data\":\"Qg==\"}›\r"},
	{name: "crlf", about: "CR LF as separator", text: "‹{\"data\":\"QQ==\"}›\r\n‹{\"data\":\"Qg==\"}›\r\n"},
	{name: "tabs", about: "tabs as separators", text: "‹{\"data\":\"QQ==\"}›\t‹{\"data\":\"Qg==\"}›\t"},
	{name: "spaces", about: "spaces as separators", text: "‹{\"data\":\"QQ==\"}› ‹{\"data\":\"Qg==\"}›  "},
	{name: "mixed-whitespace", about: "another mix at each border, leading and trailing too", text: "\n \t\r\n‹{\"name\":\"a\"}› \t\r\n \t‹{\"name\":\"b\"}›\n\n\n‹{\"name\":\"c\"}›\r\t"},
	{name: "pretty-printed", about: "line breaks and indent between all tokens", text: "‹{\n  \"name\" : \"a\" ,\r\n\t\"metadata\" : {\n    \"k\" : \"v\"\n  }\n}›\n‹{\n}›\n"},
	{name: "no-op", about: "a record without any field, which has no effect", text: "‹{}›\n"},
	{name: "zero-fields", about: "every known field with its zero value, which has no effect", text: `‹{"uri":"","data":"","content-type":"","content-encoding":"","schema-url":"","name":"","metadata":{},"fork":false,"session":""}›` + "\n"},
	{name: "unknown-fields", about: "unknown fields of every JSON type, to be ignored", text: `‹{"name":"n","x1":null,"x2":true,"x3":-1.5,"x4":1e30,"x5":"s","x6":[1,[2]],"x7":{"data":"eA==","fork":true},"forks":1,"content_type":7}›` + "\n"},
	{name: "case-differs", about: "names that differ from known ones in letter case are unknown", text: `‹{"name":"n","data":"QQ==","Fork":true,"DATA":"Qg==","Session":"x"}›` + "\n"},
	{name: "escaped-key", about: "a known name spelled with an escape is that name", text: `‹{"d\u0061ta":"QQ=="}›` + "\n"},
	{name: "text-raw", about: "text beyond ASCII as raw UTF-8", text: "‹{\"name\":\"ü 日本 😀 \u2028\"}›\n"},
	{name: "text-escaped", about: "the same text by escapes, a surrogate pair among them", text: `‹{"name":"\u00fc \u65e5\u672c \ud83d\uDE00 \u2028"}›` + "\n"},
	{name: "escapes", about: "every short escape", text: `‹{"name":"\"\\\/\b\f\n\r\t"}›` + "\n"},
	{name: "braces-in-strings", about: "braces and quotes inside strings end nothing", text: `‹{"name":"}{\"}{"}›‹{"name":"]["}›`},
	{name: "base64-padded", about: "bodies of one, two and three bytes with padding", text: `‹{"data":"QQ=="}›‹{"data":"QUI="}›‹{"data":"QUJD"}›`},
	{name: "base64-unpadded", about: "the same bodies without padding", text: `‹{"data":"QQ"}›‹{"data":"QUI"}›‹{"data":"QUJD"}›`},
	{name: "base64-plus-slash", about: "the two characters in which the alphabets differ", text: `‹{"data":"+/+/"}›`},
	{name: "base64-long", about: "more than 76 characters without a line break", text: `‹{"data":"` + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte("0123456789"), 10)) + `"}›` + "\n"},
	{name: "output-all-fields", about: "an Output with every field", text: `‹{"uri":"s3://other/key","data":"QQ==","content-type":"text/plain; charset=utf-8","content-encoding":"gzip","schema-url":"https://example.com/schema","name":"n","metadata":{"b":"2","a":"1","":""},"fork":true,"session":"00073ea700abcdef0123456789abcdef"}›` + "\n"},
	{name: "session-upper-case", about: "a session ID in upper case", text: `‹{"data":"QQ==","session":"00073EA700ABCDEF0123456789ABCDEF"}›` + "\n"},
	{name: "input-all-fields", about: "an Input with every field", input: true, text: `‹{"event":"push","url":"http://127.0.0.1:40000/sha256:22d0d25c441f3068c85bd031060855045143874abafc76ba1f4ccc68bbc8bcaa","size":28,"content-type":"application/json","content-encoding":"gzip","schema-url":"https://example.com/schema","name":"n","metadata":{"n":"1"},"data":"` + gzipped + `"}›` + "\n"},
	{name: "input-invocation", about: "memory announcement, two entries, empty lifecycle event", input: true, text: "‹{\"event\":\"memory\",\"url\":\"http://127.0.0.1:40000/memories/\"}›\n‹{\"size\":1,\"name\":\"a\",\"data\":\"QQ==\"}›\n‹{\"event\":\"push\",\"size\":1,\"name\":\"b\",\"data\":\"Qg==\"}›\n‹{}›\n"},
	{name: "input-large-size", about: "a size that a 64-bit float cannot hold", input: true, text: `‹{"size":9007199254740993}›` + "\n"},
}

var invalidStreams = []streamCase{
	{name: "bom-at-start", kind: "bom", record: 1, text: "†\xef\xbb\xbf‹{\"data\":\"QQ==\"}›\n"},
	{name: "bom-between-records", kind: "bom", record: 2, text: "‹{\"data\":\"QQ==\"}›\n†\xef\xbb\xbf‹{\"data\":\"Qg==\"}›\n"},
	{name: "bom-utf-16", kind: "bom", record: 1, text: "†\xff\xfe‹{\"data\":\"QQ==\"}›\n"},

	{name: "stray-log-line", kind: "stray", record: 2, text: "‹{\"data\":\"QQ==\"}›\n†INFO starting up\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "stray-log-line-with-braces", kind: "stray", record: 2, text: "‹{\"data\":\"QQ==\"}›\n†INFO state={idle} [ok]\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "stray-log-line-with-time", kind: "stray", record: 1, text: "†2024-02-29T23:00:00Z ready\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "stray-at-end", kind: "stray", record: 2, text: "‹{\"data\":\"QQ==\"}›\n†bye\n"},
	{name: "stray-closing-brace", kind: "stray", record: 2, text: "‹{\"data\":\"QQ==\"}›†}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "stray-line-comment", kind: "stray", record: 1, text: "†// outputs\n‹{\"data\":\"QQ==\"}›\n"},
	{name: "stray-hash-comment", kind: "stray", record: 1, text: "†# outputs\n‹{\"data\":\"QQ==\"}›\n"},
	{name: "stray-document-mark", kind: "stray", record: 2, text: "‹{\"data\":\"QQ==\"}›\n†---\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "stray-comma", kind: "stray", record: 2, text: "‹{\"data\":\"QQ==\"}›†,\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "stray-nul", kind: "stray", record: 2, text: "‹{\"data\":\"QQ==\"}›†\x00‹{\"data\":\"Qg==\"}›\n"},
	{name: "stray-record-separator", kind: "stray", record: 1, text: "†\x1e‹{\"data\":\"QQ==\"}›\n"},
	{name: "stray-form-feed", kind: "stray", record: 2, text: "‹{\"data\":\"QQ==\"}›\n†\f‹{\"data\":\"Qg==\"}›\n"},
	{name: "stray-no-break-space", kind: "stray", record: 2, text: "‹{\"data\":\"QQ==\"}›†\u00a0‹{\"data\":\"Qg==\"}›\n"},

	{name: "array-around-records", kind: "not-object", record: 1, text: "†[{\"data\":\"QQ==\"},{\"data\":\"Qg==\"}]\n"},
	{name: "top-level-null", kind: "not-object", record: 2, text: "‹{\"data\":\"QQ==\"}›\n†null\n"},
	{name: "top-level-string", kind: "not-object", record: 1, text: "†\"done\"\n‹{\"data\":\"QQ==\"}›\n"},
	{name: "top-level-number", kind: "not-object", record: 2, text: "‹{\"data\":\"QQ==\"}›\n†42\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "top-level-true", kind: "not-object", record: 1, text: "†true\n‹{\"data\":\"Qg==\"}›\n"},

	{name: "truncated-after-brace", kind: "truncated", record: 2, text: "‹{\"data\":\"QQ==\"}›\n{†"},
	{name: "truncated-in-key", kind: "truncated", record: 1, text: "{\"da†"},
	{name: "truncated-before-colon", kind: "truncated", record: 1, text: "{\"data\"†"},
	{name: "truncated-after-colon", kind: "truncated", record: 1, text: "{\"data\":†"},
	{name: "truncated-in-string", kind: "truncated", record: 2, text: "‹{\"data\":\"QQ==\"}›\n{\"data\":\"Qg†"},
	{name: "truncated-in-escape", kind: "truncated", record: 1, text: "{\"name\":\"\\u00†"},
	{name: "truncated-in-literal", kind: "truncated", record: 1, text: "{\"fork\":tr†"},
	{name: "truncated-before-brace", kind: "truncated", record: 1, text: "{\"data\":\"QQ==\"†"},
	{name: "truncated-array", kind: "truncated", record: 1, text: "[{\"data\":\"QQ==\"},\n†"},

	{name: "comma-trailing", kind: "not-json", record: 1, text: "{\"data\":\"QQ==\",†}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "comma-missing", kind: "not-json", record: 1, text: "{\"data\":\"QQ==\" †\"name\":\"n\"}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "colon-missing", kind: "not-json", record: 1, text: "{\"data\" †\"QQ==\"}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "brace-missing", kind: "not-json", record: 1, text: "{\"data\":\"QQ==\"\n†‹{\"data\":\"Qg==\"}›\n"},
	{name: "key-unquoted", kind: "not-json", record: 1, text: "{†data:\"QQ==\"}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "key-single-quotes", kind: "not-json", record: 1, text: "{†'data':'QQ=='}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "comment-in-record", kind: "not-json", record: 1, text: "{\"data\":\"QQ==\" †/* A */}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "string-with-line-feed", kind: "not-json", record: 1, text: "{\"name\":\"a†\nb\"}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "string-with-tab", kind: "not-json", record: 1, text: "{\"name\":\"a†\tb\"}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "string-with-nul", kind: "not-json", record: 1, text: "{\"name\":\"a†\x00b\"}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "escape-unknown", kind: "not-json", record: 1, text: "{\"name\":\"\\†x41\"}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "escape-not-hex", kind: "not-json", record: 1, text: "{\"name\":\"\\u00†g0\"}\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "number-leading-zero", kind: "not-json", record: 1, input: true, text: "{\"size\":0†1}\n‹{\"size\":2}›\n"},
	{name: "number-plus-sign", kind: "not-json", record: 1, input: true, text: "{\"size\":†+1}\n‹{\"size\":2}›\n"},
	{name: "number-hex", kind: "not-json", record: 1, input: true, text: "{\"size\":0†x10}\n‹{\"size\":2}›\n"},
	{name: "number-no-fraction", kind: "not-json", record: 1, input: true, text: "{\"size\":1.†}\n‹{\"size\":2}›\n"},
	{name: "literal-upper-case", kind: "not-json", record: 1, text: "{\"fork\":†True}\n‹{\"data\":\"Qg==\"}›\n"},

	{name: "number-nan", kind: "not-a-number", record: 1, text: "‹{\"x\":†NaN}›\n‹{\"data\":\"Qg==\"}›\n"},
	{name: "number-infinity", kind: "not-a-number", record: 1, text: "‹{\"x\":†Infinity}›\n"},
	{name: "number-minus-infinity", kind: "not-a-number", record: 1, text: "‹{\"x\":†-Infinity}›\n"},

	{name: "duplicate-key", kind: "duplicate-key", record: 2, text: "‹{\"data\":\"QQ==\"}›\n‹{\"name\":\"a\",†\"name\":\"b\"}›\n"},
	{name: "duplicate-key-escaped", kind: "duplicate-key", record: 1, text: "‹{\"name\":\"a\",†\"n\\u0061me\":\"b\"}›\n"},
	{name: "duplicate-key-nested", kind: "duplicate-key", record: 1, text: "‹{\"metadata\":{\"k\":\"1\",†\"k\":\"2\"}}›\n"},

	{name: "utf8-latin-1", kind: "invalid-utf8", record: 1, text: "‹{\"name\":\"†\xfc\"}›\n"},
	{name: "utf8-lone-continuation", kind: "invalid-utf8", record: 1, text: "‹{\"name\":\"†\x80\"}›\n"},
	{name: "utf8-cut-short", kind: "invalid-utf8", record: 1, text: "‹{\"name\":\"†\xc3\"}›\n"},
	{name: "utf8-in-key", kind: "invalid-utf8", record: 1, text: "‹{\"†\xfc\":\"\"}›\n"},

	{name: "surrogate-high-alone", kind: "lone-surrogate", record: 1, text: "‹{\"name\":\"†\\ud83d\"}›\n"},
	{name: "surrogate-low-alone", kind: "lone-surrogate", record: 1, text: "‹{\"name\":\"†\\ude00\"}›\n"},
	{name: "surrogate-high-before-letter", kind: "lone-surrogate", record: 1, text: "‹{\"name\":\"†\\ud83d\\u0041\"}›\n"},

	{name: "data-not-base64", kind: "bad-base64", record: 1, text: "‹{\"data\":†\"*\"}›\n"},
	{name: "data-plain-text", kind: "bad-base64", record: 1, text: "‹{\"data\":†\"hello world\"}›\n"},
	{name: "data-half-padded", kind: "bad-base64", record: 1, text: "‹{\"data\":†\"QQ=\"}›\n"},
	{name: "data-one-character", kind: "bad-base64", record: 1, text: "‹{\"data\":†\"Q\"}›\n"},
	{name: "data-urlsafe", kind: "base64-urlsafe", record: 1, text: "‹{\"data\":†\"-_-_\"}›\n"},
	{name: "data-line-break", kind: "base64-broken", record: 1, text: "‹{\"data\":†\"QUJD\\nREVG\"}›\n"},
	{name: "data-number", kind: "wrong-type", record: 1, text: "‹{\"data\":†65}›\n"},
	{name: "name-number", kind: "wrong-type", record: 1, text: "‹{\"name\":†1}›\n"},
	{name: "name-array", kind: "wrong-type", record: 1, text: "‹{\"name\":†[\"n\"]}›\n"},
	{name: "fork-string", kind: "wrong-type", record: 1, text: "‹{\"fork\":†\"true\"}›\n"},
	{name: "fork-number", kind: "wrong-type", record: 1, text: "‹{\"fork\":†1}›\n"},
	{name: "metadata-array", kind: "wrong-type", record: 1, text: "‹{\"metadata\":†[]}›\n"},
	{name: "metadata-number-value", kind: "wrong-type", record: 1, text: "‹{\"metadata\":†{\"n\":1}}›\n"},
	{name: "session-31-digits", kind: "bad-session", record: 1, text: "‹{\"session\":†\"00073ea700abcdef0123456789abcde\"}›\n"},
	{name: "session-not-hex", kind: "bad-session", record: 1, text: "‹{\"session\":†\"00073ea700abcdef0123456789abcdeg\"}›\n"},
	{name: "session-dashed", kind: "bad-session", record: 1, text: "‹{\"session\":†\"00073ea7-00ab-cdef-0123-456789abcdef\"}›\n"},
	{name: "size-string", kind: "wrong-type", record: 1, input: true, text: "‹{\"size\":†\"1\"}›\n"},
	{name: "size-fraction", kind: "wrong-type", record: 1, input: true, text: "‹{\"size\":†1.5}›\n"},
	{name: "size-exponent", kind: "wrong-type", record: 1, input: true, text: "‹{\"size\":†1e3}›\n"},
	{name: "size-negative", kind: "wrong-type", record: 1, input: true, text: "‹{\"size\":†-1}›\n"},
	{name: "size-beyond-64-bits", kind: "wrong-type", record: 1, input: true, text: "‹{\"size\":†9223372036854775808}›\n"},
}

// parse takes the marks out of the text.
func (c streamCase) parse() (fixtures.Stream, error) {
	s := fixtures.Stream{Case: c.name, About: c.about, Kind: "output", Records: []fixtures.StreamRecord{}}
	if c.input {
		s.Kind = "input"
	}
	var out []byte
	start := 0
	for rest := c.text; rest != ""; {
		switch {
		case strings.HasPrefix(rest, "‹"):
			start, rest = len(out), rest[len("‹"):]
		case strings.HasPrefix(rest, "›"):
			s.Records = append(s.Records, readable(out, start))
			rest = rest[len("›"):]
		case strings.HasPrefix(rest, "†"):
			if s.Fault != nil {
				return s, fmt.Errorf("stream %s: two faults", c.name)
			}
			s.Fault = &fixtures.StreamFault{Kind: c.kind, Record: c.record, Offset: int64(len(out))}
			rest = rest[len("†"):]
		default:
			out = append(out, rest[0])
			rest = rest[1:]
		}
	}
	if (s.Fault != nil) != (c.kind != "") {
		return s, fmt.Errorf("stream %s: kind %q, but fault %v", c.name, c.kind, s.Fault)
	}
	s.Bytes = out
	return s, nil
}

// readable describes the record that ends the text, by the standard library's decoder.
func readable(text []byte, start int) fixtures.StreamRecord {
	r := fixtures.StreamRecord{Offset: int64(start), End: int64(len(text))}
	var value map[string]any
	d := json.NewDecoder(bytes.NewReader(text[start:]))
	d.UseNumber()
	if d.Decode(&value) != nil {
		return r
	}
	r.Value = plain(value)
	if data, ok := value["data"].(string); ok && data != "" {
		body, err := base64.RawStdEncoding.DecodeString(strings.TrimRight(data, "="))
		if err == nil && len(data)%4 != 1 && !strings.ContainsAny(data, "\n") && (len(data)%4 == 0 || !strings.Contains(data, "=")) {
			sum := sha256.Sum256(body)
			r.Body = hex.EncodeToString(sum[:])
		}
	}
	return r
}

// plain is JSON without HTML escapes.
func plain(v any) json.RawMessage {
	var out bytes.Buffer
	e := json.NewEncoder(&out)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		panic(err)
	}
	return bytes.TrimSpace(out.Bytes())
}
