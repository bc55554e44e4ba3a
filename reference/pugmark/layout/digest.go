package layout

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
)

// Digest is the SHA-256 digest of a blob's stored bytes, whatever their encoding (S3-3). The zero value stands for "no
// blob" (S10-3).
type Digest [sha256.Size]byte

const digestPrefix = "sha256:"

// DigestOf gives the digest of body.
func DigestOf(body []byte) Digest { return sha256.Sum256(body) }

// ParseDigest reads "sha256:" and 64 hex digits.
func ParseDigest(s string) (Digest, error) {
	var d Digest
	digits, ok := strings.CutPrefix(s, digestPrefix)
	if !ok || len(digits) != 2*len(d) {
		return Digest{}, fmt.Errorf("digest %q: want %s and 64 hex digits", s, digestPrefix)
	}
	if _, err := hex.Decode(d[:], []byte(digits)); err != nil {
		return Digest{}, fmt.Errorf("digest %q: %w", s, err)
	}
	return d, nil
}

// String gives "sha256:" and 64 lowercase hex digits (S3-2).
func (d Digest) String() string { return digestPrefix + hex.EncodeToString(d[:]) }

// IsZero tells whether d stands for "no blob".
func (d Digest) IsZero() bool { return d == Digest{} }

// Key is where the blob lies (S3-1).
func (d Digest) Key() string { return ObjectsPrefix + d.String() }

// MarshalText implements encoding.TextMarshaler (S7-1).
func (d Digest) MarshalText() ([]byte, error) { return []byte(d.String()), nil }

// UnmarshalText implements encoding.TextUnmarshaler. The empty text is the zero digest.
func (d *Digest) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Digest{}
		return nil
	}
	parsed, err := ParseDigest(string(text))
	if err != nil {
		return err
	}
	*d = parsed
	return nil
}
