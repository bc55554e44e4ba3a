package fakes3

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode"
)

// String tells the request in one line, as in
//
//	#12 PUT /bucket/key If-None-Match:* sha256=2c26b46b68ff (3 bytes) 200 1.2ms
func (r Request) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "#%d %s %s", r.N, r.Method, r.target())
	if r.IfMatch != "" {
		fmt.Fprintf(&b, " If-Match:%s", r.IfMatch)
	}
	if r.IfNoneMatch != "" {
		fmt.Fprintf(&b, " If-None-Match:%s", r.IfNoneMatch)
	}
	if r.BodySHA256 != "" {
		fmt.Fprintf(&b, " sha256=%.12s (%d bytes)", r.BodySHA256, len(r.Body))
	}
	b.WriteByte(' ')
	b.WriteString(r.outcome())
	return b.String()
}

func (r *Request) target() string {
	target := "/" + r.Bucket
	if r.Key != "" {
		target += "/" + printable(r.Key)
	}
	if r.RawQuery != "" {
		target += "?" + r.RawQuery
	}
	return target
}

// printable percent-encodes what of a key would upset a line of a report: spaces, control characters and the like.
func printable(key string) string {
	var b strings.Builder
	for _, c := range key {
		if c != ' ' && unicode.IsPrint(c) {
			b.WriteRune(c)
		} else {
			b.WriteString(url.PathEscape(string(c)))
		}
	}
	return b.String()
}

func (r *Request) outcome() string {
	var words []string
	if r.Status != 0 {
		words = append(words, fmt.Sprint(r.Status))
	}
	if r.ErrorCode != "" {
		words = append(words, r.ErrorCode)
	}
	if r.InFlight() {
		words = append(words, "in flight")
	} else {
		words = append(words, fmt.Sprint(r.Answered.Sub(r.Arrived).Round(10*time.Microsecond)))
	}
	if r.Fate != "" {
		words = append(words, "("+r.Fate+")")
	}
	return strings.Join(words, " ")
}

// Detail tells the request in full but for its body, in several lines without a newline at the end.
func (r Request) Detail() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%v\n  %s, %s", r, r.Op, r.Took)
	if r.Caller != "" {
		fmt.Fprintf(&b, ", by %s", r.Caller)
	}
	for _, name := range slices.Sorted(maps.Keys(r.Header)) {
		for _, value := range r.Header[name] {
			if name == "Authorization" {
				value, _, _ = strings.Cut(value, "Signature=") // no use to a reader
				value = strings.TrimRight(value, ", ")
			}
			fmt.Fprintf(&b, "\n  %s: %s", name, value)
		}
	}
	for _, algorithm := range slices.Sorted(maps.Keys(r.Checksums)) {
		fmt.Fprintf(&b, "\n  checksum %s %s", algorithm, r.Checksums[algorithm])
	}
	if r.BodySHA256 != "" {
		fmt.Fprintf(&b, "\n  body of %d bytes, sha256 %s", len(r.Body), r.BodySHA256)
	}
	fmt.Fprintf(&b, "\n  arrived %s", clock(r.Arrived))
	if !r.Applied.IsZero() {
		fmt.Fprintf(&b, ", applied %s", clock(r.Applied))
	}
	if !r.Answered.IsZero() {
		fmt.Fprintf(&b, ", answered %s", clock(r.Answered))
	}
	return b.String()
}

func clock(t time.Time) string { return t.UTC().Format("15:04:05.000000") }
