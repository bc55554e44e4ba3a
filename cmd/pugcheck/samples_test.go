package main

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sampleHandler is one of the handlers in fixtures/pugmark/handlers, as a user runs it.
type sampleHandler struct {
	name  string
	needs [][]string // commands that have to succeed on this machine
	rpc   bool
	// command makes what has to be made and returns the handler's command line or URL. dir is the directory of the samples.
	command func(t *testing.T, dir string) []string
}

var sampleHandlers = []sampleHandler{
	{name: "python", needs: [][]string{{"python3", "--version"}}, command: interpreted("python3", "agent.py")},
	{name: "python-url", needs: [][]string{{"python3", "--version"}}, command: servedSample},
	{name: "python-rpc", needs: [][]string{{"python3", "--version"}}, rpc: true, command: interpreted("python3", "server.py")},
	{name: "node", needs: [][]string{{"node", "--version"}}, command: interpreted("node", "agent.mjs")},
	{name: "bash", needs: [][]string{{"bash", "--version"}, {"jq", "--version"}, {"curl", "--version"}, {"gzip", "--version"}}, command: interpreted("bash", "agent.sh")},
	{name: "go", needs: [][]string{{"go", "version"}}, command: compiled("go", "build", "-o", "OUT", "./go")},
	{name: "c", needs: [][]string{{"gcc", "--version"}, {"gzip", "--version"}}, command: compiled("gcc", "-std=c99", "-O2", "-Wall", "-Wextra", "-Werror", "-o", "OUT", "agent.c")},
}

func interpreted(interpreter, file string) func(*testing.T, string) []string {
	return func(_ *testing.T, dir string) []string { return []string{interpreter, filepath.Join(dir, file)} }
}

// compiled runs a compiler in the directory of the samples; OUT stands for the program that it makes.
func compiled(compiler ...string) func(*testing.T, string) []string {
	return func(t *testing.T, dir string) []string {
		program := filepath.Join(t.TempDir(), "agent")
		args := append([]string{}, compiler...)
		for i := range args {
			args[i] = strings.ReplaceAll(args[i], "OUT", program)
		}
		build := exec.CommandContext(within(t), args[0], args[1:]...)
		build.Dir = dir
		if out, err := build.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", strings.Join(args, " "), err, out)
		}
		return []string{program}
	}
}

// servedSample starts the HTTP service on a free port, and ends it with the test.
func servedSample(t *testing.T, dir string) []string {
	service := exec.Command("python3", filepath.Join(dir, "server.py"), "127.0.0.1:0")
	stderr, err := service.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = service.Process.Kill()
		_ = service.Wait()
	})
	line, err := bufio.NewReader(stderr).ReadString('\n')
	url, ok := strings.CutPrefix(strings.TrimSpace(line), "serving ")
	if err != nil || !ok {
		t.Fatalf("the service says %q: %v", line, err)
	}
	return []string{url}
}

// ready skips the test where the sample cannot run, and returns its command line or URL.
func (s sampleHandler) ready(t *testing.T) []string {
	for _, command := range s.needs {
		if err := exec.Command(command[0], command[1:]...).Run(); err != nil {
			t.Skipf("the sample %s needs %s: %v", s.name, command[0], err)
		}
	}
	dir, err := filepath.Abs("../../fixtures/pugmark/handlers")
	if err != nil {
		t.Fatal(err)
	}
	return s.command(t, dir)
}

// notebook is a bucket that a sample works on.
type notebook struct {
	t       *testing.T
	bucket  string
	handler []string // what follows the session in a command line of run
}

const (
	bookSession  = "00073ea700abcdef0123456789abcdef"
	otherSession = "00073ea700abcdef0123456789abcde0"
)

// pugcheck runs one command of the reference and returns what it prints.
func (n notebook) pugcheck(stdin []byte, args ...string) string {
	n.t.Helper()
	args = append([]string{"reference", args[0], "--bucket", n.bucket}, args[1:]...)
	command := exec.CommandContext(within(n.t), "pugcheck", args...)
	command.Env = append(os.Environ(), "GORACE=atexit_sleep_ms=0")
	command.Stdin = bytes.NewReader(stdin)
	var stderr strings.Builder
	command.Stderr = &stderr
	out, err := command.Output()
	if err != nil || stderr.Len() > 0 {
		n.t.Fatalf("pugcheck %s: %v\n%s", strings.Join(args, " "), err, stderr.String())
	}
	return string(out)
}

func (n notebook) run(session string) {
	n.t.Helper()
	n.pugcheck(nil, append([]string{"run", "--session", session}, n.handler...)...)
}

// arrive pushes a note and makes the invocation that it brings about.
func (n notebook) arrive(note string, flags ...string) {
	n.t.Helper()
	n.pugcheck([]byte(note), append(append([]string{"push", "--session", bookSession, "--type", "provisional"}, flags...), "-")...)
	n.run(bookSession)
}

// noted is an entry of a log, as far as two samples have to agree on it.
type noted struct {
	Name        string            `json:"name"`
	ContentType string            `json:"content-type"`
	Metadata    map[string]string `json:"metadata"`
	Fork        bool              `json:"fork"`
	Target      string            `json:"target-session"`
	Source      string            `json:"source-session"`
	Digest      string            `json:"digest"` // of a control message: its status and reason
}

const controlType = "application/vnd.pugmark.control+json"

// log reads the log of a session.
func (n notebook) log(session string) []noted {
	n.t.Helper()
	var entries []noted
	lines := json.NewDecoder(strings.NewReader(n.pugcheck(nil, "log", "--session", session)))
	for lines.More() {
		var e struct {
			noted
			Data []byte `json:"data"`
		}
		if err := lines.Decode(&e); err != nil {
			n.t.Fatal(err)
		}
		if e.ContentType == controlType {
			var control struct {
				Status, Reason string
				StartAt        string `json:"start-at"`
			}
			if err := json.Unmarshal(e.Data, &control); err != nil {
				n.t.Fatal(err)
			}
			e.Digest = fmt.Sprintf("%s: %s", control.Status, control.Reason)
			if control.StartAt != "" {
				e.Digest += " until a time"
			}
		}
		entries = append(entries, e.noted)
	}
	return entries
}

// body sets an entry's body.
func (e noted) body(text string) noted {
	e.Digest = fmt.Sprintf("sha256:%x", sha256.Sum256([]byte(text)))
	return e
}

func answer(text string, metadata map[string]string) noted {
	return noted{Name: "answer", ContentType: "text/plain", Metadata: metadata}.body(text)
}

// TestSamples: every sample that can run here works with the reference, and all leave the same log behind.
func TestSamples(t *testing.T) {
	for _, sample := range sampleHandlers {
		t.Run(sample.name, func(t *testing.T) {
			t.Parallel()
			n := notebook{t: t, bucket: t.TempDir()}
			n.handler = append([]string{"--"}, sample.ready(t)...)
			if sample.rpc {
				n.handler = append([]string{"--rpc"}, n.handler...)
			}
			n.pugcheck(nil, "create", "--session", bookSession, "--agent", "a7", "--metadata", "mark=No.")
			n.pugcheck(nil, "create", "--session", otherSession)

			n.run(bookSession) // an empty session
			n.arrive("hello \xff", "--name", "ü😀")
			long := strings.Repeat("a long note that is fetched; ", 5000)
			n.arrive(long)
			encoded, plain := gzipped(t)
			n.tellBook(encoded)
			n.run(bookSession)
			n.arrive("fork: climb")
			n.run(bookSession) // makes the child
			child := n.child()
			n.run(child)
			n.arrive("tell " + strings.ToUpper(otherSession) + ": psst")
			n.run(otherSession)
			n.arrive("sleep 0.1s\n")
			n.run(bookSession) // waits, and finds nothing new

			waiting := noted{ContentType: controlType, Digest: "stopped: waiting for a note"}
			sleeping := noted{ContentType: controlType, Digest: "stopped: sleeping until a time"}
			agent := map[string]string{"agent": "a7"}
			before := []noted{
				waiting,
				noted{Name: "ü😀"}.body("hello \xff"), answer("No.1 hello \xff", map[string]string{"agent": "a7", "about": "ü😀"}), waiting,
				noted{}.body(long), answer("No.2 "+long, agent), waiting,
				noted{Source: otherSession}.body(string(encoded)), answer("No.3 "+plain, agent), waiting,
				noted{}.body("fork: climb"),
			}
			want := append(append([]noted{}, before...),
				noted{ContentType: "text/plain", Fork: true, Target: child}.body("climb"), waiting,
				noted{}.body("tell "+strings.ToUpper(otherSession)+": psst"),
				noted{ContentType: "text/plain", Target: otherSession, Metadata: map[string]string{"from": bookSession}}.body("psst"), waiting,
				noted{}.body("sleep 0.1s\n"), sleeping, waiting)
			if diff := cmp.Diff(want, n.log(bookSession)); diff != "" {
				t.Errorf("the log (-want +got):\n%s", diff)
			}
			// The child knows what its parent knows, and numbers on by the memory that both share.
			want = append(append([]noted{}, before...), waiting, noted{ContentType: "text/plain"}.body("climb"), answer("#4 climb", agent), waiting)
			if diff := cmp.Diff(want, n.log(child)); diff != "" {
				t.Errorf("the child's log (-want +got):\n%s", diff)
			}
			want = []noted{
				noted{ContentType: "text/plain", Source: bookSession, Metadata: map[string]string{"from": bookSession}}.body("psst"),
				answer("#5 psst", nil), waiting,
			}
			if log := n.log(otherSession); len(log) < 3 {
				t.Errorf("the other session's log: %v", log)
			} else if diff := cmp.Diff(want, log[len(log)-3:]); diff != "" {
				t.Errorf("the other session's log (-want +got):\n%s", diff)
			}
		})
	}
}

// TestSamplesFail: a body that the object server does not give ends a sample with status 1, a message, and no Output.
func TestSamplesFail(t *testing.T) {
	input := `{"event":"memory","url":"http://127.0.0.1:9/memories/"}{"event":"push","url":"http://127.0.0.1:9/sha256:00"}{"event":"wake"}`
	for _, sample := range sampleHandlers {
		t.Run(sample.name, func(t *testing.T) {
			t.Parallel()
			command := sample.ready(t)
			if sample.rpc || strings.HasPrefix(command[0], "http:") {
				t.Skip("judged in the other transport")
			}
			handler := exec.CommandContext(within(t), command[0], command[1:]...)
			// The input stays open, so that nobody waits for its end.
			stdin, err := handler.StdinPipe()
			if err != nil {
				t.Fatal(err)
			}
			defer stdin.Close()
			var stdout, stderr strings.Builder
			handler.Stdout, handler.Stderr = &stdout, &stderr
			if err := handler.Start(); err != nil {
				t.Fatal(err)
			}
			if _, err := stdin.Write([]byte(input)); err != nil {
				t.Fatal(err)
			}
			_ = handler.Wait() // the status is looked at below
			if handler.ProcessState.ExitCode() != 1 || stdout.Len() > 0 || !strings.Contains(stderr.String(), "127.0.0.1:9/sha256:00") {
				t.Errorf("%v, stdout %q, stderr %q", handler.ProcessState, stdout.String(), stderr.String())
			}
		})
	}
}

// gzipped is a body that stays long enough in gzip to be fetched, and what it says.
func gzipped(t *testing.T) (encoded []byte, plain string) {
	for i := range 200 {
		plain += fmt.Sprintf("%x", sha256.Sum256([]byte{byte(i)}))
	}
	var buffer bytes.Buffer
	w := gzip.NewWriter(&buffer)
	if _, err := w.Write([]byte(plain)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buffer.Bytes(), plain
}

// tellBook has the other session write a gzip body into the notebook's.
func (n notebook) tellBook(encoded []byte) {
	n.t.Helper()
	file := filepath.Join(n.t.TempDir(), "output.json")
	record := fmt.Sprintf(`{"data":%q,"content-encoding":"gzip","session":%q}`, base64.StdEncoding.EncodeToString(encoded), bookSession)
	if err := os.WriteFile(file, []byte(record), 0o666); err != nil {
		n.t.Fatal(err)
	}
	n.pugcheck(nil, "run", "--session", otherSession, "--", "sh", "-c", "cat >/dev/null; cat "+file)
}

// child is the one session that has a parent.
func (n notebook) child() string {
	n.t.Helper()
	nodes := json.NewDecoder(strings.NewReader(n.pugcheck(nil, "tree", "--json")))
	for nodes.More() {
		var node struct {
			Session string
			Depth   int
		}
		if err := nodes.Decode(&node); err != nil {
			n.t.Fatal(err)
		}
		if node.Depth > 0 {
			return node.Session
		}
	}
	n.t.Fatal("no child was made")
	return ""
}
