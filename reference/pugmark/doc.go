// Package pugmark is the reference runtime for pugmark sessions, told as the
// life of one invocation. The code is in the packages below this one.
//
// The guarantees first. A handler runs against one definite version of a session
// and sees all of it. What it produces becomes visible at once, by one conditional
// write, or not at all. Wherever a run is cut off, the next one completes what
// was promised. No lock is held at any time, and nothing is said about a bucket
// that its keys do not say.
//
// # The life of an invocation
//
//  1. What is there? [engine.Run] asks for the latest snapshot (a listing of one
//     key) and for the manifest, both at once. The version that it gets is the
//     version of this invocation, whatever lands later.
//
//  2. What does it hold? The last snapshots are fetched together, back to the
//     latest checkpoint and the latest control message; beside them come the
//     manifests of the parents, and the ref, if the session has a name. A
//     session that lost its name ends here.
//
//  3. What was left undone? Fork records since the latest checkpoint get their
//     child sessions, records for other sessions are delivered if they have not
//     been. Both find out for themselves whether there is anything to do.
//
//  4. Is an invocation due? A session whose last entry says that it is stopped is
//     left alone, or, if it sleeps, waited for and looked at anew. Any other gets
//     its lifecycle event: start, fork, wake, or none.
//
//  5. The handler is chosen by the manifest. Two services on loopback give it the
//     bodies of the log and of memory ([serve]), and a transport carries the
//     streams ([transport]): memory's address, the log with what is new in it
//     marked, and the lifecycle event. The log is read snapshot by snapshot, later
//     ones still being fetched while earlier ones are on their way; what step 2
//     has fetched is, as a rule, still in memory.
//
//  6. Outputs are read as they come ([stream]). Each is routed by the first rule
//     that fits, and its body is stored at once. Nothing else is written yet; a
//     session that is written to is meanwhile searched for earlier deliveries.
//     A record that breaks a rule fails the invocation.
//
//  7. The handler ends. If it did not succeed, nothing was committed. Otherwise,
//     as soon as all bodies are stored and the session is seen to have its name
//     still, one conditional write commits a checkpoint with everything for the
//     session's own log, and a control message at its end if the session stops or
//     no longer is stopped. Snapshots that others pushed meanwhile stay before it.
//     A checkpoint of another run in that place means that this one has lost: its
//     outputs are dropped, which is no failure.
//
//  8. What follows the commit: memory files, one conditional write per namespace,
//     and deliveries to other sessions, one snapshot for each. If objects landed
//     while the handler decided to stop, it is invoked once more.
//
// Beside the handler that makes four round trips that wait for one another: list,
// get, put bodies, put snapshot. Whoever wants to see them has spans made, all in
// the one trace that has the session's ID ([tracing]).
//
// # Where to read
//
//   - [layout]: session IDs, keys and version numbers, without any I/O.
//   - [store]: what is asked of an object store, with the stores that exist.
//   - [session]: manifests, snapshots, logs, commits, memory and names in a bucket.
//   - [stream]: the records between runtime and handler.
//   - [transport]: how a handler is reached.
//   - [serve]: where a handler gets bodies from.
//   - [engine]: what is due, what is shown, what is committed.
//   - [watch]: serving a bucket, session after session.
//   - [overview]: how the sessions of a bucket stand, for people.
//   - [tracing]: spans in the trace of the session.
//
// A rule of the specification is cited where it is kept, by the ID of its clause,
// such as S6.3-1. Where the text leaves something open, the ID of the reading
// or finding (F-1) stands there; docs/reference.md collects those choices,
// and pugcheck explain tells any ID in full.
//
// # Faulty runtimes
//
// Nothing here has a switch that makes it misbehave. Each package takes its
// surroundings through small interfaces: the store below a repository, the clock,
// the identifiers, the handler, the two services. A runtime with one defect is
// this one with one of them wrapped.
package pugmark

import (
	// For the links in the text above.
	_ "github.com/pugcheck/pugcheck/reference/pugmark/engine"
	_ "github.com/pugcheck/pugcheck/reference/pugmark/layout"
	_ "github.com/pugcheck/pugcheck/reference/pugmark/overview"
	_ "github.com/pugcheck/pugcheck/reference/pugmark/serve"
	_ "github.com/pugcheck/pugcheck/reference/pugmark/session"
	_ "github.com/pugcheck/pugcheck/reference/pugmark/store"
	_ "github.com/pugcheck/pugcheck/reference/pugmark/stream"
	_ "github.com/pugcheck/pugcheck/reference/pugmark/tracing"
	_ "github.com/pugcheck/pugcheck/reference/pugmark/transport"
	_ "github.com/pugcheck/pugcheck/reference/pugmark/watch"
)
