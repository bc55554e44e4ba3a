package runtime

import (
	"bytes"
	"encoding/binary"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// zstdVariant is one of the forms in which a conformant encoder may write the same
// document.
type zstdVariant struct {
	what   string
	encode func([]byte) []byte
}

func zstdVariants() []zstdVariant {
	return []zstdVariant{
		{"one frame of the fastest level", whole(zstd.WithEncoderLevel(zstd.SpeedFastest))},
		{"one frame of the best level", whole(zstd.WithEncoderLevel(zstd.SpeedBestCompression))},
		{"one frame with content size and without checksum", whole(zstd.WithEncoderCRC(false), zstd.WithSingleSegment(true))},
		{"one frame with content size and checksum", whole(zstd.WithEncoderCRC(true), zstd.WithSingleSegment(true))},
		{"a streamed frame without content size, with checksum", streamed(zstd.WithEncoderCRC(true))},
		{"a streamed frame with neither content size nor checksum", streamed(zstd.WithEncoderCRC(false))},
		{"a streamed frame with a window of 8 MiB", streamed(zstd.WithWindowSize(8 << 20))},
		{"three data frames one after the other", inFrames},
		{"a skippable frame and then a data frame", func(b []byte) []byte { return append(skippable(b), whole()(b)...) }},
		{"data frames with skippable ones between and behind them", func(b []byte) []byte {
			half := len(b) / 2
			return bytes.Join([][]byte{whole()(b[:half]), skippable(b), streamed()(b[half:]), skippable(nil)}, nil)
		}},
		{"a frame of raw blocks", rawBlocks},
		{"a frame whose leading space is a repeated byte", repeatedBlock},
	}
}

// whole encodes a document in one piece.
func whole(options ...zstd.EOption) func([]byte) []byte {
	return func(b []byte) []byte {
		return zstdEncoder(nil, options).EncodeAll(b, nil)
	}
}

// streamed encodes a document in two pieces, so that the encoder cannot know its
// size beforehand.
func streamed(options ...zstd.EOption) func([]byte) []byte {
	return func(b []byte) []byte {
		var out bytes.Buffer
		e := zstdEncoder(&out, options)
		for _, piece := range [][]byte{b[:len(b)/2], b[len(b)/2:]} {
			if _, err := e.Write(piece); err != nil {
				panic(fmt.Sprintf("zstd into memory: %v", err))
			}
			if err := e.Flush(); err != nil {
				panic(fmt.Sprintf("zstd into memory: %v", err))
			}
		}
		if err := e.Close(); err != nil {
			panic(fmt.Sprintf("zstd into memory: %v", err))
		}
		return out.Bytes()
	}
}

func zstdEncoder(out *bytes.Buffer, options []zstd.EOption) *zstd.Encoder {
	options = append([]zstd.EOption{zstd.WithEncoderConcurrency(1)}, options...)
	if out == nil {
		e, err := zstd.NewWriter(nil, options...)
		if err != nil {
			panic(fmt.Sprintf("zstd encoder with constant options: %v", err))
		}
		return e
	}
	e, err := zstd.NewWriter(out, options...)
	if err != nil {
		panic(fmt.Sprintf("zstd encoder with constant options: %v", err))
	}
	return e
}

func inFrames(b []byte) []byte {
	third := len(b) / 3
	return bytes.Join([][]byte{whole()(b[:third]), streamed()(b[third : 2*third]), whole()(b[2*third:])}, nil)
}

// skippable is a frame that decoders pass over, with some bytes of b in it.
func skippable(b []byte) []byte {
	b = b[:min(len(b), 20)]
	out := binary.LittleEndian.AppendUint32(nil, 0x184D2A53)
	out = binary.LittleEndian.AppendUint32(out, uint32(len(b)))
	return append(out, b...)
}

// The frames below are put together by hand: magic number, a header with a window
// of 128 KiB and no content size, then blocks. A block's header is 24 bits: last,
// type (0 raw, 1 one byte repeated), size.
func byHand(blocks ...[]byte) []byte {
	out := []byte{0x28, 0xB5, 0x2F, 0xFD, 0x00, 7 << 3}
	for _, b := range blocks {
		out = append(out, b...)
	}
	return out
}

func block(last bool, kind, size int, content []byte) []byte {
	head := size<<3 | kind<<1
	if last {
		head |= 1
	}
	return append([]byte{byte(head), byte(head >> 8), byte(head >> 16)}, content...)
}

func rawBlocks(b []byte) []byte {
	var blocks [][]byte
	for len(b) > 100 {
		blocks, b = append(blocks, block(false, 0, 100, b[:100])), b[100:]
	}
	return byHand(append(blocks, block(true, 0, len(b), b))...)
}

// repeatedBlock puts 2000 spaces before the document, by one byte of the stream.
func repeatedBlock(b []byte) []byte {
	return byHand(block(false, 1, 2000, []byte{' '}), block(true, 0, len(b), b))
}
