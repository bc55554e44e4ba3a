package fakes3_test

import (
	"context"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/aws-sdk-go-v2/service/s3/types"
	"github.com/google/go-cmp/cmp"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

func TestBuckets(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	if _, err := c.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("another")}); err != nil {
		t.Fatal(err)
	}
	_, err := c.CreateBucket(t.Context(), &s3.CreateBucketInput{Bucket: aws.String("another")})
	wantCode(t, "creating it again", err, "BucketAlreadyOwnedByYou")
	list, err := c.ListBuckets(t.Context(), &s3.ListBucketsInput{})
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, b := range list.Buckets {
		names = append(names, *b.Name)
	}
	if diff := cmp.Diff([]string{"another", bucket}, names); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	put(t, s, "k")
	_, err = c.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String(bucket)})
	wantCode(t, "deleting a bucket with an object", err, "BucketNotEmpty")
	wantReply(t, "by force", raw(t, s, "DELETE", "/bucket", "", "x-minio-force-delete: true"), 409, "BucketNotEmpty")
	_, err = c.DeleteBucket(t.Context(), &s3.DeleteBucketInput{Bucket: aws.String("another")})
	wantCode(t, "deleting an empty bucket", err, "")
	for _, name := range []string{"", "x", "UPPER", "a/b", bucket} {
		if err := s.CreateBucket(name); err == nil {
			t.Errorf("CreateBucket took %q", name)
		}
	}
}

func TestDeletingMany(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	put(t, s, "a", "b c+d", "ü")
	out, err := c.DeleteObjects(t.Context(), &s3.DeleteObjectsInput{Bucket: aws.String(bucket), Delete: &types.Delete{Objects: []types.ObjectIdentifier{
		{Key: aws.String("b c+d")}, {Key: aws.String("ü")}, {Key: aws.String("never there")}}}})
	if err != nil || len(out.Deleted) != 3 || len(out.Errors) != 0 {
		t.Errorf("%+v, %v", out, err)
	}
	if diff := cmp.Diff([]string{"a"}, s.Keys(bucket, "")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if r := last(t, s); r.Op != fakes3.OpDeleteMany || r.Took != fakes3.Applied || len(r.Body) == 0 {
		t.Errorf("recorded as %v", r)
	}
	conditional := `<Delete><Object><Key>a</Key><ETag>"0"</ETag></Object></Delete>`
	wantReply(t, "with a condition", raw(t, s, "POST", "/bucket?delete", conditional), 501, "NotImplemented")
	wantReply(t, "of nothing", raw(t, s, "POST", "/bucket?delete", "<Delete></Delete>"), 400, "MalformedXML")
	wantReply(t, "with a wrong digest", raw(t, s, "POST", "/bucket?delete", "<Delete><Object><Key>a</Key></Object></Delete>",
		"Content-MD5: AAAAAAAAAAAAAAAAAAAAAA=="), 400, "BadDigest")
	wantBody(t, s, "a", "a")
}

func TestCopying(t *testing.T) {
	s := start(t)
	c := sdk(t, s.Endpoint())
	if err := s.Put(bucket, "from+a b", fakes3.Object{Body: []byte("x"), ContentType: "text/x", Metadata: map[string]string{"m": "1"}}); err != nil {
		t.Fatal(err)
	}
	source, _ := s.Get(bucket, "from+a b")
	copyTo := func(key string, change func(*s3.CopyObjectInput)) error {
		in := &s3.CopyObjectInput{Bucket: aws.String(bucket), Key: aws.String(key), CopySource: aws.String("bucket/from%2Ba%20b")}
		if change != nil {
			change(in)
		}
		_, err := c.CopyObject(context.Background(), in)
		return err
	}
	wantCode(t, "plain", copyTo("to", nil), "")
	got, _ := s.Get(bucket, "to")
	if string(got.Body) != "x" || got.ContentType != "text/x" || got.Metadata["m"] != "1" {
		t.Errorf("copied as %+v", got)
	}
	wantCode(t, "with other metadata", copyTo("to", func(in *s3.CopyObjectInput) {
		in.MetadataDirective, in.Metadata = types.MetadataDirectiveReplace, map[string]string{"n": "2"}
	}), "")
	if got, _ := s.Get(bucket, "to"); got.Metadata["n"] != "2" || got.Metadata["m"] != "" {
		t.Errorf("copied as %+v", got)
	}
	wantCode(t, "over something, if it is absent", copyTo("to", func(in *s3.CopyObjectInput) { in.IfNoneMatch = aws.String("*") }), "PreconditionFailed")
	wantCode(t, "of another version", copyTo("to2", func(in *s3.CopyObjectInput) { in.CopySourceIfMatch = aws.String(`"0"`) }), "PreconditionFailed")
	wantCode(t, "of another version than this", copyTo("to2", func(in *s3.CopyObjectInput) { in.CopySourceIfNoneMatch = &source.ETag }), "PreconditionFailed")
	wantCode(t, "of this version", copyTo("to2", func(in *s3.CopyObjectInput) { in.CopySourceIfMatch = &source.ETag; in.IfNoneMatch = aws.String("*") }), "")
	wantCode(t, "onto itself", copyTo("from+a b", nil), "InvalidRequest")
	wantCode(t, "of nothing", copyTo("to3", func(in *s3.CopyObjectInput) { in.CopySource = aws.String("bucket/none") }), "NoSuchKey")
	wantCode(t, "from nowhere", copyTo("to3", func(in *s3.CopyObjectInput) { in.CopySource = aws.String("nobucket/none") }), "NoSuchBucket")
	if diff := cmp.Diff([]string{"from+a b", "to", "to2"}, s.Keys(bucket, "")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	raw(t, s, "PUT", "/bucket/plus", "", "x-amz-copy-source: /bucket/from+a%20b").expect(t, 200)
	wantBody(t, s, "plus", "x")
}
