package fakes3

import (
	"net/http"
	"strings"
	"time"
)

// conditions are the If- headers of a request, or with a prefix those about the source of a copy.
type conditions struct {
	header http.Header
	prefix string // "" or "X-Amz-Copy-Source-"
}

func (c conditions) get(name string) (value string, ok bool) {
	values, ok := c.header[c.prefix+name]
	return strings.Join(values, ","), ok
}

func (c conditions) time(name string) (time.Time, bool) {
	value, _ := c.get(name)
	t, err := http.ParseTime(value)
	return t, err == nil // a date that is none is ignored
}

// forRead tells whether an object may be read. Entity tags outweigh dates, as in RFC 9110.
func (c conditions) forRead(o *object) *refusal {
	modified := o.modified.Truncate(time.Second) // what Last-Modified shows
	if match, ok := c.get("If-Match"); ok {
		if !matchesETag(match, o.etag()) {
			return preconditionFailed("If-Match")
		}
	} else if t, ok := c.time("If-Unmodified-Since"); ok && modified.After(t) {
		return preconditionFailed("If-Unmodified-Since")
	}
	if match, ok := c.get("If-None-Match"); ok {
		if matchesETag(match, o.etag()) {
			return notModified(o)
		}
	} else if t, ok := c.time("If-Modified-Since"); ok && !modified.After(t) {
		return notModified(o)
	}
	return nil
}

// forWrite tells whether an object may be stored where o is now; o is nil if there is none.
func (c conditions) forWrite(key string, o *object) *refusal {
	match, ifMatch := c.get("If-Match")
	noneMatch, ifNoneMatch := c.get("If-None-Match")
	switch {
	case ifMatch && ifNoneMatch:
		return notImplemented("If-Match together with If-None-Match on a write")
	case ifNoneMatch && noneMatch != "*":
		return notImplemented("If-None-Match on a write with anything but *")
	case ifNoneMatch && o != nil:
		return preconditionFailed("If-None-Match")
	case ifMatch && o == nil:
		return noSuchKey(key) // so does AWS
	case ifMatch && !matchesETag(match, o.etag()):
		return preconditionFailed("If-Match")
	}
	return nil
}

// forDelete tells whether an object may be deleted. Where there is none the condition is moot.
func (c conditions) forDelete(o *object) *refusal {
	if match, ok := c.get("If-Match"); ok && o != nil && !matchesETag(match, o.etag()) {
		return preconditionFailed("If-Match")
	}
	return nil
}

// matchesETag tells whether an If-Match or If-None-Match names etag, which is quoted. Tags may come unquoted or weak.
func matchesETag(header, etag string) bool {
	for tag := range strings.SplitSeq(header, ",") {
		tag = strings.TrimPrefix(strings.TrimSpace(tag), "W/")
		if tag == "*" || strings.Trim(tag, `"`) == strings.Trim(etag, `"`) {
			return true
		}
	}
	return false
}

func notModified(o *object) *refusal {
	return &refusal{status: http.StatusNotModified, code: "NotModified", message: "the client has it already", header: http.Header{
		"Etag":          {o.etag()},
		"Last-Modified": {o.modified.UTC().Format(http.TimeFormat)},
	}}
}
