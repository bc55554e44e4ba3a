package wire

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/klauspost/compress/zstd"
)

// Stored is one object of a bucket as it lies there: the bytes as stored, and the headers that go with them.
type Stored struct {
	Key                                        string
	Body                                       []byte
	ContentType, ContentEncoding, CacheControl string
	Metadata                                   map[string]string // user metadata, by name without any prefix
}

// decoders is made once, on first use: building one is far dearer than using it.
var decoder = sync.OnceValues(func() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecoderMaxMemory(maxDecoded),
		zstd.WithDecoderMaxWindow(1<<27))
})

// maxDecoded bounds what a compressed body may grow to, against bodies made to exhaust memory.
const maxDecoded = 1 << 30

var (
	zstdMagic = []byte{0x28, 0xB5, 0x2F, 0xFD}
	gzipMagic = []byte{0x1F, 0x8B}
)

// ErrTrailing is wrapped by DecodeZstd's error where good frames are followed by bytes that are none.
var ErrTrailing = errors.New("bytes behind the last zstd frame")

// DecodeZstd decodes a body made of any number of zstd frames, skippable ones among them. Anything else in it is an
// error: no frame at all, bytes behind the last one (ErrTrailing, with what decoded so far), a frame cut short, a wrong
// checksum.
func DecodeZstd(b []byte) ([]byte, error) {
	end, err := frames(b)
	if err != nil && !errors.Is(err, ErrTrailing) {
		return nil, err
	}
	d, derr := decoder()
	if derr != nil {
		return nil, fmt.Errorf("zstd decoder: %w", derr)
	}
	out, derr := d.DecodeAll(b[:end], nil)
	if derr != nil {
		return nil, fmt.Errorf("zstd: %w", derr)
	}
	return out, err
}

// frames walks the frame structure of RFC 8878 without decoding blocks, and gives the end of the last whole frame.
func frames(b []byte) (end int, err error) {
	data := 0
	for end < len(b) {
		rest := b[end:]
		switch {
		case bytes.HasPrefix(rest, zstdMagic):
			n, err := frameLength(rest)
			if err != nil {
				return end, fmt.Errorf("zstd frame at byte %d: %w", end, err)
			}
			end += n
			data++
		case len(rest) >= 8 && rest[0]&0xF0 == 0x50 && rest[1] == 0x2A && rest[2] == 0x4D && rest[3] == 0x18:
			n := 8 + int64(rest[4]) + int64(rest[5])<<8 + int64(rest[6])<<16 + int64(rest[7])<<24
			if n > int64(len(rest)) {
				return end, fmt.Errorf("skippable zstd frame at byte %d: cut short", end)
			}
			end += int(n)
		case end == 0:
			return 0, fmt.Errorf("no zstd frame at byte 0: begins with % x", rest[:min(4, len(rest))])
		default:
			if data == 0 {
				return end, fmt.Errorf("no zstd frame at byte %d, behind skippable ones", end)
			}
			return end, fmt.Errorf("%w: %d from byte %d on", ErrTrailing, len(rest), end)
		}
	}
	if data == 0 {
		return end, errors.New("no zstd frame: the body is empty or holds only skippable ones")
	}
	return end, nil
}

// frameLength is the length of the data frame that b begins with.
func frameLength(b []byte) (int, error) {
	cut := errors.New("cut short")
	if len(b) < 5 {
		return 0, cut
	}
	flags := b[4]
	n := 5
	single := flags>>5&1 == 1
	if !single {
		n++ // window descriptor
	}
	n += []int{0, 1, 2, 4}[flags&3] // dictionary ID
	switch size := flags >> 6; {
	case size == 0 && single:
		n++
	case size > 0:
		n += 1 << size
	}
	for last := false; !last; {
		if len(b) < n+3 {
			return 0, cut
		}
		head := int(b[n]) | int(b[n+1])<<8 | int(b[n+2])<<16
		n += 3
		last = head&1 == 1
		switch size := head >> 3; head >> 1 & 3 {
		case 1:
			n++ // one byte, repeated
		case 3:
			return 0, errors.New("reserved block type")
		default:
			n += size
		}
	}
	if flags>>2&1 == 1 {
		n += 4 // checksum
	}
	if n > len(b) {
		return 0, cut
	}
	return n, nil
}

// EncodeZstd compresses b as the bucket builder does: one frame, with checksum.
func EncodeZstd(b []byte) []byte {
	e, err := encoder()
	if err != nil {
		panic(fmt.Sprintf("zstd encoder with default options: %v", err)) // its options are constant
	}
	return e.EncodeAll(b, nil)
}

var encoder = sync.OnceValues(func() (*zstd.Encoder, error) {
	return zstd.NewWriter(nil, zstd.WithEncoderConcurrency(1))
})

// Decoded is the body with its Content-Encoding undone. A body without one that begins like zstd or gzip is left as it
// is: Sniffed undoes that.
func (o Stored) Decoded() ([]byte, error) { return decodeBody(o.Body, o.ContentEncoding) }

// Sniffed is Decoded for an object that may have lost its Content-Encoding (S15-3): where none is declared, it is taken
// from the first bytes. encoding is the one undone.
func (o Stored) Sniffed() (body []byte, encoding string, err error) {
	encoding = o.ContentEncoding
	if encoding == "" {
		switch {
		case bytes.HasPrefix(o.Body, zstdMagic):
			encoding = "zstd"
		case bytes.HasPrefix(o.Body, gzipMagic):
			encoding = "gzip"
		}
	}
	body, err = decodeBody(o.Body, encoding)
	return body, encoding, err
}

func decodeBody(b []byte, encoding string) ([]byte, error) {
	switch encoding {
	case "":
		return b, nil
	case "zstd":
		return DecodeZstd(b)
	case "gzip":
		r, err := gzip.NewReader(bytes.NewReader(b))
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		out, err := io.ReadAll(io.LimitReader(r, maxDecoded))
		if err != nil {
			return nil, fmt.Errorf("gzip: %w", err)
		}
		return out, nil
	}
	return nil, fmt.Errorf("unknown Content-Encoding %q", encoding)
}
