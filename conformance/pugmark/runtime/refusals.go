package runtime

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/pugcheck/pugcheck/conformance/pugmark/wire"
	"github.com/pugcheck/pugcheck/harness/fakes3"
	"github.com/pugcheck/pugcheck/harness/probe"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// A runtime that knows no forks, or no memory, may refuse the whole invocation that
// asks for one. That is held against the clauses which demand forks and memory, and
// stories of several kinds of Output go on with the other kinds.

// refusals are the kinds of Output that the subject was found to refuse: "" where it
// goes along. They are found out once for all scenarios of a process.
type refusals struct {
	mu    sync.Mutex
	found map[string]string
}

// refuses says how the runtime ended when its handler wrote an Output of the same
// kind beside an entry, "" unless it failed and committed nothing, although it
// commits an entry alone. It is tried on a bench aside, where nothing is judged.
func (x *Lab) refuses(kind string, out wire.OutputRecord) string {
	r := x.Config.refusals
	r.mu.Lock()
	defer r.mu.Unlock()
	key := kind + " " + string(x.Over)
	how, known := r.found[key]
	if !known {
		committed, exit := x.tried(out)
		if !committed && !exit.Success() {
			if alone, _ := x.tried(); alone {
				how = fmt.Sprintf("%s%s", exit.Exit, commit{exit: exit}.complaint())
			}
		}
		r.found[key] = how
	}
	return how
}

// tried runs a session aside whose handler writes an entry and then the Outputs, and
// tells whether it committed anything. It draws nothing from the scenario's random
// source, whose other draws would depend on who was the first to ask.
func (x *Lab) tried(outs ...wire.OutputRecord) (committed bool, exit Exit) {
	aside := &Lab{T: x.T, Ctx: x.Ctx, Config: x.Config, Over: x.Over, wrapped: map[*probe.Invocation]*Invocation{}, seeded: map[string]bool{}}
	var err error
	aside.S3, err = fakes3.Start()
	x.Must(err)
	defer aside.S3.Close()
	x.Must(aside.S3.CreateBucket(bucketName))
	aside.Hub, err = probe.NewHub()
	x.Must(err)
	defer aside.Hub.Close()
	aside.Bucket = wire.NewBucket(aside)
	aside.Bucket.OnError = x.Trouble
	s := aside.Session(wire.SessionSpec{ID: wire.NewSessionID(uint32(time.Now().Unix()/3600), [12]byte{0x0a, 0xa5, 11: 0x1c})})
	s.Commit(wire.Checkpoint, wire.Text("seed", "seed"))

	list := append([]wire.OutputRecord{{Name: "entry", Data: []byte("entry"), ContentType: "text/plain"}}, outs...)
	first := true
	aside.Hub.Auto(func(p *probe.Invocation) {
		if first {
			_ = p.Write([]byte(plainly(list...))) // whoever does not read it commits nothing
		}
		first = false
		_ = p.Exit(0)
	})
	run := aside.Run(s.ID)
	defer run.end()
	ctx, cancel := subject.Patience(x.Ctx, x.Config.Timeout)
	defer cancel()
	x.Waiting(func() { exit.Exit, err = run.proc.Wait(ctx) })
	exit.Stderr = run.proc.Stderr().String()
	_, committed = aside.Get(s.ID.SnapshotKey(2)) // whatever is in it is for others to judge
	return err == nil && committed, exit
}

// welcome leaves out the forks and memory objects that the runtime refuses.
func (x *Lab) welcome(outs ...wire.OutputRecord) []wire.OutputRecord {
	var out []wire.OutputRecord
	for _, o := range outs {
		switch {
		case strings.HasPrefix(o.Name, "memories/") && x.refuses("memory", memoryTrial) != "":
		case o.Fork && x.refuses("fork", forkTrial) != "":
		default:
			out = append(out, o)
		}
	}
	return out
}

var (
	forkTrial   = wire.OutputRecord{Name: "fork", Data: []byte("fork"), ContentType: "text/plain", Fork: true}
	memoryTrial = wire.OutputRecord{Name: "memories/trial/note", Data: []byte("note"), ContentType: "text/plain"}
)

// knowsForks ends a scenario about forks whose runtime refuses them, and holds that
// against the clauses.
func (x *Lab) knowsForks(clauses ...string) { x.accepts("fork", forkTrial, clauses) }

// knowsMemory does the same for memory objects.
func (x *Lab) knowsMemory(clauses ...string) { x.accepts("memory", memoryTrial, clauses) }

func (x *Lab) accepts(kind string, out wire.OutputRecord, clauses []string) {
	how := x.refuses(kind, out)
	if how == "" {
		return
	}
	for _, id := range clauses {
		x.Clause(id).Calldepth(2).Holds(false, "an invocation with a "+kind+" Output beside an entry succeeds",
			"an entry alone is committed; with the "+kind+" Output the run fails and commits nothing: "+how)
	}
	x.Stop("the runtime refuses %s Outputs: %s", kind, how)
}
