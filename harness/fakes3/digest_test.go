package fakes3_test

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"crypto/tls"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/minio/crc64nvme"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// sums are checksums of text by lower-case algorithm, each computed here afresh.
func sums(text string) map[string]string {
	b := []byte(text)
	s1, s256, s512, m := sha1.Sum(b), sha256.Sum256(b), sha512.Sum512(b), md5.Sum(b)
	crc := crc64nvme.New()
	crc.Write(b)
	encode := base64.StdEncoding.EncodeToString
	return map[string]string{
		"sha1": encode(s1[:]), "sha256": encode(s256[:]), "sha512": encode(s512[:]), "md5": encode(m[:]),
		"crc32":     encode(be32(crc32.ChecksumIEEE(b))),
		"crc32c":    encode(be32(crc32.Checksum(b, crc32.MakeTable(crc32.Castagnoli)))),
		"crc64nvme": encode(crc.Sum(nil)),
	}
}

func be32(n uint32) []byte { return []byte{byte(n >> 24), byte(n >> 16), byte(n >> 8), byte(n)} }

func hexSHA256(text string) string {
	sum := sha256.Sum256([]byte(text))
	return hex.EncodeToString(sum[:])
}

// The checksums that everybody knows of the nine digits, so that sums is not just what our code writes.
func TestChecksumsOfTheNineDigits(t *testing.T) {
	for algorithm, want := range map[string]string{"crc32": "cbf43926", "crc32c": "e3069283", "crc64nvme": "ae8b14860a799888"} {
		got, err := base64.StdEncoding.DecodeString(sums("123456789")[algorithm])
		if err != nil || hex.EncodeToString(got) != want {
			t.Errorf("%s: %x, want %s", algorithm, got, want)
		}
	}
}

func TestChecksumsAreVerified(t *testing.T) {
	s := start(t)
	for algorithm, sum := range sums("right") {
		header := "x-amz-checksum-" + algorithm + ": "
		wantReply(t, algorithm+" that fits", raw(t, s, "PUT", "/bucket/"+algorithm, "right", header+sum), 200, "")
		if got := raw(t, s, "HEAD", "/bucket/"+algorithm, "", "x-amz-checksum-mode: ENABLED").header; got.Get("x-amz-checksum-"+algorithm) != sum ||
			got.Get("x-amz-checksum-type") != "FULL_OBJECT" {
			t.Errorf("%s comes back as %v", algorithm, got)
		}
		wantReply(t, algorithm+" that does not fit", raw(t, s, "PUT", "/bucket/"+algorithm, "wrong", header+sum), 400, "BadDigest")
		if r := last(t, s); r.Checksums[algorithm] != sum || string(r.Body) != "wrong" || r.ErrorCode != "BadDigest" {
			t.Errorf("recorded as %v with %v", r, r.Checksums)
		}
		wantReply(t, algorithm+" that is none", raw(t, s, "PUT", "/bucket/"+algorithm, "wrong", header+"AAAA"), 400, "InvalidRequest")
		wantBody(t, s, algorithm, "right")
	}
	wantReply(t, "two at once", raw(t, s, "PUT", "/bucket/two", "right", "x-amz-checksum-sha1: "+sums("right")["sha1"], "x-amz-checksum-crc32: "+sums("right")["crc32"]), 400, "InvalidRequest")
	wantReply(t, "announced only", raw(t, s, "PUT", "/bucket/none", "right", "x-amz-sdk-checksum-algorithm: CRC32"), 400, "InvalidRequest")
	wantReply(t, "Content-MD5 that fits", raw(t, s, "PUT", "/bucket/m", "right", "Content-MD5: "+sums("right")["md5"]), 200, "")
	wantReply(t, "Content-MD5 that does not", raw(t, s, "PUT", "/bucket/m2", "wrong", "Content-MD5: "+sums("right")["md5"]), 400, "BadDigest")
	wantReply(t, "Content-MD5 that is none", raw(t, s, "PUT", "/bucket/m2", "right", "Content-MD5: xx"), 400, "InvalidDigest")
	for _, key := range []string{"two", "none", "m2"} {
		wantAbsent(t, s, key)
	}
}

func TestContentSHA256IsVerified(t *testing.T) {
	s := start(t)
	wantReply(t, "fits", raw(t, s, "PUT", "/bucket/k", "right", "x-amz-content-sha256: "+hexSHA256("right")), 200, "")
	wantReply(t, "does not fit", raw(t, s, "PUT", "/bucket/k", "wrong", "x-amz-content-sha256: "+hexSHA256("right")), 400, "XAmzContentSHA256Mismatch")
	wantReply(t, "is none", raw(t, s, "PUT", "/bucket/k", "wrong", "x-amz-content-sha256: SOME-PAYLOAD"), 400, "InvalidArgument")
	wantBody(t, s, "k", "right")
	wantReply(t, "unsigned", raw(t, s, "PUT", "/bucket/k", "unsigned", "x-amz-content-sha256: UNSIGNED-PAYLOAD"), 200, "")
	wantBody(t, s, "k", "unsigned")
	if r := last(t, s); r.ContentSHA256 != "UNSIGNED-PAYLOAD" || r.BodySHA256 != hexSHA256("unsigned") {
		t.Errorf("recorded as %q, %q", r.ContentSHA256, r.BodySHA256)
	}
}

// framed sends a PUT in aws-chunked framing.
func framed(t *testing.T, s *fakes3.Server, key, framing string, decoded int, header ...string) reply {
	t.Helper()
	header = append([]string{"Content-Encoding: aws-chunked,gzip", fmt.Sprintf("x-amz-decoded-content-length: %d", decoded)}, header...)
	return raw(t, s, "PUT", "/bucket/"+key, framing, header...)
}

func TestFramingIsTakenOff(t *testing.T) {
	s := start(t)
	const signed, unsigned, trailing = "x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD", "x-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER", "x-amz-trailer: x-amz-checksum-sha256"
	sum := "x-amz-checksum-sha256:" + sums("hello world")["sha256"]
	signature := ";chunk-signature=" + strings.Repeat("0", 64)

	for name, c := range map[string]struct {
		framing string
		header  []string
	}{
		"signed":                {"6" + signature + "\r\nhello \r\n5" + signature + "\r\nworld\r\n0" + signature + "\r\n\r\n", []string{signed}},
		"trailer":               {"b\r\nhello world\r\n0\r\n" + sum + "\r\n\r\n", []string{unsigned, trailing}},
		"trailer without CRLFs": {"B\r\nhello world\r\n0\r\n" + sum + "\n", []string{unsigned, trailing}},
		"signed trailer": {"b" + signature + "\r\nhello world\r\n0" + signature + "\r\n" + sum + "\r\nx-amz-trailer-signature:00\r\n\r\n",
			[]string{"x-amz-content-sha256: STREAMING-AWS4-HMAC-SHA256-PAYLOAD-TRAILER", trailing}},
		"by encoding alone": {"b\r\nhello world\r\n0\r\n\r\n", []string{"x-amz-content-sha256: UNSIGNED-PAYLOAD"}},
	} {
		framed(t, s, name2key(name), c.framing, 11, c.header...).expect(t, 200)
		wantBody(t, s, name2key(name), "hello world")
		r := last(t, s)
		if string(r.Body) != "hello world" || r.BodySHA256 != hexSHA256("hello world") {
			t.Errorf("%s: recorded with %q", name, r.Body)
		}
		if strings.Contains(c.framing, "checksum-sha256") && r.Checksums["sha256"] != sums("hello world")["sha256"] {
			t.Errorf("%s: recorded with %v", name, r.Checksums)
		}
		if o, _ := s.Get(bucket, name2key(name)); o.ContentEncoding != "gzip" {
			t.Errorf("%s: stored with encoding %q", name, o.ContentEncoding)
		}
	}

	for name, c := range map[string]struct {
		framing string
		decoded int
		code    string
	}{
		"wrong checksum":   {"b\r\nhello mould\r\n0\r\n" + sum + "\r\n\r\n", 11, "BadDigest"},
		"no trailer":       {"b\r\nhello world\r\n0\r\n\r\n", 11, "MalformedTrailerError"},
		"other length":     {"b\r\nhello world\r\n0\r\n" + sum + "\r\n\r\n", 12, "IncompleteBody"},
		"no last chunk":    {"b\r\nhello world\r\n", 11, "IncompleteBody"},
		"short chunk":      {"c\r\nhello world\r\n", 11, "IncompleteBody"},
		"no line end":      {"a\r\nhello world\r\n0\r\n" + sum + "\r\n\r\n", 11, "IncompleteBody"},
		"size that is not": {"x\r\nhello world\r\n0\r\n" + sum + "\r\n\r\n", 11, "IncompleteBody"},
		"negative size":    {"-1\r\nhello world\r\n0\r\n" + sum + "\r\n\r\n", 11, "IncompleteBody"},
		"odd trailer":      {"b\r\nhello world\r\n0\r\nnocolon\r\n\r\n", 11, "IncompleteBody"},
	} {
		wantReply(t, name, framed(t, s, "bad", c.framing, c.decoded, unsigned, trailing), 400, c.code)
		wantAbsent(t, s, "bad")
	}
}

func name2key(name string) string { return strings.ReplaceAll(name, " ", "-") }

// Over TLS the SDK sends checksums in trailers.
func TestTrailersOfTheSDK(t *testing.T) {
	s := start(t)
	web := httptest.NewTLSServer(s.Handler())
	defer web.Close()
	c := sdk(t, web.URL, func(o *s3.Options) {
		o.HTTPClient = &http.Client{Transport: &http.Transport{TLSClientConfig: &tls.Config{RootCAs: web.Client().Transport.(*http.Transport).TLSClientConfig.RootCAs}, DisableKeepAlives: true}}
	})
	body := strings.Repeat("0123456789", 20_000) // some chunks of the SDK's
	for _, algorithm := range []types.ChecksumAlgorithm{"", "CRC32", "CRC32C", "SHA1", "SHA256", "CRC64NVME"} {
		_, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String("k" + string(algorithm)),
			Body: strings.NewReader(body), ChecksumAlgorithm: algorithm, ContentEncoding: aws.String("gzip")})
		if err != nil {
			t.Errorf("%s: %v", algorithm, err)
			continue
		}
		r := last(t, s)
		if r.Header.Get("X-Amz-Trailer") == "" || len(r.Checksums) != 1 {
			t.Errorf("%s: no trailer in %s", algorithm, r.Detail())
		}
		if o, _ := s.Get(bucket, "k"+string(algorithm)); string(o.Body) != body || o.ContentEncoding != "gzip" {
			t.Errorf("%s: stored %d bytes with encoding %q", algorithm, len(o.Body), o.ContentEncoding)
		}
	}
}

// The SDK computes what it is asked for over plain HTTP as well, in headers.
func TestChecksumsOfTheSDK(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	for _, algorithm := range []types.ChecksumAlgorithm{"CRC32", "CRC32C", "SHA1", "SHA256", "CRC64NVME"} {
		key := "k" + string(algorithm)
		_, err := c.PutObject(t.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: &key, Body: strings.NewReader("x"), ChecksumAlgorithm: algorithm})
		r := last(t, s)
		if err != nil || r.Checksums[strings.ToLower(string(algorithm))] != sums("x")[strings.ToLower(string(algorithm))] {
			t.Errorf("%s: %v, recorded %v", algorithm, err, r.Checksums)
		}
		got, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: &key, ChecksumMode: types.ChecksumModeEnabled})
		if err != nil {
			t.Errorf("%s: %v", algorithm, err)
			continue
		}
		if body, err := io.ReadAll(got.Body); err != nil || string(body) != "x" {
			t.Errorf("%s: %q, %v", algorithm, body, err)
		}
	}
}

func TestABodyNeedsALength(t *testing.T) {
	s := start(t)
	answer := overTCP(t, s, "PUT /bucket/k HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 411 ") || !strings.Contains(answer, "MissingContentLength") {
		t.Errorf("%s", answer)
	}
	wantAbsent(t, s, "k")
	answer = overTCP(t, s, "PUT /bucket/k HTTP/1.1\r\nHost: x\r\nConnection: close\r\nTransfer-Encoding: chunked\r\nx-amz-content-sha256: STREAMING-UNSIGNED-PAYLOAD-TRAILER\r\n"+
		"x-amz-decoded-content-length: 1\r\n\r\nb\r\n1\r\nx\r\n0\r\n\r\n\r\n0\r\n\r\n")
	if !strings.HasPrefix(answer, "HTTP/1.1 200 ") {
		t.Errorf("%s", answer)
	}
	wantBody(t, s, "k", "x")
}

// decode returns the bytes of a base64 checksum.
func decode(t *testing.T, sum string) string {
	t.Helper()
	b, err := base64.StdEncoding.DecodeString(sum)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
