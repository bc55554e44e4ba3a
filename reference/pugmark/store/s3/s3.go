// Package s3 keeps a bucket in Amazon S3 or in a server that speaks its protocol.
package s3

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"

	"github.com/aws/aws-sdk-go-v2/aws"
	awshttp "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// Store is one S3 bucket; Open makes it.
type Store struct {
	client *s3.Client
	bucket string
}

var _ store.Store = (*Store)(nil)

// Open implements store.Store.
func (s *Store) Open(ctx context.Context, key string) (io.ReadCloser, store.Attributes, error) {
	out, err := s.client.GetObject(ctx, &s3.GetObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return nil, store.Attributes{}, s.failure("open", key, err)
	}
	return out.Body, store.Attributes{
		ContentType:     aws.ToString(out.ContentType),
		ContentEncoding: aws.ToString(out.ContentEncoding),
		CacheControl:    aws.ToString(out.CacheControl),
		Metadata:        out.Metadata,
		ETag:            aws.ToString(out.ETag),
		Size:            aws.ToInt64(out.ContentLength),
		Modified:        aws.ToTime(out.LastModified),
	}, nil
}

// Head implements store.Store.
func (s *Store) Head(ctx context.Context, key string) (store.Attributes, error) {
	out, err := s.client.HeadObject(ctx, &s3.HeadObjectInput{Bucket: &s.bucket, Key: &key})
	if err != nil {
		return store.Attributes{}, s.failure("head", key, err)
	}
	return store.Attributes{
		ContentType:     aws.ToString(out.ContentType),
		ContentEncoding: aws.ToString(out.ContentEncoding),
		CacheControl:    aws.ToString(out.CacheControl),
		Metadata:        out.Metadata,
		ETag:            aws.ToString(out.ETag),
		Size:            aws.ToInt64(out.ContentLength),
		Modified:        aws.ToTime(out.LastModified),
	}, nil
}

// Put implements store.Store. A conditional Put whose answer is lost is sent again, and may then meet itself.
func (s *Store) Put(ctx context.Context, key string, body io.ReadSeeker, options store.PutOptions) (string, error) {
	size, err := store.Size(body)
	if err != nil {
		return "", fmt.Errorf("put s3://%s/%s: %w", s.bucket, key, err)
	}
	in := &s3.PutObjectInput{
		Bucket:          &s.bucket,
		Key:             &key,
		Body:            body,
		ContentLength:   &size,
		ContentType:     optional(options.ContentType),
		ContentEncoding: optional(options.ContentEncoding),
		CacheControl:    optional(options.CacheControl),
		Metadata:        options.Metadata,
		IfMatch:         optional(options.IfMatch),
	}
	if options.IfAbsent {
		in.IfNoneMatch = aws.String("*")
	}
	if options.SHA256 != nil {
		in.ChecksumSHA256 = aws.String(base64.StdEncoding.EncodeToString(options.SHA256[:]))
	}
	out, err := s.client.PutObject(ctx, in)
	if err == nil {
		return aws.ToString(out.ETag), nil
	}
	err = s.failure("put", key, err)
	switch {
	case options.IfAbsent && hasStatus(err, http.StatusPreconditionFailed):
		err = fmt.Errorf("%w: %w", store.ErrExists, err)
	case options.IfMatch != "" && (hasStatus(err, http.StatusPreconditionFailed) || errors.Is(err, store.ErrNotFound)):
		err = fmt.Errorf("%w: %w", store.ErrMismatch, err)
	case options.SHA256 != nil && hasCode(err, "BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch", "XAmzContentChecksumMismatch"):
		err = fmt.Errorf("%w: %w", store.ErrChecksum, err)
	}
	return "", err
}

// Delete implements store.Store.
func (s *Store) Delete(ctx context.Context, key string, options store.DeleteOptions) error {
	_, err := s.client.DeleteObject(ctx, &s3.DeleteObjectInput{
		Bucket: &s.bucket, Key: &key, IfMatch: optional(options.IfMatch),
	})
	if err == nil {
		return nil
	}
	err = s.failure("delete", key, err)
	missing := errors.Is(err, store.ErrNotFound)
	switch {
	case options.IfMatch != "" && (missing || hasStatus(err, http.StatusPreconditionFailed)):
		return fmt.Errorf("%w: %w", store.ErrMismatch, err)
	case missing:
		return nil
	}
	return err
}

// List implements store.Store.
func (s *Store) List(ctx context.Context, prefix string, options store.ListOptions) (store.Page, error) {
	in := &s3.ListObjectsV2Input{
		Bucket:            &s.bucket,
		Prefix:            &prefix,
		StartAfter:        optional(options.After),
		ContinuationToken: optional(options.Token),
		Delimiter:         optional(options.Delimiter),
	}
	if options.Max > 0 {
		in.MaxKeys = aws.Int32(int32(min(options.Max, 1000)))
	}
	out, err := s.client.ListObjectsV2(ctx, in)
	if err != nil {
		return store.Page{}, s.failure("list", prefix, err)
	}
	page := store.Page{Keys: make([]string, 0, len(out.Contents))}
	for _, object := range out.Contents {
		page.Keys = append(page.Keys, aws.ToString(object.Key))
	}
	for _, group := range out.CommonPrefixes {
		page.Prefixes = append(page.Prefixes, aws.ToString(group.Prefix))
	}
	if aws.ToBool(out.IsTruncated) {
		page.Next = aws.ToString(out.NextContinuationToken)
	}
	return page, nil
}

// failure gives an error its context, and names what callers tell apart.
func (s *Store) failure(verb, key string, err error) error {
	err = fmt.Errorf("%s s3://%s/%s: %w", verb, s.bucket, key, err)
	switch {
	case hasCode(err, "NoSuchBucket"):
		return fmt.Errorf("%w: %w", store.ErrNoBucket, err)
	case hasStatus(err, http.StatusNotFound):
		return fmt.Errorf("%w: %w", store.ErrNotFound, err)
	}
	return err
}

func hasStatus(err error, status int) bool {
	var response *awshttp.ResponseError
	return errors.As(err, &response) && response.HTTPStatusCode() == status
}

func hasCode(err error, codes ...string) bool {
	var api smithy.APIError
	if !errors.As(err, &api) {
		return false
	}
	for _, code := range codes {
		if api.ErrorCode() == code {
			return true
		}
	}
	return false
}

func optional(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
