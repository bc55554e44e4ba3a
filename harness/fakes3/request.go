package fakes3

import (
	"net/http"
	"net/url"
	"time"
)

// Op is the S3 operation that a request asks for, by the name that AWS gives it.
type Op string

// The operations that the server tells apart.
const (
	OpGet            Op = "GetObject"
	OpHead           Op = "HeadObject"
	OpPut            Op = "PutObject"
	OpDelete         Op = "DeleteObject"
	OpCopy           Op = "CopyObject"
	OpList           Op = "ListObjects" // of either version
	OpDeleteMany     Op = "DeleteObjects"
	OpCreateUpload   Op = "CreateMultipartUpload"
	OpUploadPart     Op = "UploadPart"
	OpCompleteUpload Op = "CompleteMultipartUpload"
	OpAbortUpload    Op = "AbortMultipartUpload"
	OpListParts      Op = "ListParts"
	OpListUploads    Op = "ListMultipartUploads"
	OpListBuckets    Op = "ListBuckets"
	OpHeadBucket     Op = "HeadBucket"
	OpCreateBucket   Op = "CreateBucket"
	OpDeleteBucket   Op = "DeleteBucket"
	OpOther          Op = "Other" // whatever else; most of these are answered 501
)

// Effect says whether a request reached the store and did there what it asked for.
type Effect int

const (
	// NotApplied: the request never reached the store, or was refused there and changed nothing.
	NotApplied Effect = iota
	// Applied: a write changed the store; a read looked into it (also where it found nothing).
	Applied
)

// String returns "not applied" or "applied".
func (e Effect) String() string {
	if e == Applied {
		return "applied"
	}
	return "not applied"
}

// Request is the record of one request. Header, Query, Checksums and Body are shared by all copies of a record and
// must not be changed.
type Request struct {
	N  int // 1, 2, 3… in order of arrival
	Op Op

	Method, Bucket, Key, RawQuery string
	Query                         url.Values
	Header                        http.Header // as received

	Caller               string // access key ID of the Authorization header or the presigned URL; "" if there is none
	IfMatch, IfNoneMatch string // as received; "" if absent

	Checksums     map[string]string // lower-case algorithm name ("sha256", "crc32c"…) -> base64 as sent, in a header or a trailer
	ContentSHA256 string            // x-amz-content-sha256 as sent; "" if absent
	Body          []byte            // body of a PUT or POST, with any aws-chunked framing removed
	BodySHA256    string            // lower-case hex of the SHA-256 of Body; "" where the method has no body

	Arrived  time.Time // when the header had been read
	Applied  time.Time // when it took effect in the store; in the order of the effects. Zero if it never got there
	Answered time.Time // when its answer was handed to the connection, or withheld. Zero while the request is under way

	Status    int    // what was answered, or would have been had the answer not been lost; 0 if nothing had been decided yet
	ErrorCode string // S3 error code of that answer; "" for success
	Took      Effect // whether it had its effect
	Fate      string // what was done to it, in words: "", "held", "failed before", "dropped before", "response lost"…

	ListPrefix string // prefix of a listing
	MaxKeys    int    // max-keys of a listing; -1 if absent or no number
}

// InFlight reports whether the request had not been answered, nor its answer withheld, when the record was taken.
func (r *Request) InFlight() bool { return r.Answered.IsZero() }
