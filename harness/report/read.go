package report

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
)

// mustHave are the fields without which a file is no result. The others may be
// missing: a file of an earlier version has none of what was added since.
var mustHave = []string{"suite", "subject", "complete", "clauses", "scenarios"}

// ReadFile reads the JSON form of a result from a file. Every error names the file.
func ReadFile(path string) (*Result, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", path, reason(err))
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.IsDir() {
		return nil, fmt.Errorf("result %s: it is a directory; name the file that --report json=FILE wrote", path)
	}
	r, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("result %s: %w", path, err)
	}
	return r.from(path), nil
}

// reason is an error without the operation and the path that it repeats.
func reason(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}

// Read reads the JSON form of a result and counts it anew. Fields that it does not
// know are left out, since later versions may add some. It fails, with the line and
// the byte where there is one, on what is not JSON or only the beginning of it, on
// another schema, on a result without what makes one, and on verdicts and outcomes that
// do not exist.
func Read(from io.Reader) (*Result, error) {
	data, err := io.ReadAll(from)
	if err != nil {
		return nil, reason(err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return nil, errors.New("it is empty")
	}
	var fields map[string]json.RawMessage
	if err := decode(data, &fields); err != nil {
		return nil, err
	}
	if err := supported(fields); err != nil {
		return nil, err
	}
	r := &Result{}
	if err := decode(data, r); err != nil {
		return nil, err
	}
	if err := r.consistent(); err != nil {
		return nil, err
	}
	r.Count()
	return r.withoutNulls(), nil
}

// decode reads one JSON value that takes up all of data.
func decode(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	if err == nil {
		return nil
	}
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax) && cut(data):
		return fmt.Errorf("it is cut: the JSON ends at byte %d, line %d, before it is complete", len(data), lineAt(data, int64(len(data))))
	case errors.As(err, &syntax):
		return fmt.Errorf("it is not JSON: %w, at byte %d, line %d", err, syntax.Offset, lineAt(data, syntax.Offset))
	case errors.As(err, &kind) && kind.Field == "":
		return fmt.Errorf("it is no result of pugcheck: a JSON %s instead of an object", kind.Value)
	case errors.As(err, &kind):
		return fmt.Errorf("%s cannot be a %s, at byte %d, line %d", kind.Field, kind.Value, kind.Offset, lineAt(data, kind.Offset))
	}
	return err
}

// cut tells whether data is the beginning of JSON.
func cut(data []byte) bool {
	var value json.RawMessage
	return errors.Is(json.NewDecoder(bytes.NewReader(data)).Decode(&value), io.ErrUnexpectedEOF)
}

// lineAt is the line, from 1, in which the first so many bytes end.
func lineAt(data []byte, offset int64) int {
	return 1 + bytes.Count(data[:min(offset, int64(len(data)))], []byte("\n"))
}

// supported tells whether the fields are those of a result in a version that can be read.
func supported(fields map[string]json.RawMessage) error {
	if fields == nil {
		return errors.New("it is no result of pugcheck: a JSON null instead of an object")
	}
	var schema string
	if raw, there := fields["schema"]; !there {
		return fmt.Errorf("it is no result of pugcheck: it has no \"schema\", which names the version (%s)", Schema)
	} else if json.Unmarshal(raw, &schema) != nil || schema != Schema {
		return fmt.Errorf("its schema is %s; this version of pugcheck reads %s", raw, Schema)
	}
	for _, name := range mustHave {
		if raw, there := fields[name]; !there || string(raw) == "null" {
			return fmt.Errorf("it says %s, but has no %q", Schema, name)
		}
	}
	return nil
}

var (
	verdicts = map[Verdict]bool{Pass: true, Fail: true, Warn: true, NotExercised: true, Untestable: true, Error: true, NotJudged: true, Unstable: true}
	outcomes = map[string]bool{"completed": true, "stopped": true, "error": true, "not-run": true}
)

// consistent tells what keeps a result from being worked with.
func (r *Result) consistent() error {
	if r.Suite == "" {
		return errors.New("\"suite\" is empty")
	}
	if len(r.Clauses) == 0 && r.Complete {
		return errors.New("it has no clauses, so it says nothing")
	}
	known := map[string]bool{}
	for i, c := range r.Clauses {
		if err := c.consistent(known); err != nil {
			return fmt.Errorf("clauses[%d]%w", i, err)
		}
	}
	for i, c := range r.Beyond {
		if err := c.consistent(known); err != nil {
			return fmt.Errorf("beyond[%d]%w", i, err)
		}
	}
	seen := map[string]bool{}
	for i, sc := range r.Scenarios {
		switch {
		case sc.ID == "":
			return fmt.Errorf("scenarios[%d] has no \"id\"", i)
		case seen[sc.ID]:
			return fmt.Errorf("scenarios[%d]: %s stands there twice", i, sc.ID)
		case !outcomes[sc.Outcome]:
			return fmt.Errorf("scenarios[%d], %s: there is no outcome %q", i, sc.ID, sc.Outcome)
		}
		seen[sc.ID] = true
	}
	return nil
}

// consistent tells what keeps a clause from being worked with, as it goes on behind the
// clause's place. known are the clauses before it.
func (c *Clause) consistent(known map[string]bool) error {
	switch {
	case c.ID == "":
		return errors.New(" has no \"id\"")
	case known[c.ID]:
		return fmt.Errorf(": %s stands there twice", c.ID)
	case !verdicts[c.Verdict]:
		return fmt.Errorf(", %s: there is no verdict %q", c.ID, c.Verdict)
	}
	known[c.ID] = true
	for k, e := range c.Evidence {
		if !verdicts[e.Verdict] {
			return fmt.Errorf(".evidence[%d], %s: there is no verdict %q", k, c.ID, e.Verdict)
		}
	}
	return nil
}
