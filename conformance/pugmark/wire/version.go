package wire

import (
	"fmt"
	"math"
	"strconv"
)

// ReverseVersion is the name, without extension, of the file of a version: eight uppercase hex digits of
// 4294967295 - (version - 1), so that the latest sorts first (S6.1-4). Version 0 has no file and is an error.
func ReverseVersion(version uint32) (string, error) {
	if version == 0 {
		return "", fmt.Errorf("version 0 has no file")
	}
	return reverse(version), nil
}

func reverse(version uint32) string { return fmt.Sprintf("%08X", math.MaxUint32-(version-1)) }

// ParseReverseVersion is the inverse of ReverseVersion. It takes exactly eight uppercase hex digits; 00000000 stands for
// no version (S4.3-2).
func ParseReverseVersion(name string) (uint32, error) {
	if len(name) != 8 {
		return 0, fmt.Errorf("reverse version %q: want 8 uppercase hex digits, found %d bytes", name, len(name))
	}
	for _, c := range []byte(name) {
		if (c < '0' || c > '9') && (c < 'A' || c > 'F') {
			return 0, fmt.Errorf("reverse version %q: %q is no uppercase hex digit", name, c)
		}
	}
	n, err := strconv.ParseUint(name, 16, 32)
	if err != nil {
		return 0, fmt.Errorf("reverse version %q: %w", name, err)
	}
	if n == 0 {
		return 0, fmt.Errorf("reverse version %q: stands for no version", name)
	}
	return uint32(math.MaxUint32-n) + 1, nil
}
