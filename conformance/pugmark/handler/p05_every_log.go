package handler

import "strings"

// The rules for Outputs stand with the invariants; this is what they are tried on.

var _ = scenario("P5", "every-log", "each log once; everything that comes out is validated", "P5-1 P3-1 P3-3 P3-5 P3-6 P3-10 P3-12 P3-15 P3.2-2 P3.1-1 P3.1-2 P3.1-3 P5.1-9 S4.1-3 P7-16 P8.4-1 S8.3-1 P9-11 P10-1 P10-2 P10-3 P10-4 P10-18 P11-1 P17-2 P17-11 S3.2-1", func(x *Lab) {
	any := false
	has := map[string]bool{}
	for _, log := range x.Logs() {
		e := x.Control(log)
		if !e.Ended {
			x.Evidence("log "+log.Name, e.How())
			break
		}
		any = any || len(e.Outputs) > 0
		has["fetch"] = has["fetch"] || len(e.Fetches) > 0
		for _, o := range e.Records() {
			has["memory"] = has["memory"] || strings.HasPrefix(o.Name, "memories/")
			has["pause"] = has["pause"] || strings.Contains(o.ContentType, "pugmark.pause")
			_, sleeps := o.Metadata["duration"]
			has["sleep"] = has["sleep"] || sleeps
			has["fork"] = has["fork"] || o.Fork
			has["session"] = has["session"] || o.Session != ""
			has["uri"] = has["uri"] || o.URI != ""
			has["data"] = has["data"] || o.RawData != ""
		}
	}
	for _, missing := range []struct{ what, clauses, hint string }{
		{"memory", "P8.4-1 S8.3-1", hintWrites},
		{"pause", "P10-1 P10-2 P10-18 P17-11", hintPauses},
		{"sleep", "P10-3 P10-4", "the handler did not sleep on any log; give one on which it does (--log my-log.ndjson)"},
		{"fork", "P11-1", hintForks},
		{"session", "P5.1-9 S4.1-3", "no Output named a session; give a log on which the handler forks or writes to one (--log my-log.ndjson)"},
		{"uri", "S3.2-1", "no Output named a uri; give a log on which one does (--log my-log.ndjson)"},
		{"data", "P3.1-1 P3.1-2 P3.1-3", "no Output had data; give a log on which one does (--log my-log.ndjson)"},
		{"fetch", "P7-16", hintFetches},
	} {
		if !has[missing.what] {
			x.leave(missing.clauses, missing.hint)
		}
	}
	if !any {
		x.leave("P5-1 P3-1 P3-3 P3-5 P3-6 P3-10 P3-12 P3-15 P3.2-2 P9-11 P17-2", hintOutputs)
	}
	if has["data"] {
		x.leave("P3.1-2", "no data held + or /, the characters that tell the alphabets apart")
		x.leave("P3.1-3", "no Output had a body of more than 57 bytes")
	}
	if has["session"] {
		x.leave("S4.1-3", "no session held a letter, which would show its case")
	}
})

// leave records for each clause that nothing decided it, and why; what decides it
// after all outweighs that.
func (x *Lab) leave(clauses, why string) {
	for _, id := range strings.Fields(clauses) {
		x.Clause(id).NotExercised("%s", why)
	}
}
