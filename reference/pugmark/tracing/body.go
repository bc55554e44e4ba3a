package tracing

import (
	"io"

	"go.opentelemetry.io/otel/trace"
)

// Until gives body with span ending when it is closed. failed is told of an error
// other than io.EOF with which a read ended.
func Until(body io.ReadCloser, span trace.Span, failed func(error)) io.ReadCloser {
	return &spanned{body, span, failed}
}

type spanned struct {
	body   io.ReadCloser
	span   trace.Span
	failed func(error)
}

func (s *spanned) Read(p []byte) (int, error) {
	n, err := s.body.Read(p)
	if err != nil && err != io.EOF {
		s.failed(err)
	}
	return n, err
}

func (s *spanned) Close() error {
	defer s.span.End()
	return s.body.Close()
}
