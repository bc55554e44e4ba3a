package s3

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"os"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
	"github.com/aws/aws-sdk-go-v2/service/s3"
	"github.com/aws/smithy-go/logging"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
)

// Config says which bucket to open. Empty fields are taken from the environment.
type Config struct {
	Bucket   string
	Endpoint string // default: AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, or Amazon's own. Others are asked by path style.
	Region   string // default: AWS_REGION, AWS_DEFAULT_REGION, the profile's, or us-east-1
}

// Open makes the Store of a bucket. It sends no request, so a bucket that does not exist shows at the first one.
//
// Credentials are AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY and AWS_SESSION_TOKEN. Where these are not set, the SDK looks for
// the others that it knows, such as AWS_PROFILE; it never asks an instance's metadata service.
func Open(ctx context.Context, c Config) (*Store, error) {
	endpoint := firstOf(c.Endpoint, os.Getenv("AWS_ENDPOINT_URL_S3"), os.Getenv("AWS_ENDPOINT_URL"))
	region := firstOf(c.Region, os.Getenv("AWS_REGION"), os.Getenv("AWS_DEFAULT_REGION"))
	provider, profileRegion, err := findCredentials(ctx)
	if err != nil {
		return nil, fmt.Errorf("open s3://%s: %w", c.Bucket, err)
	}
	options := s3.Options{
		Region:      firstOf(region, profileRegion, "us-east-1"),
		Credentials: provider,
		HTTPClient:  &http.Client{Transport: store.NewTransport()},
		Retryer:     newRetryer(),
		// Checksums are sent where the caller gives one (S3-7), and nowhere else.
		RequestChecksumCalculation: aws.RequestChecksumCalculationWhenRequired,
		ResponseChecksumValidation: aws.ResponseChecksumValidationWhenRequired,
		Logger:                     logging.Nop{},
	}
	if endpoint != "" {
		options.BaseEndpoint = &endpoint
		options.UsePathStyle = true
	}
	return &Store{client: s3.New(options), bucket: c.Bucket}, nil
}

func findCredentials(ctx context.Context) (provider aws.CredentialsProvider, region string, err error) {
	key, secret := os.Getenv("AWS_ACCESS_KEY_ID"), os.Getenv("AWS_SECRET_ACCESS_KEY")
	if key != "" && secret != "" {
		return credentials.NewStaticCredentialsProvider(key, secret, os.Getenv("AWS_SESSION_TOKEN")), "", nil
	}
	loaded, err := config.LoadDefaultConfig(ctx, config.WithEC2IMDSClientEnableState(imds.ClientDisabled))
	if err == nil {
		_, err = loaded.Credentials.Retrieve(ctx)
	}
	if err != nil {
		return nil, "", fmt.Errorf("no AWS credentials (set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY): %w", err)
	}
	return loaded.Credentials, loaded.Region, nil
}

// maxAttempts bounds how often one request is sent, where AWS_MAX_ATTEMPTS does not say otherwise: about three seconds
// of trouble are waited out.
const maxAttempts = 8

// newRetryer repeats what the SDK takes for passing: 5xx answers, SlowDown, broken connections. Beside these it repeats
// 409 ConditionalRequestConflict, by which S3 asks for another try of a conditional write that raced with another one.
// That is safe for every request that a Store sends; see the contract of store.Store.
func newRetryer() aws.Retryer {
	return retry.NewStandard(func(o *retry.StandardOptions) {
		o.MaxAttempts = maxAttempts
		if n, err := strconv.Atoi(os.Getenv("AWS_MAX_ATTEMPTS")); err == nil && n > 0 {
			o.MaxAttempts = n
		}
		o.RateLimiter = ratelimit.None
		o.Backoff = retry.BackoffDelayerFunc(func(attempt int, _ error) (time.Duration, error) {
			ceiling := 25 * time.Millisecond << max(attempt-1, 0)
			return ceiling/2 + rand.N(ceiling/2), nil
		})
		o.Retryables = append(o.Retryables, retry.RetryableErrorCode{Codes: map[string]struct{}{
			"ConditionalRequestConflict": {},
			"OperationAborted":           {},
		}})
	})
}

func firstOf(values ...string) string {
	for _, v := range values {
		if v != "" {
			return v
		}
	}
	return ""
}
