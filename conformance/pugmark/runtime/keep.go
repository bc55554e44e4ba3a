package runtime

import (
	"bytes"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/harness/artifacts"
	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/harness/probe"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// keep writes what the scenario left behind: docs/artifacts.md describes the files.
func (x *Lab) keep(f *artifacts.Folder) {
	x.keepBuckets(f)
	x.keepRequests(f)
	x.keepRuns(f)
	for _, inv := range x.invocations() {
		inv.keep(f)
	}
	artifacts.Lines(f, "invocations.ndjson", x.keptInvocations(f))
}

// keptObject is a line of seed.ndjson, bucket.ndjson or landed.ndjson.
type keptObject struct {
	AtMS   *float64 `json:"at_ms,omitempty"` // landed.ndjson: when the suite did it
	Bucket string   `json:"bucket"`
	Key    string   `json:"key"`
	Gone   bool     `json:"deleted,omitempty"`
	File   string   `json:"file,omitempty"` // with the body; "" = it is empty
	Size   int      `json:"size"`
	SHA256 string   `json:"sha256"`

	ContentType        string            `json:"content_type,omitempty"`
	ContentEncoding    string            `json:"content_encoding,omitempty"`
	CacheControl       string            `json:"cache_control,omitempty"`
	ContentLanguage    string            `json:"content_language,omitempty"`
	ContentDisposition string            `json:"content_disposition,omitempty"`
	Expires            string            `json:"expires,omitempty"`
	Metadata           map[string]string `json:"metadata,omitempty"`
}

func kept(bucket, key string, o fakes3.Object) keptObject {
	return keptObject{
		Bucket: bucket, Key: key, Size: len(o.Body), SHA256: artifacts.Digest(o.Body),
		ContentType: o.ContentType, ContentEncoding: o.ContentEncoding, CacheControl: o.CacheControl,
		ContentLanguage: o.ContentLanguage, ContentDisposition: o.ContentDisposition, Expires: o.Expires, Metadata: o.Metadata,
	}
}

// address is where an object lies.
type address struct{ bucket, key string }

// keepBuckets writes the buckets as they were when the subject was started first, what
// the suite itself changed from then on, and the buckets at the end.
func (x *Lab) keepBuckets(f *artifacts.Folder) {
	seed := map[address]fakes3.Object{}
	var landed []keptObject
	for _, c := range x.S3.Changes() {
		at := address{c.Bucket, c.Key}
		switch {
		case !x.isSeed(c):
			o := kept(c.Bucket, c.Key, c.Object())
			ms := f.MS(c.At)
			o.AtMS, o.Gone, o.File = &ms, c.Deleted, f.Body(c.Object().Body)
			landed = append(landed, o)
		case c.Deleted:
			delete(seed, at)
		default:
			seed[at] = c.Object()
		}
	}
	end := map[address]fakes3.Object{}
	for _, bucket := range x.S3.Buckets() {
		for _, key := range x.S3.Keys(bucket, "") {
			if o, ok := x.S3.Get(bucket, key); ok {
				end[address{bucket, key}] = o
			}
		}
	}
	keepBucket(f, "seed", seed)
	keepBucket(f, "bucket", end)
	artifacts.Lines(f, "landed.ndjson", landed)
}

// keepBucket writes the objects below the root as files at their keys, as plain bodies,
// and all objects with their headers into a list beside them.
func keepBucket(f *artifacts.Folder, name string, objects map[address]fakes3.Object) {
	var list []keptObject
	for _, at := range slices.SortedFunc(maps.Keys(objects), func(a, b address) int {
		return strings.Compare(a.bucket+"/"+a.key, b.bucket+"/"+b.key)
	}) {
		o := objects[at]
		line := kept(at.bucket, at.key, o)
		key, below := strings.CutPrefix(at.key, bucketRoot)
		if line.File = name + "/" + key; at.bucket != bucketName || !below || !f.Place(line.File, o.Body) {
			line.File = f.Body(o.Body)
		}
		list = append(list, line)
	}
	artifacts.Lines(f, name+".ndjson", list)
}

// keptRequest is a line of requests.ndjson.
type keptRequest struct {
	N      int         `json:"n"`
	Op     string      `json:"op"`
	Method string      `json:"method"`
	Bucket string      `json:"bucket"`
	Key    string      `json:"key,omitempty"`
	Query  string      `json:"query,omitempty"`
	Header http.Header `json:"header"`
	Body   string      `json:"body,omitempty"` // file
	Size   int         `json:"size"`

	ArrivedMS  float64  `json:"arrived_ms"`
	AppliedMS  *float64 `json:"applied_ms,omitempty"` // when it took effect
	AnsweredMS *float64 `json:"answered_ms,omitempty"`
	Applied    bool     `json:"applied"`
	Status     int      `json:"status"`
	Error      string   `json:"error,omitempty"`
	Fate       string   `json:"fate,omitempty"` // what the suite did to it
}

func (x *Lab) keepRequests(f *artifacts.Folder) {
	var lines []keptRequest
	for _, r := range x.S3.Requests() {
		k := keptRequest{
			N: r.N, Op: string(r.Op), Method: r.Method, Bucket: r.Bucket, Key: r.Key, Query: r.RawQuery, Header: withoutSignature(r.Header),
			Body: f.Body(r.Body), Size: len(r.Body), ArrivedMS: f.MS(r.Arrived), Applied: r.Took == fakes3.Applied,
			Status: r.Status, Error: r.ErrorCode, Fate: r.Fate,
		}
		if ms := f.MS(r.Applied); !r.Applied.IsZero() {
			k.AppliedMS = &ms
		}
		if ms := f.MS(r.Answered); !r.Answered.IsZero() {
			k.AnsweredMS = &ms
		}
		lines = append(lines, k)
	}
	artifacts.Lines(f, "requests.ndjson", lines)
}

// withoutSignature is the header without what a subject may have signed with keys of
// its own.
func withoutSignature(h http.Header) http.Header {
	out := h.Clone()
	if a := out.Get("Authorization"); a != "" {
		before, _, _ := strings.Cut(a, "Signature=")
		out.Set("Authorization", before+"Signature=…")
	}
	out.Del("X-Amz-Security-Token")
	return out
}

// keptRun is a line of runs.ndjson.
type keptRun struct {
	Run       int               `json:"run"`
	Command   []string          `json:"command"`
	Env       map[string]string `json:"environment"` // what the suite added
	StartedMS float64           `json:"started_ms"`
	EndedMS   *float64          `json:"ended_ms,omitempty"`
	Exit      string            `json:"exit,omitempty"`
	Left      []string          `json:"left_running,omitempty"`
	Stdout    string            `json:"stdout,omitempty"` // file
	Stderr    string            `json:"stderr,omitempty"` // file
}

func (x *Lab) keepRuns(f *artifacts.Folder) {
	var lines []keptRun
	var said, environment bytes.Buffer
	for i, r := range x.runs {
		n := i + 1
		k := keptRun{Run: n, Command: r.argv, Env: r.env, StartedMS: f.MS(r.began), Left: r.strays}
		if !r.Alive() {
			exit := r.proc.Exit()
			ms := f.MS(r.began.Add(exit.Duration))
			k.EndedMS, k.Exit = &ms, exit.String()
		}
		if s := r.proc.Stdout(); s.Total > 0 {
			k.Stdout = fmt.Sprintf("streams/run-%d.stdout", n)
			f.Put(k.Stdout, []byte(s.String()))
		}
		s := r.proc.Stderr()
		if s.Total > 0 {
			k.Stderr = fmt.Sprintf("streams/run-%d.stderr", n)
			f.Put(k.Stderr, []byte(s.String()))
		}
		fmt.Fprintf(&said, "# run %d: %s\n%s\n", n, profile.Quote(r.argv), s)
		fmt.Fprintf(&environment, "# run %d\n%s", n, subject.Variables(r.env))
		lines = append(lines, k)
	}
	artifacts.Lines(f, "runs.ndjson", lines)
	f.Put("stderr", said.Bytes())
	f.Put("environment", environment.Bytes())
}

// keptInvocation is a line of invocations.ndjson.
type keptInvocation struct {
	Invocation  int       `json:"invocation"`
	Transport   string    `json:"transport"`
	Handler     string    `json:"handler"` // the name that the suite gave it
	Arguments   []string  `json:"arguments,omitempty"`
	Environment []string  `json:"environment,omitempty"` // of that, what is the runtime's to set
	BeganMS     float64   `json:"began_ms"`
	EndedMS     *float64  `json:"ended_ms,omitempty"`
	Input       []keptGot `json:"input"` // as it came
	InputEnd    *float64  `json:"input_ended_ms,omitempty"`
	Acts        []keptAct `json:"acts"` // of the handler, in order
}

type keptGot struct {
	AtMS float64 `json:"at_ms"`
	Size int     `json:"size"`
}

type keptAct struct {
	AtMS float64 `json:"at_ms"`
	Act  string  `json:"act"`
	Body string  `json:"body,omitempty"` // file: what a fetch was answered
}

func (i *Invocation) file(what string) string {
	return fmt.Sprintf("streams/invocation-%d.%s", i.N, what)
}

// keep writes the streams of one invocation.
func (i *Invocation) keep(f *artifacts.Folder) {
	f.Put(i.file("input"), i.Input())
	var out, errs []byte
	for _, a := range i.Acts() {
		switch a.Kind {
		case probe.ActWrite:
			out = append(out, a.Bytes...)
		case probe.ActWriteStderr:
			errs = append(errs, a.Bytes...)
		}
	}
	f.Put(i.file("output"), out)
	if len(errs) > 0 {
		f.Put(i.file("stderr"), errs)
	}
	if i.Request != nil {
		f.Put(i.file("head"), i.Request.Head)
	}
}

func (x *Lab) keptInvocations(f *artifacts.Folder) []keptInvocation {
	var lines []keptInvocation
	for _, i := range x.invocations() {
		k := keptInvocation{
			Invocation: i.N, Transport: i.Transport.String(), Handler: i.Label, Arguments: i.Args, Environment: i.environment(),
			BeganMS: f.MS(i.Arrived), Input: []keptGot{}, Acts: []keptAct{},
		}
		if at, ok := i.Ended(); ok {
			ms := f.MS(at)
			k.EndedMS = &ms
		}
		if at, ok := i.InputEnded(); ok {
			ms := f.MS(at)
			k.InputEnd = &ms
		}
		for _, c := range i.Chunks() {
			k.Input = append(k.Input, keptGot{f.MS(c.At), len(c.Bytes)})
		}
		for _, a := range i.Acts() {
			act := keptAct{AtMS: f.MS(a.At), Act: a.String()}
			if a.Result != nil {
				act.Body = f.Body(a.Result.Body)
			}
			k.Acts = append(k.Acts, act)
		}
		lines = append(lines, k)
	}
	return lines
}
