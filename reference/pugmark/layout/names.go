package layout

import (
	"fmt"
	"strings"
)

// CheckNamespace tells what is wrong with a memory namespace: it is not empty and has no empty, "." or ".."
// segment. It may have slashes (S8.1-2, P8.2-2).
func CheckNamespace(namespace string) error {
	if namespace == "" {
		return fmt.Errorf("memory namespace is empty")
	}
	for segment := range strings.SplitSeq(namespace, "/") {
		if err := checkSegment(segment); err != nil {
			return fmt.Errorf("memory namespace %q: %w", namespace, err)
		}
	}
	return nil
}

// CheckObjectName tells what is wrong with the name of a memory object. S8.3-1, S8.3-2: it is not empty and has no slash.
func CheckObjectName(name string) error {
	switch {
	case name == "":
		return fmt.Errorf("memory object name is empty")
	case strings.Contains(name, "/"):
		return fmt.Errorf("memory object name %q has a slash", name)
	}
	return nil
}

// SplitMemoryName splits <namespace>/<object-name> at its last slash (P8.2-1, P8.2-3).
func SplitMemoryName(path string) (namespace, name string, err error) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", "", fmt.Errorf("memory key %q: has no namespace", path)
	}
	namespace, name = path[:i], path[i+1:]
	if err := CheckNamespace(namespace); err != nil {
		return "", "", err
	}
	if err := CheckObjectName(name); err != nil {
		return "", "", err
	}
	return namespace, name, nil
}

// MemoryPrefix is the prefix of a namespace's files, and of the namespaces nested below it.
func MemoryPrefix(namespace string) string { return MemoriesPrefix + namespace + "/" }

// MemoryKey is the key of the file at a namespace's version, which is at least 1 (S8.1-1).
func MemoryKey(namespace string, version uint32) string {
	return MemoryPrefix(namespace) + VersionFile(version)
}

// ParseMemoryKey is the inverse of MemoryKey: the namespace is everything up to the last slash.
func ParseMemoryKey(key string) (namespace string, version uint32, err error) {
	rest, ok := strings.CutPrefix(key, MemoriesPrefix)
	if !ok {
		return "", 0, fmt.Errorf("memory key %q: does not start with %s", key, MemoriesPrefix)
	}
	i := strings.LastIndexByte(rest, '/')
	if i < 0 {
		return "", 0, fmt.Errorf("memory key %q: has no namespace", key)
	}
	if err := CheckNamespace(rest[:i]); err != nil {
		return "", 0, fmt.Errorf("memory key %q: %w", key, err)
	}
	version, err = ParseVersionFile(rest[i+1:])
	if err != nil {
		return "", 0, fmt.Errorf("memory key %q: %w", key, err)
	}
	return rest[:i], version, nil
}

// SessionRefsPrefix is the prefix of the refs that name sessions.
const SessionRefsPrefix = RefsPrefix + "sessions/"

// RefKey is the key of the ref called name (S9-1).
//
// S9-4, S9-5: a name has no slash, apart from one after the kind of ref.
func RefKey(name string) (string, error) {
	kind, rest, hasKind := strings.Cut(name, "/")
	if !hasKind {
		kind, rest = "", kind
	} else if err := checkSegment(kind); err != nil {
		return "", fmt.Errorf("ref name %q: kind: %w", name, err)
	}
	if strings.Contains(rest, "/") {
		return "", fmt.Errorf("ref name %q: more than one slash", name)
	}
	if err := checkSegment(rest); err != nil {
		return "", fmt.Errorf("ref name %q: %w", name, err)
	}
	return RefsPrefix + name, nil
}

// SessionRefKey is the key of the ref that names a session (S9.1-1).
func SessionRefKey(name string) (string, error) {
	if strings.Contains(name, "/") {
		return "", fmt.Errorf("session name %q has a slash", name)
	}
	return RefKey("sessions/" + name)
}

func checkSegment(segment string) error {
	switch segment {
	case "":
		return fmt.Errorf("empty segment")
	case ".", "..":
		return fmt.Errorf("segment %q is not allowed", segment)
	}
	if strings.ContainsAny(segment, "\x00\r\n") {
		return fmt.Errorf("segment %q has a control character", segment)
	}
	return nil
}
