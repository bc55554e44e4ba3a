package fakes3

import (
	"bytes"
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"
	"hash/crc32"
	"hash/crc64"
	"net/http"
	"strings"
	"sync"
)

const checksumPrefix = "X-Amz-Checksum-"

// newHash returns the hash of a checksum algorithm by its lower-case name; nil if the server does not know it.
func newHash(algorithm string) hash.Hash {
	switch algorithm {
	case "sha256":
		return sha256.New()
	case "sha1":
		return sha1.New()
	case "sha512":
		return sha512.New()
	case "md5":
		return md5.New()
	case "crc32":
		return crc32.NewIEEE()
	case "crc32c":
		return crc32.New(crc32.MakeTable(crc32.Castagnoli))
	case "crc64nvme":
		return crc64.New(nvme())
	}
	return nil
}

// nvme is the table of the CRC-64 that current S3 clients send: its polynomial,
// reflected. It is made when it is needed, which few processes ever get to.
var nvme = sync.OnceValue(func() *crc64.Table { return crc64.MakeTable(0x9a6c9329ac4bc9b5) })

// sumOf returns the base64 checksum of data; algorithm is one that newHash knows.
func sumOf(algorithm string, data []byte) string {
	h := newHash(algorithm)
	h.Write(data)
	return base64.StdEncoding.EncodeToString(h.Sum(nil))
}

// checksumsOf collects the checksums that came with a request, by lower-case algorithm; nil if there is none.
func checksumsOf(h, trailer http.Header) map[string]string {
	var sums map[string]string
	collect := func(name, value string) {
		algorithm, ok := strings.CutPrefix(name, checksumPrefix)
		if !ok || algorithm == "Mode" || algorithm == "Algorithm" || algorithm == "Type" {
			return
		}
		if sums == nil {
			sums = map[string]string{}
		}
		sums[strings.ToLower(algorithm)] = value
	}
	for name := range h {
		collect(name, h.Get(name))
	}
	for name := range trailer {
		collect(name, trailer.Get(name))
	}
	return sums
}

// checkDigests holds a body, whose SHA-256 is sum, against every digest that came with it.
func (x *exchange) checkDigests(body, sum []byte, sums map[string]string) *refusal {
	h := x.http.Header
	if wrong := checkContentSHA256(h.Get("X-Amz-Content-Sha256"), sum); wrong != nil {
		return wrong
	}
	if values, ok := h["Content-Md5"]; ok {
		want, err := base64.StdEncoding.DecodeString(values[0])
		if err != nil || len(want) != md5.Size {
			return &refusal{status: http.StatusBadRequest, code: "InvalidDigest", message: "Content-MD5 is not the base64 of an MD5"}
		}
		if got := md5.Sum(body); !bytes.Equal(want, got[:]) {
			return badDigest("Content-MD5")
		}
	}
	switch x.record.Op {
	case OpPut, OpUploadPart, OpDeleteMany:
	default:
		return nil // in the other operations they are not about this body
	}
	if len(sums) > 1 {
		return invalidRequest("more than one x-amz-checksum- header")
	}
	if len(sums) == 0 && h.Get("X-Amz-Sdk-Checksum-Algorithm") != "" {
		return invalidRequest("x-amz-sdk-checksum-algorithm without such a checksum")
	}
	for algorithm, claim := range sums {
		computed := func() string { return sumOf(algorithm, body) }
		if algorithm == "sha256" {
			computed = func() string { return base64.StdEncoding.EncodeToString(sum) }
		}
		if wrong := checkChecksum(algorithm, claim, computed); wrong != nil {
			return wrong
		}
	}
	return nil
}

func checkContentSHA256(claim string, sum []byte) *refusal {
	if claim == "" || claim == "UNSIGNED-PAYLOAD" || strings.HasPrefix(claim, "STREAMING-") {
		return nil
	}
	want, err := hex.DecodeString(claim)
	if err != nil || len(want) != sha256.Size {
		return invalidArgument("x-amz-content-sha256 is neither a SHA-256 nor one of the names for what is not hashed")
	}
	if !bytes.Equal(want, sum) {
		return &refusal{status: http.StatusBadRequest, code: "XAmzContentSHA256Mismatch", message: "x-amz-content-sha256 does not fit the body"}
	}
	return nil
}

func checkChecksum(algorithm, claim string, computed func() string) *refusal {
	h := newHash(algorithm)
	if h == nil {
		return notImplemented("the checksum algorithm " + algorithm)
	}
	if want, err := base64.StdEncoding.DecodeString(claim); err != nil || len(want) != h.Size() {
		return invalidRequest("x-amz-checksum-" + algorithm + " is not the base64 of one")
	}
	if computed() != claim {
		return badDigest("x-amz-checksum-" + algorithm)
	}
	return nil
}

func badDigest(header string) *refusal {
	return &refusal{status: http.StatusBadRequest, code: "BadDigest", message: header + " does not fit the body"}
}

// putChecksums adds what is known of the checksums of an object to an answer.
func (o *object) putChecksums(h http.Header) {
	for algorithm, sum := range o.checksums {
		h.Set(checksumPrefix+algorithm, sum)
	}
	if len(o.checksums) > 0 {
		h.Set(checksumPrefix+"Type", o.checksumType)
	}
}
