package main

import (
	"context"
	"io"
	"net/url"
	"os"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/pugcheck/pugcheck/reference/pugmark/engine"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// sourceFaults spoil what becomes of bodies that handlers name by uri.
var sourceFaults = map[string]Fault{
	"taken-in-by-copy": fetchedFrom(func(sources *memory, _ *engine.Config) Fault {
		return stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			if source, ok := sources.get(digestOf(w.body)); w.isBlob() && ok && strings.HasPrefix(string(source), "s3://") {
				return "", copied(ctx, strings.TrimPrefix(string(source), "s3://"), w.key)
			}
			return w.send(ctx, next)
		}})
	}),
	"sources-asked-again": fetchedFrom(func(sources *memory, c *engine.Config) Fault {
		again := ownSnapshots(func(ctx context.Context, _ store.Store, _, _ string, list []map[string]any) []map[string]any {
			for _, d := range list {
				if uri, ok := d["uri"].(string); ok {
					if body, err := c.Fetch(ctx, uri); err == nil {
						body.Close()
					}
				}
			}
			return list
		})
		return merge(again, stored(&seam{put: func(ctx context.Context, next store.Store, w *write) (string, error) {
			if w.isOwn() {
				w.eachDescriptor(func(_, _ int, d map[string]any) {
					digest, _ := d["digest"].(string)
					if source, ok := sources.get(digest); ok {
						d["uri"] = string(source)
					}
				})
			}
			return w.send(ctx, next)
		}}))
	}),
}

// copied has the store copy a source, given as BUCKET/KEY, to a key of the session's
// bucket.
func copied(ctx context.Context, source, key string) error {
	endpoint := os.Getenv("AWS_ENDPOINT_URL")
	client := s3.New(s3.Options{
		Region: "us-east-1", UsePathStyle: true, BaseEndpoint: &endpoint,
		Credentials: credentials.NewStaticCredentialsProvider(os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY"), ""),
	})
	u, err := url.Parse(location)
	if err != nil {
		return err
	}
	_, err = client.CopyObject(ctx, &s3.CopyObjectInput{
		Bucket: &u.Host, Key: aws.String(strings.TrimPrefix(u.Path+"/"+key, "/")), CopySource: aws.String(source),
	})
	return err
}

// fetchedFrom tells a fault where bodies were fetched from, by their digests. The
// configuration that it gets is complete when the session is run.
func fetchedFrom(use func(sources *memory, c *engine.Config) Fault) Fault {
	sources, config := newMemory(), &engine.Config{}
	f := use(sources, config)
	f.Engine = func(c *engine.Config) {
		whole := c.Fetch
		config.Fetch = whole
		c.Fetch = func(ctx context.Context, uri string) (io.ReadCloser, error) {
			body, err := whole(ctx, uri)
			if err != nil {
				return nil, err
			}
			defer body.Close()
			plain, err := io.ReadAll(body)
			if err != nil {
				return nil, err
			}
			sources.keep(digestOf(plain), []byte(uri))
			return io.NopCloser(strings.NewReader(string(plain))), nil
		}
	}
	return f
}
