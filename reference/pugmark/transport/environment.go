package transport

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// Variables of the handler's environment. R-05. P17-9: one more than the text
// names, for the version.
const (
	envAgent       = "PUGMARK_AGENT_ID"
	envSession     = "PUGMARK_SESSION_ID"
	envMetadata    = "PUGMARK_SESSION_METADATA"
	envVersion     = "PUGMARK_SNAPSHOT_VERSION"
	envTraceParent = "TRACEPARENT"
	envTraceState  = "TRACESTATE"

	envRPCAddress = "PUGMARK_RPC_ADDRESS" // host:port
	envPort       = "PORT"
)

// environment is base with the identity in it. Values that this process
// inherited for itself are never passed on (P13-1, P14.1-2): among them the
// address that a runtime above told it, which would have a handler listen there
// (P13-5).
func environment(base []string, id Identity) []string {
	own := map[string]bool{envAgent: true, envSession: true, envMetadata: true, envVersion: true,
		envTraceParent: true, envTraceState: true, envRPCAddress: true}
	env := make([]string, 0, len(base)+len(own))
	for _, v := range base {
		if name, _, _ := strings.Cut(v, "="); !own[name] {
			env = append(env, v)
		}
	}
	env = append(env,
		envAgent+"="+id.Agent,
		envSession+"="+id.Session,
		envMetadata+"="+metadataJSON(id.Metadata),
		envVersion+"="+strconv.FormatUint(uint64(id.Version), 10),
		envTraceParent+"="+id.TraceParent)
	if id.TraceState != "" {
		env = append(env, envTraceState+"="+id.TraceState) // P14-2
	}
	return env
}

// serviceEnvironment is env with the address at which the process is to listen.
func serviceEnvironment(env []string, address string) []string {
	env = slices.DeleteFunc(env, func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return name == envRPCAddress || name == envPort
	})
	_, port, _ := strings.Cut(address, ":")
	return append(env, envRPCAddress+"="+address, envPort+"="+port)
}

// metadataJSON is a JSON object of strings (P13-3), {} where there is none.
func metadataJSON(metadata map[string]string) string {
	if len(metadata) == 0 {
		return "{}"
	}
	text, _ := json.Marshal(metadata) // a map of strings always encodes
	return string(text)
}
