package fakes3_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go"

	"github.com/pugcheck/pugcheck/harness/fakes3"
)

const bucket = "bucket"

// start starts a server with one empty bucket.
func start(t testing.TB) *fakes3.Server {
	t.Helper()
	s, err := fakes3.Start()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Errorf("closing the server: %v", err)
		}
	})
	if err := s.CreateBucket(bucket); err != nil {
		t.Fatal(err)
	}
	return s
}

// sdk returns a client of the AWS SDK that retries nothing and has connections of its own.
func sdk(t testing.TB, endpoint string, options ...func(*s3.Options)) *s3.Client {
	t.Helper()
	transport := &http.Transport{MaxIdleConnsPerHost: 64}
	t.Cleanup(transport.CloseIdleConnections)
	return s3.New(s3.Options{
		Region: "eu-west-1", BaseEndpoint: &endpoint, UsePathStyle: true,
		Credentials: credentials.NewStaticCredentialsProvider("tester", "secret", ""),
		HTTPClient:  &http.Client{Transport: transport},
		Retryer:     aws.NopRetryer{},
		// As config.LoadDefaultConfig has them.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenSupported,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenSupported,
	}, options...)
}

// reply is what a raw request got.
type reply struct {
	status int
	header http.Header
	body   string
}

// raw sends a request as it is written: no SDK, no retry, no decompression. header holds "Name: value" lines.
func raw(t testing.TB, s *fakes3.Server, method, target, body string, header ...string) reply {
	t.Helper()
	r, err := send(s, method, target, body, header...)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

var plainClient = &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}

func send(s *fakes3.Server, method, target, body string, header ...string) (reply, error) {
	rq, err := http.NewRequest(method, s.Endpoint()+target, strings.NewReader(body))
	if err != nil {
		return reply{}, err
	}
	for _, line := range header {
		name, value, _ := strings.Cut(line, ": ")
		rq.Header.Add(name, value)
	}
	rs, err := plainClient.Do(rq)
	if err != nil {
		return reply{}, err
	}
	defer rs.Body.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, rs.Body); err != nil {
		return reply{}, err
	}
	return reply{status: rs.StatusCode, header: rs.Header, body: b.String()}, nil
}

// wantReply fails unless a raw request was answered with that status and S3 error code.
func wantReply(t testing.TB, what string, got reply, status int, code string) {
	t.Helper()
	if got.status != status || code != "" && !strings.Contains(got.body, "<Code>"+code+"</Code>") {
		t.Errorf("%s: got %d %s, want %d %s", what, got.status, got.body, status, code)
	}
}

// wantCode fails unless an error of the SDK has that S3 error code; "" wants no error.
func wantCode(t testing.TB, what string, err error, code string) {
	t.Helper()
	if got := codeOf(err); got != code {
		t.Errorf("%s: got %q (%v), want %q", what, got, err, code)
	}
}

func codeOf(err error) string {
	var api smithy.APIError
	switch {
	case err == nil:
		return ""
	case errors.As(err, &api):
		return api.ErrorCode()
	}
	return err.Error()
}

func put(t testing.TB, s *fakes3.Server, keys ...string) {
	t.Helper()
	for _, key := range keys {
		if err := s.Put(bucket, key, fakes3.Object{Body: []byte(key)}); err != nil {
			t.Fatal(err)
		}
	}
}

func wantBody(t testing.TB, s *fakes3.Server, key, body string) {
	t.Helper()
	o, ok := s.Get(bucket, key)
	if !ok || string(o.Body) != body {
		t.Errorf("%q holds %q (%v), want %q", key, o.Body, ok, body)
	}
}

func wantAbsent(t testing.TB, s *fakes3.Server, key string) {
	t.Helper()
	if o, ok := s.Get(bucket, key); ok {
		t.Errorf("%q was stored with %q", key, o.Body)
	}
}

// last returns the record of the newest request.
func last(t testing.TB, s *fakes3.Server) fakes3.Request {
	t.Helper()
	all := s.Requests()
	if len(all) == 0 {
		t.Fatal("no request was recorded")
	}
	return all[len(all)-1]
}

func (r reply) expect(t testing.TB, status int) {
	t.Helper()
	if r.status != status {
		t.Errorf("got %d %s, want %d", r.status, r.body, status)
	}
}

// overTCP sends bytes and returns all that comes back until the server closes the connection.
func overTCP(t testing.TB, s *fakes3.Server, request string) string {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(s.Endpoint(), "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if _, err := io.WriteString(conn, request); err != nil {
		t.Fatal(err)
	}
	answer, err := io.ReadAll(conn)
	if err != nil {
		t.Fatal(err)
	}
	return string(answer)
}
