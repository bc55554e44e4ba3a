package runtime

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/pugcheck/pugcheck/conformance"
	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// unchanged judges that an object is what it was, bytes, headers and metadata.
func (x *Lab) unchanged(a conformance.Assertion, was wire.Stored, acceptable string, args ...any) bool {
	now, there := x.Get(was.Key)
	same := there && bytes.Equal(now.Body, was.Body) && now.ContentType == was.ContentType && now.ContentEncoding == was.ContentEncoding &&
		now.CacheControl == was.CacheControl && mapsEqual(now.Metadata, was.Metadata)
	seen := "it is not there"
	if there {
		seen = "now " + portrait(now) + "; before " + portrait(was)
	}
	return a.Calldepth(1).Holds(same, fmt.Sprintf(acceptable, args...), "%s: %s", was.Key, seen)
}

// portrait is an object in short, its body decoded.
func portrait(o wire.Stored) string {
	text, err := o.Decoded()
	if err != nil {
		text = o.Body
	}
	return fmt.Sprintf("%q (%d bytes; %s)", clip(text, 400), len(o.Body), strings.Join([]string{o.ContentType, o.ContentEncoding, o.CacheControl, fmt.Sprint(o.Metadata)}, ", "))
}
