package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/reference/pugmark/layout"
	"github.com/pugcheck/pugcheck/reference/pugmark/session"
	"github.com/pugcheck/pugcheck/reference/pugmark/store"
	"github.com/pugcheck/pugcheck/reference/pugmark/store/dir"
)

// killing is a directory bucket in which pairs of runs work on one session, and one of each pair is killed.
type killing struct {
	*testing.T
	root       string
	repo       *session.Repo
	id, target layout.SessionID
	rand       *rand.Rand
	usual      time.Duration // how long an undisturbed run takes

	mu        sync.Mutex
	committed map[string]bool // the outcome that a run or a push reported, by its name; absent where it did not get to that
}

// killableAgent appends an entry, forks a child, writes to the other session and remembers. The names say which run it was,
// and the metadata on what the handler ran.
const killableAgent = `cat >/dev/null
entry='"metadata":{"base":"'$PUGMARK_SNAPSHOT_VERSION'"},"data":"'$BODY'"}'
printf '{"name":"a%s",%s\n' $NAME "$entry"
printf '{"name":"x%s","session":"%s",%s\n' $NAME $TARGET "$entry"
printf '{"name":"f%s","fork":true,%s\n' $NAME "$entry"
printf '{"name":"memories/ns/%s",%s\n' $NAME "$entry"
`

// Two runs work on one session of a directory, and one of them is killed at any moment, over and over, while objects are
// pushed. Whatever was reported is there, nothing is there twice or half, and a fresh process can read it all.
func TestKilledRuns(t *testing.T) {
	t.Parallel()
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	k := &killing{T: t, root: t.TempDir(), rand: rand.New(rand.NewPCG(seed, 0)), committed: map[string]bool{}}
	bucket, err := dir.Open(k.root)
	if err != nil {
		t.Fatal(err)
	}
	k.repo = session.New(bucket, session.Options{})
	for _, id := range []*layout.SessionID{&k.id, &k.target} {
		m, err := k.repo.Create(t.Context(), session.Manifest{})
		if err != nil {
			t.Fatal(err)
		}
		*id = m.Session
	}

	started := time.Now()
	k.conclude(k.run("warm"))
	k.usual = time.Since(started)
	killed, rounds := 0, 0
	var victims []*process
	for ; time.Since(started) < 3*time.Second || killed < 5 && rounds < 200; rounds++ {
		name := fmt.Sprint(rounds)
		victim, other := k.run(name+"v"), k.run(name+"o")
		var push sync.WaitGroup
		if rounds%3 == 0 {
			push.Go(func() { k.push(name + "p") })
		}
		k.kill(victim)
		if k.conclude(victim) {
			killed++
		}
		k.conclude(other)
		push.Wait()
		victims = append(victims, victim)
	}
	k.finish()
	for _, v := range victims {
		v.wantNoStrays()
	}
	t.Logf("%d pairs, %d killed, %d outcomes reported", rounds, killed, len(k.committed))
	if killed == 0 {
		t.Error("no run was killed in time")
	}
	k.check()
}

// finish runs the session once more, undisturbed and with a handler that does nothing, for what a kill came before.
func (k *killing) finish() {
	k.Helper()
	last := startProcess(k.T, nil, "reference", "run", "--bucket", k.root, "--session", k.id.String(), "--", "true")
	if status, text := last.end(); status.ExitStatus() != 0 {
		k.Errorf("the last run: exit status %d: %s", status.ExitStatus(), text)
	}
}

// run starts a run whose handler makes names of this one.
func (k *killing) run(name string) *process {
	k.Helper()
	return startProcess(k.T, []string{"NAME=" + name, "TARGET=" + k.target.String(), "BODY=" + base64.StdEncoding.EncodeToString([]byte(name))},
		"reference", "run", "--bucket", k.root, "--session", k.id.String(), "--", "sh", "-c", killableAgent)
}

func (k *killing) push(name string) {
	d, err := k.repo.PutBlob(k.Context(), []byte(name), session.Media{})
	if err == nil {
		d.Name = "a" + name
		_, err = k.repo.Push(k.Context(), k.id, session.Provisional, d)
	}
	if err != nil {
		k.Errorf("push: %v", err)
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.committed[name] = true
}

// kill kills the run after a random time, or when it is seen to write.
func (k *killing) kill(victim *process) {
	k.Helper()
	wait := time.After(time.Duration(k.rand.Int64N(int64(k.usual * 3 / 2))))
	if k.rand.IntN(2) == 0 {
		wait = k.seenWriting(victim, 1+k.rand.IntN(6))
	}
	select {
	case <-wait:
	case <-victim.ended:
	}
	_ = victim.cmd.Process.Kill() // fails where it has ended already
}

// seenWriting ends when the directory of files that are being written has changed so many times.
func (k *killing) seenWriting(victim *process, changes int) <-chan time.Time {
	seen := make(chan time.Time)
	go func() {
		defer close(seen)
		before := ""
		for changes > 0 {
			select {
			case <-victim.ended:
				return
			case <-time.After(time.Millisecond):
			}
			entries, _ := os.ReadDir(filepath.Join(k.root, ".incoming"))
			now := fmt.Sprint(entries)
			if now != before {
				changes--
			}
			before = now
		}
	}()
	return seen
}

// conclude waits for a run, and notes what it reported. It tells whether the run was killed.
func (k *killing) conclude(p *process) bool {
	k.Helper()
	status, text := p.end()
	name := ""
	for _, v := range p.cmd.Env {
		if value, ok := strings.CutPrefix(v, "NAME="); ok {
			name = value
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	switch {
	case status.Signaled():
		return true
	case status.ExitStatus() != 0:
		k.Errorf("run %s: exit status %d: %s", name, status.ExitStatus(), text)
	default:
		k.committed[name] = !strings.Contains(text, "is discarded")
	}
	return false
}

// logged is a line of the log.
type logged struct {
	Name   string           `json:"name"`
	Number int64            `json:"sequence-number"`
	Target layout.SessionID `json:"target-session"`
}

// log reads a session's log in a fresh process, and gives how often each name is in it.
func (k *killing) log(id layout.SessionID) (lines []logged, count map[string]int) {
	k.Helper()
	out, err := exec.Command("pugcheck", "reference", "log", "--bucket", k.root, "--session", id.String()).Output()
	if err != nil {
		k.Fatal(err)
	}
	count = map[string]int{}
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		var line logged
		if err := d.Decode(&line); err == io.EOF {
			return lines, count
		} else if err != nil {
			k.Fatal(err)
		}
		lines = append(lines, line)
		count[line.Name]++
		if line.Number != int64(len(lines)) { // S7.3-8
			k.Errorf("session %s: entry %d has the number %d", id, len(lines), line.Number)
		}
		if count[line.Name] > 1 {
			k.Errorf("session %s: %s is there twice", id, line.Name)
		}
	}
}

func (k *killing) check() {
	k.Helper()
	lines, own := k.log(k.id)
	_, delivered := k.log(k.target)
	memory := k.memory()
	for name, committed := range k.committed {
		push := strings.HasSuffix(name, "p")
		if got := own["a"+name] == 1; got != committed {
			k.Errorf("%s reported that it committed: %v, and is in the log: %v", name, committed, got)
		}
		if !push && memory[name] != committed {
			k.Errorf("%s reported that it committed: %v, and is in memory: %v", name, committed, memory[name])
		}
	}
	for _, line := range lines {
		kind, name := line.Name[:1], line.Name[1:]
		switch {
		case kind != "a" && own["a"+name] != 1:
			k.Errorf("%s is not with the entry that came with it", line.Name)
		case kind == "x":
			if line.Target != k.target || delivered[line.Name] != 1 {
				k.Errorf("%s is %d times in the session that it was sent to", line.Name, delivered[line.Name])
			}
			delete(delivered, line.Name)
		case kind == "f":
			k.checkChild(line)
		}
	}
	for name := range delivered {
		k.Errorf("%s was delivered and never committed", name)
	}
	for name := range memory {
		if own["a"+name] == 0 {
			k.Errorf("%s is in memory and was never committed", name)
		}
	}
	k.checkCheckpoints()
	k.checkObjects()
}

// checkChild wants a fork to have its child, with its body as the first and only entry.
func (k *killing) checkChild(fork logged) {
	k.Helper()
	m, latest, err := k.repo.Open(k.Context(), fork.Target)
	if err != nil {
		k.Error(err)
		return
	}
	first, err := k.repo.LoadSnapshot(k.Context(), fork.Target, 1)
	if err != nil {
		k.Error(err)
		return
	}
	if d := first.Descriptors[0]; latest != 1 || m.Parent.Session != k.id || d.Name != fork.Name || d.SequenceNumber != m.FirstSequenceNumber {
		k.Errorf("the child of %s is %+v, version %d, and begins with %+v", fork.Name, m, latest, d)
	}
}

// memory gives the names in the namespace.
func (k *killing) memory() map[string]bool {
	k.Helper()
	version, err := k.repo.LatestMemory(k.Context(), "ns")
	if err != nil {
		k.Fatal(err)
	}
	f, err := k.repo.ReadMemory(k.Context(), "ns", version)
	if err != nil {
		k.Fatal(err)
	}
	names := map[string]bool{}
	for _, r := range f.Records {
		names[r.Name] = true
	}
	return names
}

// checkCheckpoints wants every run to have seen the commit of the run before it (S13.3-3).
func (k *killing) checkCheckpoints() {
	latest, err := k.repo.Latest(k.Context(), k.id)
	if err != nil {
		k.Fatal(err)
	}
	checkpoint := uint64(0)
	for s, err := range k.repo.Snapshots(k.Context(), k.id, 1, latest) {
		if err != nil {
			k.Fatal(err)
		}
		if !s.Type.IsCheckpoint() {
			continue
		}
		if base, err := strconv.ParseUint(s.Descriptors[0].Metadata["base"], 10, 32); err != nil || base < checkpoint {
			k.Errorf("version %d was run on version %d, and version %d is another run's: %v", s.Version, base, checkpoint, err)
		}
		checkpoint = uint64(s.Version)
	}
}

// checkObjects wants every blob to be whole, and every other object to have come whole as well.
func (k *killing) checkObjects() {
	bucket, err := dir.Open(k.root)
	if err != nil {
		k.Fatal(err)
	}
	for key, err := range store.Keys(k.Context(), bucket, "") {
		if err != nil {
			k.Fatal(err)
		}
		body, attrs, err := store.Get(k.Context(), bucket, key)
		if err != nil {
			k.Error(err)
		} else if digest, blob := strings.CutPrefix(key, "objects/"); blob && digest != fmt.Sprintf("sha256:%x", sha256.Sum256(body)) {
			k.Errorf("%s holds something else, of %d bytes", key, len(body))
		} else if attrs.ContentType == "" {
			k.Errorf("%s has lost its content type", key)
		}
	}
}

// What a killed run's handler still says goes nowhere. On Linux the handler dies with its run; what it has started in turn
// may live on, and ends when it wants to.
func TestKilledRunsHandler(t *testing.T) {
	t.Parallel()
	up := `: >"$` + markVariable + `"; `
	for name, handler := range map[string][]string{
		"process": {"--", "sh", "-c", up + "exec sleep 1000"},
		"service": {"--rpc", "--", "service"},
		"with a descendant": {"--", "sh", "-c", `cat >/dev/null; (i=0; until test -e "$` + markVariable + `.go" -o $i = 5000; do sleep 0.01; i=$((i+1)); done; echo '{"name":"late"}') & ` +
			up + "wait"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			root := t.TempDir()
			bucket, err := dir.Open(root)
			if err != nil {
				t.Fatal(err)
			}
			repo := session.New(bucket, session.Options{})
			m, err := repo.Create(t.Context(), session.Manifest{})
			if err != nil {
				t.Fatal(err)
			}
			run := []string{"reference", "run", "--bucket", root, "--session", m.Session.String()}
			p := startProcess(t, nil, append(run, handler...)...)
			p.awaitHandler()
			if err := p.cmd.Process.Kill(); err != nil {
				t.Fatal(err)
			}
			p.end()
			if err := os.WriteFile(p.mark()+".go", nil, 0o666); err != nil {
				t.Fatal(err)
			}
			startProcess(t, nil, append(run, "--", "sh", "-c", `cat >/dev/null; echo '{"name":"on time"}'`)...).wantExit(0)
			p.wantNoStrays()
			s, err := repo.LoadSnapshot(t.Context(), m.Session, 1)
			if err != nil || len(s.Descriptors) != 1 || s.Descriptors[0].Name != "on time" {
				t.Errorf("got %+v, %v", s, err)
			}
		})
	}
}
