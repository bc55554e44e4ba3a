package session

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

var encoders = sync.Pool{New: func() any {
	// Small tables, since making them is most of what a process pays for its one commit. The options are constant and
	// valid, so that there is no error to report.
	e, _ := zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1), zstd.WithLowerEncoderMem(true),
		zstd.WithEncoderLevel(zstd.SpeedFastest), zstd.WithWindowSize(128<<10))
	return e
}}

var decoders = sync.Pool{New: func() any {
	// S6.2-6: any conformant stream. 8 MiB is the window that RFC 8878 recommends every decoder to take; the
	// decoder's own default is more generous.
	d, _ := zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true))
	return d
}}

// compress gives one zstd frame of what write writes, however short it is (S6.2-4).
//
// S6.2-7: by the streaming encoder. The flush keeps it from putting a short document into a frame of known size at once.
func compress(write func(w io.Writer) error) ([]byte, error) {
	e := encoders.Get().(*zstd.Encoder)
	defer encoders.Put(e)
	var out bytes.Buffer
	e.Reset(&out)
	if err := write(e); err != nil {
		return nil, err
	}
	if err := e.Flush(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	if err := e.Close(); err != nil {
		return nil, fmt.Errorf("compress: %w", err)
	}
	return out.Bytes(), nil
}

// decompress undoes a content encoding (S15-2). S15-3: where the encoding got lost, the first bytes tell.
func decompress(body []byte, encoding string) ([]byte, error) {
	if encoding == "" {
		encoding = sniff(body)
	}
	switch encoding {
	case "", "identity":
		return body, nil
	case "zstd":
		d := decoders.Get().(*zstd.Decoder)
		defer decoders.Put(d)
		if err := d.Reset(bytes.NewReader(body)); err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		plain, err := readAll(d, 4*len(body))
		if err != nil {
			return nil, fmt.Errorf("zstd: %w", err)
		}
		return plain, nil
	case "gzip":
		z, err := gzip.NewReader(bytes.NewReader(body))
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		plain, err := readAll(z, 4*len(body))
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return plain, nil
	}
	return nil, fmt.Errorf("content encoding %q is not known", encoding)
}

func readAll(r io.Reader, guess int) ([]byte, error) {
	out := bytes.NewBuffer(make([]byte, 0, guess+bytes.MinRead))
	_, err := out.ReadFrom(r)
	return out.Bytes(), err
}

func sniff(body []byte) string {
	switch {
	case bytes.HasPrefix(body, []byte{0x28, 0xb5, 0x2f, 0xfd}):
		return "zstd"
	case len(body) > 4 && body[0]&0xf0 == 0x50 && bytes.Equal(body[1:4], []byte{0x2a, 0x4d, 0x18}):
		return "zstd" // a skippable frame comes first
	case bytes.HasPrefix(body, []byte{0x1f, 0x8b}):
		return "gzip"
	}
	return ""
}
