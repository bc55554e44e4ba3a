package fakes3

import (
	"net/http"
	"net/url"
	"strings"
	"unicode/utf8"
)

// subresources are the query parameters that make a request one about something else than the object or the listing.
// A server that overlooked them would, say, overwrite an object with its tags.
var subresources = []string{
	"accelerate", "acl", "analytics", "attributes", "append", "cors", "encryption", "intelligent-tiering", "inventory",
	"legal-hold", "lifecycle", "logging", "metadataConfiguration", "metadataInventoryTable", "metadataJournalTable",
	"metadataTable", "metrics", "notification", "object-lock", "ownershipControls", "policy", "policyStatus",
	"publicAccessBlock", "renameObject", "replication", "requestPayment", "restore", "retention", "select",
	"tagging", "torrent", "versions", "website",
}

// meaningfulHeaders are the beginnings of request headers that change what a write or read means and that this server
// does not know.
var meaningfulHeaders = []string{
	"X-Amz-Tagging", "X-Amz-Object-Lock-", "X-Amz-Server-Side-Encryption-Customer-",
	"X-Amz-Copy-Source-Server-Side-Encryption-Customer-", "X-Amz-Write-Offset-Bytes",
	"X-Amz-Website-Redirect-Location", "X-Amz-If-Match-", "X-Amz-Rename-Source", "X-Amz-Copy-Source-Range",
}

// splitPath takes a path-style URL path apart. The key keeps every slash after the first.
func splitPath(path string) (bucket, key string) {
	bucket, key, _ = strings.Cut(strings.TrimPrefix(path, "/"), "/")
	return bucket, key
}

// operation tells what a request asks for.
func operation(r *http.Request, query url.Values, bucket, key string) Op {
	for _, sub := range subresources {
		if query.Has(sub) {
			return OpOther
		}
	}
	switch {
	case key != "":
		return objectOperation(r, query)
	case bucket != "":
		return bucketOperation(r, query)
	case r.Method == http.MethodGet:
		return OpListBuckets
	}
	return OpOther
}

func objectOperation(r *http.Request, query url.Values) Op {
	if query.Has("uploadId") || query.Has("uploads") {
		switch {
		case r.Method == http.MethodPost && query.Has("uploads"):
			return OpCreateUpload
		case query.Get("uploadId") == "":
			return OpOther
		case r.Method == http.MethodPut && r.Header.Get("X-Amz-Copy-Source") == "":
			return OpUploadPart
		case r.Method == http.MethodPost:
			return OpCompleteUpload
		case r.Method == http.MethodDelete:
			return OpAbortUpload
		case r.Method == http.MethodGet:
			return OpListParts
		}
		return OpOther
	}
	switch r.Method {
	case http.MethodGet:
		return OpGet
	case http.MethodHead:
		return OpHead
	case http.MethodDelete:
		return OpDelete
	case http.MethodPut:
		if _, ok := r.Header["X-Amz-Copy-Source"]; ok {
			return OpCopy
		}
		return OpPut
	}
	return OpOther
}

func bucketOperation(r *http.Request, query url.Values) Op {
	if query.Has("location") || query.Has("versioning") {
		return OpOther
	}
	switch r.Method {
	case http.MethodGet:
		if query.Has("uploads") {
			return OpListUploads
		}
		return OpList
	case http.MethodHead:
		return OpHeadBucket
	case http.MethodPut:
		return OpCreateBucket
	case http.MethodDelete:
		return OpDeleteBucket
	case http.MethodPost:
		if query.Has("delete") {
			return OpDeleteMany
		}
	}
	return OpOther
}

// unsupported says what it is in a request that this server would have to overlook; "" if there is nothing.
func unsupported(r *http.Request, query url.Values, op Op, key string) string {
	for _, sub := range subresources {
		if query.Has(sub) {
			return "?" + sub
		}
	}
	if version := query.Get("versionId"); version != "" && version != "null" {
		return "versions of objects"
	}
	if query.Has("partNumber") && op != OpUploadPart {
		return "?partNumber here"
	}
	if op == OpOther && !(key == "" && r.Method == http.MethodGet) { // GET ?location and ?versioning are answered
		return r.Method + " of this kind"
	}
	if (op == OpListUploads || op == OpListParts) && (query.Has("encoding-type") || query.Has("delimiter")) {
		return "encoding-type or delimiter on multipart uploads"
	}
	for name := range r.Header {
		for _, start := range meaningfulHeaders {
			if strings.HasPrefix(name, start) {
				return "the header " + name
			}
		}
		if isCondition(name) && !honours(op, name) {
			return name + " on " + string(op)
		}
	}
	return ""
}

func isCondition(name string) bool {
	return strings.HasPrefix(name, "If-") || strings.HasPrefix(name, "X-Amz-Copy-Source-If-")
}

// honours tells whether a condition is looked at in an operation.
func honours(op Op, name string) bool {
	switch op {
	case OpGet:
		return strings.HasPrefix(name, "If-")
	case OpHead:
		return strings.HasPrefix(name, "If-") && name != "If-Range"
	case OpPut, OpCompleteUpload:
		return name == "If-Match" || name == "If-None-Match"
	case OpCopy:
		return name == "If-Match" || name == "If-None-Match" || strings.HasPrefix(name, "X-Amz-")
	case OpDelete:
		return name == "If-Match"
	}
	return false
}

// checkKey tells whether a key is one; nil if it is.
func checkKey(key string) *refusal {
	switch {
	case key == "":
		return invalidArgument("the key is empty")
	case len(key) > 1024:
		return &refusal{status: http.StatusBadRequest, code: "KeyTooLongError", message: "the key is longer than 1024 bytes"}
	case !utf8.ValidString(key):
		return &refusal{status: http.StatusBadRequest, code: "InvalidURI", message: "the key is not valid UTF-8"}
	}
	return nil
}

// callerOf returns the access key ID that a request is signed with, by header or in a presigned URL; "" if by none.
func callerOf(r *http.Request, query url.Values) string {
	authorization := r.Header.Get("Authorization")
	if _, credential, ok := strings.Cut(authorization, "Credential="); ok { // version 4
		return accessKey(credential)
	}
	if credential, ok := strings.CutPrefix(authorization, "AWS "); ok { // version 2: AWS ID:SIGNATURE
		id, _, _ := strings.Cut(credential, ":")
		return id
	}
	if credential := query.Get("X-Amz-Credential"); credential != "" {
		return accessKey(credential)
	}
	return query.Get("AWSAccessKeyId")
}

// accessKey returns the first part of ID/DATE/REGION/SERVICE/aws4_request.
func accessKey(credential string) string {
	id, _, _ := strings.Cut(credential, "/")
	return strings.TrimSpace(id)
}
