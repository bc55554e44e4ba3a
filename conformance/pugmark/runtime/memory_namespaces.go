package runtime

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/harness/probe"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// keeps is a memory record to lay out: a text that a session's snapshot 1 wrote.
func keeps(writer *wire.Session, name, body string) wire.MemoryEntry {
	return wire.MemoryEntry{Entry: wire.Text(name, body), Session: writer.ID, Version: 1}
}

// remember is an Output that writes a memory object, with a body that occurs
// nowhere else. key is <namespace>/<object-name>.
func (x *Lab) remember(key string) wire.OutputRecord {
	return wire.OutputRecord{Name: "memories/" + key, Data: x.threes("memory " + key), ContentType: "text/plain"}
}

// namespace fills a namespace with versions 1 to n. The latest holds the given
// records, all others one record called old.
func (x *Lab) namespace(name string, n uint32, latest ...wire.MemoryEntry) {
	writer := latest[0]
	writer.Entry = wire.Text("old", x.Word("old"))
	file, blobs, err := wire.BuildMemory(name, 1, writer)
	x.store(file, blobs, err)
	for v := uint32(2); v < n; v++ {
		file.Key = wire.MemoryKey(name, v)
		x.Must(x.Put(file))
	}
	file, blobs, err = wire.BuildMemory(name, n, latest...)
	x.store(file, blobs, err)
}

// memoryRoot is the announced root of memory. That it ends with a slash is for
// P4.2-3 to say.
func (i *Invocation) memoryRoot() string {
	root := memoryRecord(i.Inputs()).URL
	if root == "" {
		i.lab.Stop("the invocation was told no root of memory (P4.2-2)")
	}
	return strings.TrimSuffix(root, "/") + "/"
}

// recall asks the memory server for a key, each of its segments percent-encoded.
func (i *Invocation) recall(key string, header ...string) (probe.FetchResult, error) {
	segments := strings.Split(key, "/")
	for k, s := range segments {
		segments[k] = url.PathEscape(s)
	}
	return i.ask(i.memoryRoot()+strings.Join(segments, "/"), header...)
}

// ask is Get with header fields, given as name and value in turn.
func (i *Invocation) ask(address string, header ...string) (probe.FetchResult, error) {
	req := probe.FetchRequest{URL: address, Header: map[string][]string{}}
	for k := 0; k+1 < len(header); k += 2 {
		req.Header[header[k]] = []string{header[k+1]}
	}
	return i.fetch(req)
}

// witness lays out one plain memory object and gives a look at whether it is served.
// Stories that read memory in order to see something else look there first: where
// nothing is served they end, for P4.2-2 and P7-4 judge that.
func (x *Lab) witness(writer *wire.Session) (look func(inv *Invocation)) {
	body := x.Word("witness")
	x.Bucket.Memory("witness", keeps(writer, "x", body))
	return func(inv *Invocation) {
		if res, err := inv.recall("witness/x"); !yields(res, err, []byte(body)) {
			x.Stop("a plain memory object is not served where memory is announced to be (P4.2-2, P7-4, P7-10), so nothing else of what is there is judged: %s", inShort(res, err))
		}
	}
}

// inShort is a response in short, for messages.
func inShort(res probe.FetchResult, err error) string {
	switch {
	case err != nil:
		return fmt.Sprintf("the request failed: %v", err)
	case res.Status != 200:
		return fmt.Sprintf("status %d%s", res.Status, location(res))
	}
	return fmt.Sprintf("status 200 with %d bytes %q", len(res.Body), clip(res.Body, 60))
}

func location(res probe.FetchResult) string {
	if to := res.Header.Get("Location"); to != "" {
		return ", Location: " + to
	}
	return ""
}

// yields tells whether an answer is 200 with just these bytes.
func yields(res probe.FetchResult, err error, body []byte) bool {
	return err == nil && res.Status == 200 && slices.Equal(res.Body, body)
}

// memoryVersions are the versions of a namespace that the bucket has, ascending.
func (x *Lab) memoryVersions(namespace string) []uint32 {
	var out []uint32
	for _, key := range x.Keys("memories/" + namespace + "/") {
		if found, version, err := wire.ParseMemoryKey(key); err == nil && found == namespace {
			out = append(out, version)
		}
	}
	slices.Sort(out)
	return out
}

// memoryFile decodes a version of a namespace.
func (x *Lab) memoryFile(namespace string, version uint32) (wire.MemoryFile, bool) {
	o, ok := x.Get(wire.MemoryKey(namespace, version))
	if !ok {
		return wire.MemoryFile{}, false
	}
	file, _ := wire.DecodeMemory(o)
	return file, true
}

// memoryWrites are the subject's memory files that took effect at well-formed keys.
func (x *Lab) memoryWrites() []fakes3.Request {
	var out []fakes3.Request
	for _, r := range x.created("memories/") {
		if r.Took == fakes3.Applied && r.Status == 200 && wire.ParseKey(Key(r)).Kind == wire.KindMemory {
			out = append(out, r)
		}
	}
	return out
}

// memoryLegible ends the scenario where the subject stored memory that nobody
// finds or reads by the rules. That is for S8.1 and S8.2 to judge.
func (x *Lab) memoryLegible() {
	for _, r := range x.created("memories/") {
		if r.Took != fakes3.Applied || r.Status != 200 {
			continue
		}
		key := wire.ParseKey(Key(r))
		why := ""
		if key.Kind != wire.KindMemory {
			why = Key(r) + ": " + key.Reason
		} else if _, ok := x.Get(wire.MemoryKey(key.Namespace, max(1, key.Version-1))); !ok {
			why = fmt.Sprintf("%s is version %d, and there is no version %d", Key(r), key.Version, key.Version-1)
		} else if o, ok := x.Get(Key(r)); ok {
			why = unreadableFile(o)
		}
		if why != "" {
			x.Stop("the runtime stored memory that cannot be found or read by the rules, so what it holds is not judged: %s", why)
		}
	}
}

// unreadableFile says why a file's document cannot be told; "" where it can.
func unreadableFile(o wire.Stored) string {
	_, problems := wire.DecodeMemory(o)
	for _, p := range problems {
		switch p.Kind {
		case wire.ProblemBody, wire.ProblemJSON, wire.ProblemShape:
			return p.Error()
		}
	}
	return ""
}

// recorded is the record of a name in a namespace's newest file. Where there is
// none, memory writes do not arrive at all or not under their names, which other
// stories judge, and this one ends.
func (x *Lab) recorded(namespace, name string) wire.MemoryRecord {
	x.memoryLegible()
	records := x.remembered(namespace)
	for _, r := range records {
		if r.Name == name {
			return r
		}
	}
	x.Stop("the memory write of %s/%s left no record of that name (P8.4-2); records of %s: %s; files: %v", namespace, name, namespace, orNoNames(memoryNames(records)), x.New("memories/"))
	return wire.MemoryRecord{}
}

func orNoNames(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// invoked runs a session once, has the handler emit outs, and waits for the end.
func (x *Lab) invoked(s *wire.Session, outs ...wire.OutputRecord) Exit {
	run := x.Run(s.ID)
	run.Next().Finish(outs...)
	return run.Wait()
}

// rests tells whether the process ends by itself within the time limit, with
// whatever answers its invocations meanwhile.
func (r *Run) rests() bool {
	ctx, cancel := subject.Patience(r.lab.Ctx, r.lab.Config.Timeout)
	defer cancel()
	var err error
	r.lab.Waiting(func() { _, err = r.proc.Wait(ctx) })
	return err == nil
}

// listedVersions puts versions into words.
func listedVersions(list []uint32) string {
	if len(list) == 0 {
		return "none"
	}
	var out []string
	for i, v := range list {
		if i == 12 {
			out = append(out, fmt.Sprintf("… (%d in all)", len(list)))
			break
		}
		out = append(out, strconv.FormatUint(uint64(v), 10))
	}
	return strings.Join(out, ", ")
}
