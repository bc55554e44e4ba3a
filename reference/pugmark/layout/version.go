package layout

import (
	"fmt"
	"math"
	"strings"
)

// ReverseVersion encodes a version, 32 bits and at least 1 (S6.1-1), so that later versions sort first: eight uppercase
// hex digits (S18-7). It panics on 0, which has no file (S6.1-2).
//
// S6.1-4: the number is the 32-bit complement of version-1.
func ReverseVersion(version uint32) string {
	if version == 0 {
		panic("layout: version 0 has no file")
	}
	return fmt.Sprintf("%08X", math.MaxUint32-(version-1))
}

// ParseReverseVersion is the inverse of ReverseVersion. 00000000 stands for no version.
func ParseReverseVersion(s string) (uint32, error) {
	if len(s) != 8 {
		return 0, fmt.Errorf("reverse version %q: want 8 uppercase hex digits", s)
	}
	var n uint32
	for _, c := range []byte(s) {
		switch {
		case '0' <= c && c <= '9':
			n = n<<4 | uint32(c-'0')
		case 'A' <= c && c <= 'F':
			n = n<<4 | uint32(c-'A'+10)
		default:
			return 0, fmt.Errorf("reverse version %q: want 8 uppercase hex digits", s)
		}
	}
	if n == 0 {
		return 0, fmt.Errorf("reverse version %q: stands for no version", s)
	}
	return math.MaxUint32 - n + 1, nil
}

// VersionFile is the file name of a snapshot or memory file (S6.1-3, S8.1-3).
func VersionFile(version uint32) string { return ReverseVersion(version) + ".json" }

// ParseVersionFile is the inverse of VersionFile.
func ParseVersionFile(name string) (uint32, error) {
	digits, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return 0, fmt.Errorf("version file %q: does not end in .json", name)
	}
	return ParseReverseVersion(digits)
}
