package runtime

import (
	"maps"
	"net"
	"strings"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
)

// runHosted starts the runtime in RPC mode: the handler's process is to host the
// service that is called.
func (x *Lab) runHosted(id wire.SessionID, env ...string) *Run {
	spec := runSpec{env: map[string]string{}}
	WithEnv(env...)(&spec)
	v := x.values()
	v.Session, v.Handler = id.String(), x.command(hostLabel)
	r := x.start(x.Config.Profile.RPC, v, maps.Clone(spec.env))
	r.again = func() *Run { return x.runHosted(id, env...) }
	return r
}

// hostLabel is the label of processes that host a service.
const hostLabel = "service"

// hosts tells whether this is a process that hosts a service: its own input is no
// stream of records.
func (i *Invocation) hosts() bool { return i.Label == hostLabel && i.Request == nil }

var _ = scenario("P13", "service-in-a-process", "a process that hosts the handler's service begins to listen after a moment, where its environment says: the request arrives there, and its answer is committed",
	"P13-5 P2.2-2",
	func(x *Lab) {
		s := x.plainLog()
		var run *Run
		var host *Invocation
		var address, port string
		var taken error
		for range 3 {
			run = x.runHosted(s.ID, x.Config.Profile.Assumed.Environment.RPCAddress, inheritedAddress, x.Config.Profile.Assumed.Environment.RPCPort, "1")
			host = run.Next("P13-5")
			if !host.hosts() {
				x.Stop("instead of the process somebody called the hub")
			}
			address, port = x.placeToListen(host)
			x.pause(200 * time.Millisecond) // nothing says that a service listens at once
			if taken = x.Hub.ServeAt(address); taken == nil {
				break
			}
			run.Kill() // a port that was free may have gone to somebody else, which happens once but not always
		}
		x.Clause("P13-5").Assuming("R-05").Holds(taken == nil, "the place to listen at is free", "%s: %v", address, taken)
		if taken != nil {
			return
		}
		inv := run.Next("P2.2-2")
		if inv.Request == nil {
			x.Stop("the process was started a second time before its service was called")
		}
		got := inv.Request.Header.Get("Host")
		x.Clause("P2.2-2").Holds(strings.HasSuffix(got, ":"+port), "the request goes to where the service listens, "+address, "Host %q", got)
		out := x.unpadded("served")
		inv.Received()
		inv.Finish(out)
		x.Waiting(func() {
			select {
			case <-inv.Done():
			case <-x.Ctx.Done():
			}
		})
		_ = host.Exit(0) // so that nobody has to wait for it
		x.awaitCommit(run, s.ID.SnapshotKey(4))
		run.Kill() // when the process of the service is ended is not said
		x.Clause("P13-5").Assuming("R-05").Holds(x.holdsBody(out.Data), "what the service answers is taken", "the bucket holds it: %t; versions: %v%s", x.holdsBody(out.Data), x.Versions(s.ID), run.said())
	}, needing("rpc"))

// inheritedAddress stands in the runtime's own environment, where no service of
// its handlers is to listen.
const inheritedAddress = "127.0.0.1:1"

// placeToListen judges what a process that is to host a service is told, and gives
// the address as far as it can be told.
func (x *Lab) placeToListen(host *Invocation) (address, port string) {
	names := x.Config.Profile.Assumed.Environment
	address, named := host.Getenv(names.RPCAddress)
	port, ported := host.Getenv(names.RPCPort)
	_, ofAddress, err := net.SplitHostPort(address)
	x.Clause("P13-5").Assuming("R-05").Holds(named && err == nil && address != inheritedAddress, names.RPCAddress+" is host:port of the place to listen at, and not what the runtime inherited", "%q, set: %t", address, named)
	x.Clause("P13-5").Assuming("R-05").Holds(ported && port == ofAddress, names.RPCPort+" is the same port", "%q, set: %t; %s is %q", port, ported, names.RPCAddress, address)
	if !named || err != nil {
		return "127.0.0.1:" + port, port
	}
	return address, ofAddress
}
