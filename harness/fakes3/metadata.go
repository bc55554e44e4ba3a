package fakes3

import (
	"net/http"
	"strings"
)

// systemHeaders are the headers of a PUT, besides the user's own metadata, that a GET gives back.
var systemHeaders = []string{"Content-Type", "Content-Encoding", "Cache-Control", "Content-Language", "Content-Disposition", "Expires"}

const (
	metaPrefix         = "X-Amz-Meta-"
	defaultContentType = "binary/octet-stream"
)

// maxMetadata is how many bytes the names and values of user metadata may have in all, the prefix x-amz-meta- not
// counted.
const maxMetadata = 2048

// headersOf picks out of the headers of a write what is stored with the object and given back with it.
func headersOf(h http.Header) (map[string]string, *refusal) {
	kept := map[string]string{"Content-Type": defaultContentType}
	for _, name := range systemHeaders {
		if value := strings.Join(h.Values(name), ","); value != "" {
			kept[name] = value
		}
	}
	if encoding := contentEncoding(h); encoding != "" {
		kept["Content-Encoding"] = encoding
	} else {
		delete(kept, "Content-Encoding")
	}
	size := 0
	for name, values := range h {
		if meta, ok := strings.CutPrefix(name, metaPrefix); ok {
			kept[name] = strings.Join(values, ",") // S3 joins a repeated header
			size += len(meta) + len(kept[name])
		}
	}
	if size > maxMetadata {
		return nil, &refusal{status: http.StatusBadRequest, code: "MetadataTooLarge", message: "more than 2 KiB of user metadata"}
	}
	return kept, nil
}

// contentEncoding returns the encoding of the object itself: without aws-chunked, which is about the transfer.
func contentEncoding(h http.Header) string {
	var kept []string
	for _, value := range h.Values("Content-Encoding") {
		for coding := range strings.SplitSeq(value, ",") {
			if coding = strings.TrimSpace(coding); coding != "" && !strings.EqualFold(coding, "aws-chunked") {
				kept = append(kept, coding)
			}
		}
	}
	return strings.Join(kept, ",")
}
