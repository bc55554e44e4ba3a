package wire

import (
	"fmt"
	"strings"
)

// Kind is the class of a key.
type Kind string

// The classes of keys.
const (
	KindBlob      Kind = "blob"
	KindManifest  Kind = "manifest"
	KindSnapshot  Kind = "snapshot"
	KindMemory    Kind = "memory"
	KindRef       Kind = "ref"
	KindForeign   Kind = "foreign"   // outside the four prefixes that the layout owns
	KindMisplaced Kind = "misplaced" // under one of the four prefixes, but of no shape that belongs there (S1-5)
)

// Key is a key of a bucket, taken apart.
type Key struct {
	Kind      Kind
	Digest    string    // of a blob, with its sha256: prefix
	Session   SessionID // of a manifest or snapshot
	Version   uint32    // of a snapshot or memory file
	Namespace string    // of a memory file
	Ref       string    // of a ref: what follows refs/
	Reason    string    // of a misplaced key: what is wrong with it
}

// ParseKey classifies any key of a bucket, relative to the bucket's root.
func ParseKey(key string) Key {
	misplaced := func(format string, args ...any) Key {
		return Key{Kind: KindMisplaced, Reason: fmt.Sprintf(format, args...)}
	}
	prefix, rest, ok := strings.Cut(key, "/")
	if !ok {
		return Key{Kind: KindForeign}
	}
	switch prefix {
	case "objects":
		if !digestShape().MatchString(rest) {
			return misplaced("%q is not sha256: and 64 lowercase hex digits", rest)
		}
		return Key{Kind: KindBlob, Digest: rest}
	case "sessions":
		id, file, err := ParseSessionPath(key)
		if err != nil {
			return misplaced("%v", err)
		}
		if file == "manifest.json" {
			return Key{Kind: KindManifest, Session: id}
		}
		name, ok := strings.CutPrefix(file, "snapshots/")
		if !ok {
			return misplaced("%q in a session's directory is neither manifest.json nor below snapshots/", file)
		}
		version, err := parseFileName(name)
		if err != nil {
			return misplaced("%v", err)
		}
		return Key{Kind: KindSnapshot, Session: id, Version: version}
	case "memories":
		namespace, version, err := ParseMemoryKey(key)
		if err != nil {
			return misplaced("%v", err)
		}
		return Key{Kind: KindMemory, Namespace: namespace, Version: version}
	case "refs":
		if reason := checkRefName(rest); reason != "" {
			return misplaced("%s", reason)
		}
		return Key{Kind: KindRef, Ref: rest}
	}
	return Key{Kind: KindForeign}
}

// checkRefName says what is wrong with the name of a ref; at most one slash parts a kind from the name (S9-4).
func checkRefName(name string) string {
	switch parts := strings.Split(name, "/"); {
	case len(parts) > 2:
		return fmt.Sprintf("ref name %q has more than one slash", name)
	case parts[0] == "" || parts[len(parts)-1] == "":
		return fmt.Sprintf("ref name %q has an empty part", name)
	}
	return ""
}
