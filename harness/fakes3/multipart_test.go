package fakes3_test

import (
	"bytes"
	"crypto/md5"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

// uploading is a multipart upload under way.
type uploading struct {
	t     *testing.T
	c     *s3.Client
	key   string
	id    *string
	parts []types.CompletedPart
}

func begin(t *testing.T, c *s3.Client, key string, change func(*s3.CreateMultipartUploadInput)) *uploading {
	t.Helper()
	in := &s3.CreateMultipartUploadInput{Bucket: aws.String(bucket), Key: &key, ContentType: aws.String("text/x"), Metadata: map[string]string{"m": "1"}}
	if change != nil {
		change(in)
	}
	out, err := c.CreateMultipartUpload(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	return &uploading{t: t, c: c, key: key, id: out.UploadId}
}

func (u *uploading) part(body []byte, algorithm types.ChecksumAlgorithm) {
	u.t.Helper()
	number := int32(2*len(u.parts) + 1) // numbers may have gaps
	out, err := u.c.UploadPart(u.t.Context(), &s3.UploadPartInput{Bucket: aws.String(bucket), Key: &u.key, UploadId: u.id, PartNumber: &number,
		Body: bytes.NewReader(body), ChecksumAlgorithm: algorithm})
	if err != nil {
		u.t.Fatal(err)
	}
	u.parts = append(u.parts, types.CompletedPart{PartNumber: &number, ETag: out.ETag, ChecksumSHA256: out.ChecksumSHA256, ChecksumCRC32: out.ChecksumCRC32,
		ChecksumCRC64NVME: out.ChecksumCRC64NVME})
}

func (u *uploading) complete(change func(*s3.CompleteMultipartUploadInput)) (*s3.CompleteMultipartUploadOutput, error) {
	in := &s3.CompleteMultipartUploadInput{Bucket: aws.String(bucket), Key: &u.key, UploadId: u.id, MultipartUpload: &types.CompletedMultipartUpload{Parts: u.parts}}
	if change != nil {
		change(in)
	}
	return u.c.CompleteMultipartUpload(u.t.Context(), in)
}

var big, small = bytes.Repeat([]byte("0123456789abcdef"), 5<<16), []byte("the end")

func TestMultipartUpload(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	u := begin(t, c, "k", nil)
	u.part(big, "")
	u.part(small, "")
	wantAbsent(t, s, "k")
	out, err := u.complete(nil)
	if err != nil {
		t.Fatal(err)
	}
	d1, d2 := md5.Sum(big), md5.Sum(small)
	etag := fmt.Sprintf(`"%x-2"`, md5.Sum(append(d1[:], d2[:]...)))
	o, _ := s.Get(bucket, "k")
	if *out.ETag != etag || o.ETag != etag || o.ContentType != "text/x" || o.Metadata["m"] != "1" || !bytes.Equal(o.Body, append(bytes.Clone(big), small...)) {
		t.Errorf("ETag %s, want %s; object of %d bytes, %v", *out.ETag, etag, len(o.Body), o.Metadata)
	}
	got, err := c.GetObject(t.Context(), &s3.GetObjectInput{Bucket: aws.String(bucket), Key: aws.String("k"), IfMatch: &etag, Range: aws.String("bytes=-7")})
	if err != nil {
		t.Fatal(err)
	}
	if body, _ := io.ReadAll(got.Body); !bytes.Equal(body, small) || *got.ETag != etag {
		t.Errorf("GET gave %q with %s", body, *got.ETag)
	}
	_, err = u.complete(nil)
	wantCode(t, "completing it again", err, "NoSuchUpload")
	if r := s.Requests()[3]; r.Op != fakes3.OpCompleteUpload || r.Took != fakes3.Applied {
		t.Errorf("recorded as %v", r)
	}
}

func TestMultipartIsConditional(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	put(t, s, "k")
	u := begin(t, c, "k", nil)
	u.part(small, "")
	_, err := u.complete(func(in *s3.CompleteMultipartUploadInput) { in.IfNoneMatch = aws.String("*") })
	wantCode(t, "if absent", err, "PreconditionFailed")
	_, err = u.complete(func(in *s3.CompleteMultipartUploadInput) { in.IfMatch = aws.String(`"0"`) })
	wantCode(t, "if another version", err, "PreconditionFailed")
	wantBody(t, s, "k", "k")
	etag := etagOf(t, s, "k")
	_, err = u.complete(func(in *s3.CompleteMultipartUploadInput) { in.IfMatch = &etag })
	wantCode(t, "if this version", err, "")
	wantBody(t, s, "k", string(small))
}

func TestMultipartChecksums(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	ofBig, ofSmall, ofWhole := sums(string(big)), sums(string(small)), sums(string(big)+string(small))
	for _, kind := range []struct {
		algorithm types.ChecksumAlgorithm
		sumType   types.ChecksumType
	}{{"SHA256", "COMPOSITE"}, {"CRC32", "FULL_OBJECT"}, {"CRC64NVME", "FULL_OBJECT"}, {"CRC32", "COMPOSITE"}} {
		key := string(kind.algorithm) + string(kind.sumType)
		u := begin(t, c, key, func(in *s3.CreateMultipartUploadInput) {
			in.ChecksumAlgorithm, in.ChecksumType = kind.algorithm, kind.sumType
		})
		u.part(big, kind.algorithm)
		u.part(small, kind.algorithm)
		_, err := u.complete(func(in *s3.CompleteMultipartUploadInput) { in.MpuObjectSize = aws.Int64(3) })
		wantCode(t, key+" with a wrong size", err, "InvalidRequest")
		good := u.parts
		u.parts = []types.CompletedPart{good[0], {PartNumber: good[1].PartNumber, ETag: good[1].ETag, ChecksumSHA256: aws.String("AAAA"), ChecksumCRC32: aws.String("AAAA"),
			ChecksumCRC64NVME: aws.String("AAAA")}}
		_, err = u.complete(nil)
		wantCode(t, key+" with a wrong checksum of a part", err, "InvalidPart")
		u.parts = good
		if kind.algorithm == "CRC32" {
			_, err = u.complete(func(in *s3.CompleteMultipartUploadInput) { in.ChecksumCRC32 = aws.String("AAAAAA==") })
			wantCode(t, key+" with a wrong checksum of it all", err, "BadDigest")
		}
		if _, err := u.complete(func(in *s3.CompleteMultipartUploadInput) {
			in.MpuObjectSize = aws.Int64(int64(len(big) + len(small)))
			in.ChecksumType = kind.sumType
		}); err != nil {
			t.Errorf("%s: %v", key, err)
			continue
		}
		want := map[string]string{
			"CRC32FULL_OBJECT": ofWhole["crc32"], "CRC64NVMEFULL_OBJECT": ofWhole["crc64nvme"],
			"SHA256COMPOSITE": sums(decode(t, ofBig["sha256"]) + decode(t, ofSmall["sha256"]))["sha256"] + "-2",
			"CRC32COMPOSITE":  sums(decode(t, ofBig["crc32"]) + decode(t, ofSmall["crc32"]))["crc32"] + "-2",
		}[key]
		head, err := c.HeadObject(t.Context(), &s3.HeadObjectInput{Bucket: aws.String(bucket), Key: &key, ChecksumMode: types.ChecksumModeEnabled})
		if err != nil {
			t.Fatal(err)
		}
		got := aws.ToString(head.ChecksumSHA256) + aws.ToString(head.ChecksumCRC32) + aws.ToString(head.ChecksumCRC64NVME)
		if got != want || head.ChecksumType != kind.sumType {
			t.Errorf("%s: checksum %s of type %s, want %s", key, got, head.ChecksumType, want)
		}
	}
	wantReply(t, "SHA-256 over the whole", raw(t, s, "POST", "/bucket/k?uploads", "", "x-amz-checksum-algorithm: SHA256", "x-amz-checksum-type: FULL_OBJECT"), 400, "InvalidRequest")
	wantReply(t, "unknown algorithm", raw(t, s, "POST", "/bucket/k?uploads", "", "x-amz-checksum-algorithm: XXHASH3"), 501, "NotImplemented")
}

func TestMultipartRefusals(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	u := begin(t, c, "k", func(in *s3.CreateMultipartUploadInput) { in.ChecksumAlgorithm = "SHA256" })
	u.part(small, "SHA256")
	u.part(small, "SHA256")
	part := "/bucket/k?partNumber=5&uploadId=" + *u.id
	wantReply(t, "part without its checksum", raw(t, s, "PUT", part, "x"), 400, "InvalidRequest")
	wantReply(t, "part with a wrong checksum", raw(t, s, "PUT", part, "y", "x-amz-checksum-sha256: "+sums("x")["sha256"]), 400, "BadDigest")
	wantReply(t, "part by copy", raw(t, s, "PUT", part, "", "x-amz-copy-source: bucket/x"), 501, "NotImplemented")
	wantReply(t, "part of another key", raw(t, s, "PUT", strings.Replace(part, "/k?", "/j?", 1), "x"), 404, "NoSuchUpload")
	wantReply(t, "conditional part", raw(t, s, "PUT", part, "x", "If-None-Match: *"), 501, "NotImplemented")
	wantReply(t, "part in no bucket", raw(t, s, "PUT", strings.Replace(part, "bucket", "nobucket", 1), "x"), 404, "NoSuchBucket")

	_, err := u.complete(nil)
	wantCode(t, "a first part that is too small", err, "EntityTooSmall")
	good := u.parts
	u.parts = []types.CompletedPart{good[1], good[0]}
	_, err = u.complete(nil)
	wantCode(t, "out of order", err, "InvalidPartOrder")
	u.parts = []types.CompletedPart{{PartNumber: aws.Int32(7), ETag: good[0].ETag}}
	_, err = u.complete(nil)
	wantCode(t, "a part that never came", err, "InvalidPart")
	u.parts = []types.CompletedPart{{PartNumber: good[0].PartNumber, ETag: aws.String(`"0"`)}}
	_, err = u.complete(nil)
	wantCode(t, "another ETag", err, "InvalidPart")
	wantReply(t, "no parts", raw(t, s, "POST", "/bucket/k?uploadId="+*u.id, "<CompleteMultipartUpload></CompleteMultipartUpload>"), 400, "MalformedXML")
	wantAbsent(t, s, "k")

	_, err = c.AbortMultipartUpload(t.Context(), &s3.AbortMultipartUploadInput{Bucket: aws.String(bucket), Key: aws.String("k"), UploadId: u.id})
	wantCode(t, "aborting", err, "")
	u.parts = good
	_, err = u.complete(nil)
	wantCode(t, "completing what was aborted", err, "NoSuchUpload")
}

func TestAnEmptyLastPart(t *testing.T) {
	s := start(t)
	u := begin(t, sdk(t, s.Endpoint()), "k", nil)
	u.part(nil, "")
	_, err := u.complete(nil)
	wantCode(t, "completing", err, "")
	wantBody(t, s, "k", "")
}

func TestListsOfUploads(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	var made []string
	for _, key := range []string{"a", "b", "b", "b", "c"} {
		u := begin(t, c, key, nil)
		for range 3 {
			u.part(small, "")
		}
		made = append(made, key+" "+*u.id)

		var numbers []int32
		pages := s3.NewListPartsPaginator(c, &s3.ListPartsInput{Bucket: aws.String(bucket), Key: &key, UploadId: u.id, MaxParts: aws.Int32(2)})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range page.Parts {
				numbers = append(numbers, *p.PartNumber)
			}
		}
		if diff := cmp.Diff([]int32{1, 3, 5}, numbers); diff != "" {
			t.Errorf("parts (-want +got):\n%s", diff)
		}
	}
	for _, limit := range []int32{1, 2, 3, 1000} {
		var got []string
		pages := s3.NewListMultipartUploadsPaginator(c, &s3.ListMultipartUploadsInput{Bucket: aws.String(bucket), MaxUploads: &limit})
		for pages.HasMorePages() {
			page, err := pages.NextPage(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			for _, u := range page.Uploads {
				got = append(got, *u.Key+" "+*u.UploadId)
			}
		}
		if diff := cmp.Diff(made, got); diff != "" {
			t.Errorf("by %d (-want +got):\n%s", limit, diff)
		}
	}
	if out, err := c.ListMultipartUploads(t.Context(), &s3.ListMultipartUploadsInput{Bucket: aws.String(bucket), Prefix: aws.String("b"), KeyMarker: aws.String("a")}); err != nil || len(out.Uploads) != 3 {
		t.Errorf("%v, %v", out, err)
	}
}
