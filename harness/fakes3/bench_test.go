package fakes3_test

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/s3"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

func BenchmarkStartAndClose(b *testing.B) {
	for b.Loop() {
		s, err := fakes3.Start()
		if err != nil {
			b.Fatal(err)
		}
		if err := s.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkPut1KiB(b *testing.B) {
	body := bytes.Repeat([]byte("x"), 1024)
	b.Run("raw", func(b *testing.B) {
		s := start(b)
		for i := 0; b.Loop(); i++ {
			rawPut(b, http.DefaultClient, s, fmt.Sprint("k", i), body)
		}
	})
	b.Run("raw-16", func(b *testing.B) {
		s := start(b)
		c := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 16}}
		defer c.CloseIdleConnections()
		var n atomic.Int64
		b.SetParallelism(8)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				rawPut(b, c, s, fmt.Sprint("k", n.Add(1)), body)
			}
		})
	})
	b.Run("sdk", func(b *testing.B) {
		s := start(b)
		c := sdk(b, s.Endpoint())
		for i := 0; b.Loop(); i++ {
			if _, err := c.PutObject(b.Context(), &s3.PutObjectInput{Bucket: aws.String(bucket), Key: aws.String(fmt.Sprint("k", i)), Body: bytes.NewReader(body)}); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func rawPut(b *testing.B, c *http.Client, s *fakes3.Server, key string, body []byte) {
	rq, err := http.NewRequest("PUT", s.Endpoint()+"/bucket/"+key, bytes.NewReader(body))
	if err != nil {
		b.Error(err)
		return
	}
	do(b, c, rq)
}

func do(b *testing.B, c *http.Client, rq *http.Request) {
	rs, err := c.Do(rq)
	if err != nil {
		b.Error(err)
		return
	}
	defer rs.Body.Close()
	if _, err := io.Copy(io.Discard, rs.Body); err != nil || rs.StatusCode != 200 {
		b.Errorf("%d, %v", rs.StatusCode, err)
	}
}

func BenchmarkGet1KiB(b *testing.B) {
	s := start(b)
	if err := s.Put(bucket, "k", fakes3.Object{Body: bytes.Repeat([]byte("x"), 1024)}); err != nil {
		b.Fatal(err)
	}
	get(b, s, "/bucket/k")
}

func get(b *testing.B, s *fakes3.Server, target string) {
	rq, err := http.NewRequest("GET", s.Endpoint()+target, nil)
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		do(b, http.DefaultClient, rq)
	}
}

// Among 100,000 keys a listing must cost what its page costs, wherever it lies and whatever it rolls up.
func BenchmarkList(b *testing.B) {
	s := start(b)
	for i := range 100_000 {
		if err := s.Put(bucket, fmt.Sprintf("things/%02d/%06d", i/10_000, i), fakes3.Object{}); err != nil {
			b.Fatal(err)
		}
	}
	for name, query := range map[string]string{
		"first-key":      "max-keys=1",
		"first-of-late":  "max-keys=1&prefix=things/09/",
		"delimiter":      "prefix=things/&delimiter=/",
		"page-of-1000":   "prefix=things/05/",
		"after-the-last": "start-after=" + strings.Repeat("t", 10),
	} {
		b.Run(name, func(b *testing.B) { get(b, s, "/bucket?list-type=2&"+query) })
	}
}
