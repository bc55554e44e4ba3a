package fakes3

import (
	"bytes"
	"encoding/base64"
	"encoding/xml"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"unicode/utf8"
)

// maxPage is how many entries S3 lists at most, and where max-keys is absent.
const maxPage = 1000

// list answers ListObjects and ListObjectsV2.
func (x *exchange) list() {
	q := x.record.Query
	in, wrong := listingOf(q)
	if wrong != nil {
		x.refusal = wrong
		return
	}
	in.hide = x.hide
	var out page
	err := x.read(x.record.Bucket, func(b *bucket) error {
		out = b.list(in)
		return nil
	})
	if err != nil {
		return // refused by now
	}
	w := listWriter{encode: func(s string) string { return s }}
	if q.Get("encoding-type") == "url" {
		w.encode = encodeKey
	}
	w.result(x.record.Bucket, q, in, out)
	h := x.answer.header
	h.Set("X-Amz-Request-Id", requestID(x.record.N))
	h.Set("Server", "AmazonS3")
	h.Set("Content-Type", "application/xml")
	x.answer.body = w.Buffer
}

// listingOf reads the parameters of either version.
func listingOf(q url.Values) (listing, *refusal) {
	in := listing{prefix: q.Get("prefix"), delimiter: q.Get("delimiter"), max: maxPage}
	if value := q.Get("max-keys"); value != "" {
		n, err := strconv.ParseInt(value, 10, 32)
		if err != nil || n < 0 {
			return in, invalidArgument("max-keys is not a number from 0")
		}
		in.max = min(int(n), maxPage)
	}
	if value := q.Get("encoding-type"); value != "" && value != "url" {
		return in, invalidArgument("encoding-type is not url")
	}
	switch version := q.Get("list-type"); {
	case version == "2" && q.Has("continuation-token"):
		token, err := base64.RawURLEncoding.DecodeString(q.Get("continuation-token"))
		if err != nil || len(token) == 0 || !utf8.Valid(token) {
			return in, invalidArgument("the continuation token is none of this server's")
		}
		in.after = string(token)
	case version == "2":
		in.after = q.Get("start-after")
	case version == "" || version == "1":
		in.after = q.Get("marker")
	default:
		return in, invalidArgument("list-type is not 2")
	}
	return in, nil
}

// encodeKey writes a key as encoding-type=url has it. A space is %20, which decoders of both schools understand.
func encodeKey(key string) string {
	encoded := url.QueryEscape(key)
	encoded = strings.ReplaceAll(encoded, "+", "%20")
	return strings.ReplaceAll(encoded, "%2F", "/")
}

// listWriter writes the XML of a listing. Listings are the bulk of what some clients ask, and encoding/xml would take
// longer over a page than the rest of the server.
type listWriter struct {
	bytes.Buffer
	encode func(string) string // for names, by encoding-type
}

func (w *listWriter) result(bucketName string, q url.Values, in listing, out page) {
	v2 := q.Get("list-type") == "2"
	w.Grow(512 + 320*len(out.entries))
	w.WriteString(xml.Header + `<ListBucketResult xmlns="http://s3.amazonaws.com/doc/2006-03-01/">`)
	w.element("Name", bucketName)
	w.element("Prefix", w.encode(in.prefix))
	if in.delimiter != "" {
		w.element("Delimiter", w.encode(in.delimiter))
	}
	if encoding := q.Get("encoding-type"); encoding != "" {
		w.element("EncodingType", encoding)
	}
	w.element("MaxKeys", strconv.Itoa(in.max))
	w.element("IsTruncated", strconv.FormatBool(out.truncated))
	if v2 {
		w.element("KeyCount", strconv.Itoa(len(out.entries)))
		if q.Has("start-after") {
			w.element("StartAfter", w.encode(q.Get("start-after")))
		}
		if q.Has("continuation-token") {
			w.element("ContinuationToken", q.Get("continuation-token"))
		}
		if out.truncated {
			w.element("NextContinuationToken", base64.RawURLEncoding.EncodeToString([]byte(out.last())))
		}
	} else {
		w.element("Marker", w.encode(in.after))
		if out.truncated && in.delimiter != "" { // S3 leaves it out where the last key serves
			w.element("NextMarker", w.encode(out.last()))
		}
	}
	owner := !v2 || q.Get("fetch-owner") == "true"
	for _, e := range out.entries {
		if e.object != nil {
			w.contents(e.name, e.object, owner)
		}
	}
	for _, e := range out.entries {
		if e.object == nil {
			w.WriteString("<CommonPrefixes>")
			w.element("Prefix", w.encode(e.name))
			w.WriteString("</CommonPrefixes>")
		}
	}
	w.WriteString("</ListBucketResult>")
}

func (w *listWriter) contents(key string, o *object, owner bool) {
	w.WriteString("<Contents>")
	w.element("Key", w.encode(key))
	w.WriteString("<LastModified>")
	w.Write(o.modified.UTC().AppendFormat(w.AvailableBuffer(), "2006-01-02T15:04:05.000Z"))
	w.WriteString("</LastModified>")
	w.element("ETag", o.etag())
	w.element("Size", strconv.Itoa(len(o.body)))
	if owner {
		w.WriteString("<Owner><ID>fakes3</ID><DisplayName>fakes3</DisplayName></Owner>")
	}
	w.WriteString("<StorageClass>STANDARD</StorageClass></Contents>")
}

func (w *listWriter) element(name, text string) {
	w.WriteString("<" + name + ">")
	w.text(text)
	w.WriteString("</" + name + ">")
}

// text writes text of an element. Control characters, which are legal in keys but not in XML, become references as they
// do with S3: a client that wants them asks for encoding-type=url, and another had better notice.
func (w *listWriter) text(text string) {
	text = strings.ToValidUTF8(text, "\ufffd") // the prefix may be anything
	written := 0
	for i, c := range text {
		if reference := xmlReference(c); reference != "" {
			w.WriteString(text[written:i])
			w.WriteString(reference)
			written = i + utf8.RuneLen(c)
		}
	}
	w.WriteString(text[written:])
}

// xmlReference returns what stands for a character in the text of an element; "" for the character itself.
func xmlReference(c rune) string {
	switch {
	case c == '&':
		return "&amp;"
	case c == '<':
		return "&lt;"
	case c == '>':
		return "&gt;"
	case c == '"':
		return "&quot;"
	case c < 0x20 || c == 0xfffe || c == 0xffff:
		return fmt.Sprintf("&#x%x;", c)
	}
	return ""
}
