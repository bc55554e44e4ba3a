package runtime

import (
	"bytes"
	"testing"

	"github.com/klauspost/compress/zstd"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// Each variant is what its name says, and decodes to the document.
func TestZstdVariants(t *testing.T) {
	doc := []byte(`[{"digest":"sha256:00","name":"` + string(bytes.Repeat([]byte("long "), 200)) + `"}]`)
	for _, v := range zstdVariants() {
		t.Run(v.what, func(t *testing.T) {
			b := v.encode(doc)
			got, err := wire.DecodeZstd(b)
			if err != nil || !bytes.Equal(bytes.TrimLeft(got, " "), doc) {
				t.Fatalf("decodes to %q (%v)", got, err)
			}
			var head zstd.Header
			if err := head.Decode(b); err != nil {
				t.Fatal(err)
			}
			is := func(what string, got, want bool) {
				t.Helper()
				if got != want {
					t.Errorf("%s: %t, want %t", what, got, want)
				}
			}
			switch v.what {
			case "one frame with content size and without checksum":
				is("content size", head.HasFCS, true)
				is("checksum", head.HasCheckSum, false)
			case "one frame with content size and checksum":
				is("content size", head.HasFCS, true)
				is("checksum", head.HasCheckSum, true)
			case "a streamed frame without content size, with checksum":
				is("content size", head.HasFCS, false)
				is("checksum", head.HasCheckSum, true)
			case "a streamed frame with neither content size nor checksum":
				is("content size", head.HasFCS, false)
				is("checksum", head.HasCheckSum, false)
			case "a streamed frame with a window of 8 MiB":
				is("window of 8 MiB", head.WindowSize == 8<<20, true)
			case "a skippable frame and then a data frame":
				is("skippable", head.Skippable, true)
			case "three data frames one after the other":
				is("three frames", bytes.Count(b, []byte{0x28, 0xB5, 0x2F, 0xFD}) == 3, true)
			}
		})
	}
}
