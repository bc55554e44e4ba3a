package wire

import (
	"encoding/json"
	"fmt"
	"strings"
)

// Commit is the envelope of a memory record: which session-write made it.
type Commit struct {
	Session     string
	Version     uint32
	Transaction uint64
}

// MemoryRecord is one record of a memory file.
type MemoryRecord struct {
	Descriptor
	Commit    Commit
	HasCommit bool
}

// MemoryFile is one version of a memory namespace.
type MemoryFile struct {
	Namespace string // by the key
	Version   uint32 // by the key
	Records   []MemoryRecord
	JSON      []byte
	Metadata  map[string]string
}

// DecodeMemory decodes a memory file and reports all that is wrong with it by itself.
func DecodeMemory(o Stored) (MemoryFile, []Problem) {
	p := problems{key: o.Key}
	m := MemoryFile{Metadata: o.Metadata}
	var err error
	if m.Namespace, m.Version, err = ParseMemoryKey(o.Key); err != nil {
		p.add(ProblemKey, "", "%v", err)
	}
	p.fileHeaders(o)
	body, ok := p.body(o, "zstd")
	if !ok {
		return m, p.list
	}
	m.JSON = body
	seen := map[string]bool{}
	p.array(body, "record", func(where string, raw []byte, members []member) {
		r := MemoryRecord{Descriptor: p.descriptor(where, raw, members, body)}
		r.Commit, r.HasCommit = p.commit(where, membersOf(body, members))
		if delete(r.Unknown, "commit"); len(r.Unknown) == 0 {
			r.Unknown = nil
		}
		switch {
		case r.Name == "":
			p.add(ProblemMissing, join(where, "name"), "a memory record has to have a name")
		case strings.Contains(r.Name, "/"):
			p.add(ProblemName, join(where, "name"), "%q has a slash", r.Name)
		case seen[r.Name]:
			p.add(ProblemDuplicate, join(where, "name"), "a second record named %q", r.Name)
		}
		seen[r.Name] = true
		m.Records = append(m.Records, r)
	})
	return m, p.list
}

// commit decodes a record's envelope.
func (p *problems) commit(where string, all map[string]json.RawMessage) (Commit, bool) {
	raw := all["commit"]
	if isNull(raw) {
		p.add(ProblemMissing, join(where, "commit"), "a memory record has to have its commit envelope")
		return Commit{}, false
	}
	if raw[0] != '{' {
		p.typed(where, all).wrong("commit", "an object")
		return Commit{}, false
	}
	s := scanner{b: raw}
	members, _ := s.object(true)
	f := p.typed(join(where, "commit"), membersOf(raw, members))
	c := Commit{Session: f.str("session")}
	c.Version, _ = f.uint32("version")
	c.Transaction, _ = f.uint64("transaction")
	p.session(join(where, "commit, session"), c.Session)
	return c, true
}

// ParseMemoryKey takes memories/<namespace>/<reverse version>.json apart. A namespace is not empty and has no empty, "."
// or ".." segment.
func ParseMemoryKey(key string) (namespace string, version uint32, err error) {
	rest, ok := strings.CutPrefix(key, "memories/")
	if !ok {
		return "", 0, fmt.Errorf("memory key %q: does not begin with memories/", key)
	}
	slash := strings.LastIndexByte(rest, '/')
	if slash < 0 {
		return "", 0, fmt.Errorf("memory key %q: no namespace", key)
	}
	namespace = rest[:slash]
	for _, segment := range strings.Split(namespace, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return "", 0, fmt.Errorf("memory key %q: namespace segment %q", key, segment)
		}
	}
	version, err = parseFileName(rest[slash+1:])
	if err != nil {
		return "", 0, fmt.Errorf("memory key %q: %w", key, err)
	}
	return namespace, version, nil
}

func parseFileName(name string) (uint32, error) {
	stem, ok := strings.CutSuffix(name, ".json")
	if !ok {
		return 0, fmt.Errorf("file name %q: want <8 hex>.json", name)
	}
	return ParseReverseVersion(stem)
}
