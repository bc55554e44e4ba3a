// Package profile says how an implementation is met: the command lines that
// start it, the environment it gets, the capabilities it lacks, and the names
// and values that the suite had to assume because the specification does not
// give them. The defaults are the contract of docs/contract.md; a file
// (pugcheck.yaml) overrides any part of it, so that no program has to change to
// be judged.
//
// Guarantees: a loaded profile has no unknown key, capability or placeholder;
// every mistake in the file is reported with file and line. Runtime survives a
// round trip through JSON, since workers receive it that way.
package profile

import (
	"maps"
	"slices"
	"strings"
	"time"
)

// DefaultFile is read from the working directory when no other file is named.
const DefaultFile = "pugcheck.yaml"

// Profile is a profile file, or the defaults where there is none.
type Profile struct {
	File         string // path it was read from; empty = defaults
	Requirements string // name of the requirement set to judge by; empty = everything, unless a flag says otherwise
	Runtime      Runtime
	Handler      Handler
	KnownFailing KnownFailing
}

// KnownFailing are the lists of known failures, relative to the working directory;
// empty = none.
type KnownFailing struct{ Runtime, Handler string }

// Handler is how a handler is met, and on what it is judged beside the built-in logs.
type Handler struct {
	Command  []string          // program and arguments; empty where URL is set
	URL      string            // of a handler that is reached by HTTP
	RPC      bool              // Command hosts an HTTP service
	Logs     []NamedFile       // in the order of the file
	Memory   string            // directory that the memory server serves
	Metadata map[string]string // of the session
	Agent    string            // ID of the agent
	Timeout  time.Duration     // for one invocation; 0 = the suite's default
}

// NamedFile is a file under a name. Path is relative to the working directory.
type NamedFile struct{ Name, Path string }

// Runtime is how a runtime is started and what it is assumed to do.
type Runtime struct {
	Command    []string          `json:"command,omitempty"` // program and leading arguments: the value of {runtime}
	Run        Template          `json:"run"`
	RPC        Template          `json:"rpc"`
	Create     Template          `json:"create"`
	Rename     Template          `json:"rename"`
	Push       Template          `json:"push"`
	Delete     Template          `json:"delete"`
	Lookup     Template          `json:"lookup"`
	Log        Template          `json:"log"`
	HandlerArg Template          `json:"handler_arg"` // shape of one element of {handlers}
	Env        map[string]string `json:"env"`         // values are templates of single words
	Without    []string          `json:"without"`     // capabilities the runtime lacks
	Timeout    time.Duration     `json:"timeout"`     // how long the runtime may take for one step
	Assumed    Assumed           `json:"assumed"`
}

// Assumed holds the names and values that the specification leaves out. Each
// is a reading marked "assumed": another value here changes what is expected,
// and a violation is a warning at most.
type Assumed struct {
	Query       Query       `json:"query"`
	Environment Environment `json:"environment"`
	Cache       Cache       `json:"cache_control"`
}

// Query names the parameters of an HTTP invocation.
type Query struct {
	Agent   string `json:"agent"`
	Session string `json:"session"`
	Version string `json:"version"`
}

// Environment names the variables that the text does not name itself.
type Environment struct {
	SnapshotVersion string `json:"snapshot_version"`
	RPCAddress      string `json:"rpc_address"`
	RPCPort         string `json:"rpc_port"`
}

// Cache is the Cache-Control value for each class of object that the text is
// silent about.
type Cache struct {
	Snapshots string `json:"snapshots"`
	Memory    string `json:"memory"`
	Manifests string `json:"manifests"`
}

// Capabilities are the optional abilities of a runtime, in the order in which
// the contract lists them.
var Capabilities = []string{"http", "rpc", "create", "names", "push", "delete", "lookup", "log"}

// IsCapability tells whether name is one of Capabilities.
func IsCapability(name string) bool { return slices.Contains(Capabilities, name) }

// Lacks tells whether the runtime was declared to lack the capability.
func (r Runtime) Lacks(capability string) bool { return slices.Contains(r.Without, capability) }

// DefaultTimeout is what a runtime gets for one step where nothing else is said.
const DefaultTimeout = 20 * time.Second

// Default is the contract as it stands without a profile file.
func Default() Runtime {
	return Runtime{
		Run:        words("{runtime} run --bucket {bucket} --session {session} {handlers} -- {handler}"),
		RPC:        words("{runtime} run --rpc --bucket {bucket} --session {session} {handlers} -- {handler}"),
		Create:     words("{runtime} create --bucket {bucket}", "--session {session}", "--agent {agent}", "--handler {handler_name}", "--metadata {metadata}", "--name {name}"),
		Rename:     words("{runtime} rename --bucket {bucket} --from {from} --to {to}"),
		Push:       append(words("{runtime} push --bucket {bucket} --session {session} --type {type}", "--name {name}", "--content-type {content_type}"), Item{Word: "{files}"}),
		Delete:     words("{runtime} delete --bucket {bucket} --session {session} --name {name}"),
		Lookup:     words("{runtime} lookup --bucket {bucket} --session {session} --name {name}"),
		Log:        words("{runtime} log --bucket {bucket} --session {session}", "--version {version}"),
		HandlerArg: words("--handler {name}={command}"),
		Env:        map[string]string{},
		Without:    []string{},
		Timeout:    DefaultTimeout,
		Assumed: Assumed{
			Query:       Query{Agent: "agent", Session: "session", Version: "version"},
			Environment: Environment{SnapshotVersion: "PUGMARK_SNAPSHOT_VERSION", RPCAddress: "PUGMARK_RPC_ADDRESS", RPCPort: "PORT"},
			Cache: Cache{
				Snapshots: "max-age=31536000, immutable",
				Memory:    "max-age=31536000, immutable",
				Manifests: "max-age=31536000, immutable",
			},
		},
	}
}

// words makes a template of the fields of line, followed by one optional group
// per further argument.
func words(line string, groups ...string) Template {
	var t Template
	for _, w := range strings.Fields(line) {
		t = append(t, Item{Word: w})
	}
	for _, g := range groups {
		t = append(t, Item{Group: strings.Fields(g)})
	}
	return t
}

// Expand makes the argument vector of one command of this runtime; the runtime's
// own program and handler shape complete the values.
func (r Runtime) Expand(t Template, v Values) ([]string, error) {
	v.Runtime, v.HandlerArg = r.Command, r.HandlerArg
	return Expand(t, v)
}

// Environment is what is added to the subject's environment: access to the S3
// server by the standard variables, then the profile's own, expanded.
func (r Runtime) Environment(v Values) (map[string]string, error) {
	env := map[string]string{
		"AWS_ENDPOINT_URL":      v.Endpoint,
		"AWS_REGION":            v.Region,
		"AWS_ACCESS_KEY_ID":     v.AccessKey,
		"AWS_SECRET_ACCESS_KEY": v.SecretKey,
	}
	v.Runtime, v.HandlerArg = r.Command, r.HandlerArg
	for _, name := range slices.Sorted(maps.Keys(r.Env)) {
		word, err := expandWord(r.Env[name], v)
		if err != nil {
			return nil, err
		}
		env[name] = word
	}
	return env, nil
}

// NeedsCommand tells whether a run is made with {runtime}, so that a program has
// to be known. A profile whose templates name the program themselves has no use
// for one.
func (r Runtime) NeedsCommand() bool { return r.Run.uses("runtime") }

// Program is the first word of a run: what has to exist and be executable.
// It is empty when that word is a placeholder that only a scenario can fill.
func (r Runtime) Program() string {
	if len(r.Run) == 0 {
		return ""
	}
	if r.Run[0].Word == "{runtime}" {
		if len(r.Command) == 0 {
			return ""
		}
		return r.Command[0]
	}
	if r.Run[0].Group != nil || len(placeholders(r.Run[0].Word)) > 0 {
		return ""
	}
	return r.Run[0].Word
}

// RunCommand is the argument vector of one run.
func (r Runtime) RunCommand(v Values) ([]string, error) { return r.Expand(r.Run, v) }

// ForCommand is the default profile for a program with its leading arguments.
func ForCommand(command []string) Runtime {
	r := Default()
	r.Command = command
	return r
}
