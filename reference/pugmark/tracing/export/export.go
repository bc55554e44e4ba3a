// Package export sends spans where the environment of the process says, by the
// standard variables of OpenTelemetry.
//
// Read here:
//
//	OTEL_SDK_DISABLED                    true: no spans at all
//	OTEL_TRACES_EXPORTER                 otlp, console, none, or several with commas between them
//	OTEL_EXPORTER_OTLP_TRACES_PROTOCOL   http/protobuf (default), http/json or grpc;
//	OTEL_EXPORTER_OTLP_PROTOCOL          the first one set counts
//	OTEL_EXPORTER_OTLP_TRACES_ENDPOINT   one of these set, and no OTEL_TRACES_EXPORTER,
//	OTEL_EXPORTER_OTLP_ENDPOINT          means otlp
//	OTEL_SERVICE_NAME                    default: pugcheck-reference
//
// Everything else is left to the libraries: the other OTEL_EXPORTER_OTLP variables,
// OTEL_TRACES_SAMPLER and its argument, OTEL_RESOURCE_ATTRIBUTES, OTEL_BSP and
// OTEL_SPAN limits. Where no exporter is asked for, nothing is set up.
package export

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracegrpc"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace/otlptracehttp"
	"go.opentelemetry.io/otel/exporters/stdout/stdouttrace"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"

	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/traced"
	"github.com/pugcheck/pugcheck/reference/pugmark/tracing"
)

// Options say where a Pipeline talks to a person.
type Options struct {
	// Console is where the console exporter writes.
	Console io.Writer
	// Report is told, once, that spans could not be exported, and of settings that
	// could not be used. It may be called from any goroutine.
	Report func(message string)
	// FlushWithin is how long Close may take. Default: 5 seconds.
	FlushWithin time.Duration
}

// Pipeline makes spans and exports them in the background. All methods of a nil
// Pipeline work, and make no spans.
type Pipeline struct {
	provider  *sdktrace.TracerProvider
	options   Options
	ended     counter
	exporters []*quiet
	failed    sync.Once
}

const (
	serviceName = "pugcheck-reference"
	flushWithin = 5 * time.Second
)

// How often an export is repeated that its receiver could not take just now. A run
// may be over in a moment, so this is shorter than what the libraries do for services.
const (
	retryAfter  = 200 * time.Millisecond
	retryEvery  = 500 * time.Millisecond
	retryWithin = time.Second
)

// FromEnvironment gives the pipeline that the environment asks for, nil where it asks
// for none. A setting that it cannot follow is an error.
func FromEnvironment(ctx context.Context, options Options) (*Pipeline, error) {
	wanted, err := exporters()
	if err != nil || len(wanted) == 0 {
		return nil, err
	}
	if options.FlushWithin <= 0 {
		options.FlushWithin = flushWithin
	}
	p := &Pipeline{options: options}
	attributes, err := resource.New(ctx,
		resource.WithAttributes(attribute.String("service.name", serviceName)),
		resource.WithProcessPID(),
		resource.WithTelemetrySDK(),
		resource.WithFromEnv())
	if err != nil {
		options.Report(fmt.Sprintf("tracing: describe this process: %v", err))
	}
	settings := []sdktrace.TracerProviderOption{
		sdktrace.WithIDGenerator(tracing.IDs{}), // P14.1-2
		sdktrace.WithResource(attributes),
	}
	for _, name := range wanted {
		exporter, err := p.exporter(ctx, name)
		if err != nil {
			return nil, fmt.Errorf("%s exporter: %w", name, err)
		}
		q := &quiet{SpanExporter: exporter, report: p.fail}
		p.exporters = append(p.exporters, q)
		settings = append(settings, sdktrace.WithBatcher(q))
	}
	// Behind the queues: what it has counted has been offered to them.
	settings = append(settings, sdktrace.WithSpanProcessor(&p.ended))
	p.provider = sdktrace.NewTracerProvider(settings...)
	return p, nil
}

func (p *Pipeline) exporter(ctx context.Context, name string) (sdktrace.SpanExporter, error) {
	switch name {
	case console:
		return stdouttrace.New(stdouttrace.WithWriter(p.options.Console))
	case otlpGRPC:
		return otlptracegrpc.New(ctx, otlptracegrpc.WithRetry(otlptracegrpc.RetryConfig{
			Enabled: true, InitialInterval: retryAfter, MaxInterval: retryEvery, MaxElapsedTime: retryWithin,
		}))
	}
	return otlptracehttp.New(ctx, otlptracehttp.WithRetry(otlptracehttp.RetryConfig{
		Enabled: true, InitialInterval: retryAfter, MaxInterval: retryEvery, MaxElapsedTime: retryWithin,
	}))
}

// TracerProvider makes the spans; nil where none are made.
func (p *Pipeline) TracerProvider() trace.TracerProvider {
	if p == nil {
		return nil
	}
	return p.provider
}

// Store gives s with a span for each request.
func (p *Pipeline) Store(s store.Store) store.Store {
	if p == nil {
		return s
	}
	return traced.New(s, p.provider)
}

// Close exports what has not been exported yet, for a limited time. It fails nobody:
// Report is told what went wrong.
func (p *Pipeline) Close() {
	if p == nil {
		return
	}
	ended := p.ended.Load()
	ctx, cancel := context.WithTimeout(context.Background(), p.options.FlushWithin)
	defer cancel()
	err := p.provider.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("the receiver did not take them within %s", p.options.FlushWithin)
	}
	if err != nil {
		p.fail(err)
	}
	for _, e := range p.exporters {
		// The queue is bounded, so that a slow receiver never slows down a run.
		if lost := ended - e.taken.Load(); lost > 0 {
			p.fail(fmt.Errorf("%d of %d were made faster than they were taken; OTEL_BSP_MAX_QUEUE_SIZE helps", lost, ended))
		}
	}
}

func (p *Pipeline) fail(err error) {
	p.failed.Do(func() { p.options.Report(fmt.Sprintf("tracing: spans are missing: %v", err)) })
}
