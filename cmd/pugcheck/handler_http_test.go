package main

import (
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// judgeHandlerAt runs pugcheck handler, and gives its exit status and what it said.
func judgeHandlerAt(t *testing.T, args ...string) (status int, said string) {
	t.Helper()
	cmd := exec.CommandContext(within(t), "pugcheck", append([]string{"handler", "--seed", "5"}, args...)...)
	cmd.Env = append(os.Environ(), "NO_COLOR=1", "GORACE=atexit_sleep_ms=0")
	out, err := cmd.CombinedOutput()
	if exit := (*exec.ExitError)(nil); err != nil && !errors.As(err, &exit) {
		t.Fatalf("%v\n%s", err, out)
	}
	return cmd.ProcessState.ExitCode(), string(out)
}

// TestServedSampleIsJudged: a service that runs already is judged by its URL.
func TestServedSampleIsJudged(t *testing.T) {
	t.Parallel()
	if err := exec.Command("python3", "--version").Run(); err != nil {
		t.Skipf("the sample is for Python: %v", err)
	}
	samples, err := filepath.Abs("../../fixtures/pugmark/handlers")
	if err != nil {
		t.Fatal(err)
	}
	url := servedSample(t, samples)[0]
	status, said := judgeHandlerAt(t, "--timeout", patience.String(), "--log", filepath.Join(samples, "logs", "orders.ndjson"), url)
	for _, part := range []string{"handler: " + url, " 0 fail · 0 warn ", "and nothing found against it", "it is about handlers that are started as a process"} {
		if !strings.Contains(strings.Join(strings.Fields(said), " "), strings.TrimSpace(part)) {
			t.Errorf("want %q in:\n%s", part, said)
		}
	}
	if status != 0 {
		t.Errorf("exit status %d", status)
	}
}

// TestBadServices: whatever answers, the judgement ends, and says what came.
func TestBadServices(t *testing.T) {
	t.Parallel()
	answering := func(answer string) func(net.Conn) {
		return func(c net.Conn) { _, _ = io.WriteString(c, answer) }
	}
	for name, tc := range map[string]struct {
		serve func(net.Conn) // after the request has been read; the connection is closed behind it
		want  []string       // white space aside
	}{
		"garbage":         {answering("SSH-2.0-OpenSSH_9.9\r\n"), []string{"✗ P2-1", `no response that HTTP allows: malformed HTTP response "SSH-2.0-OpenSSH_9.9"`}},
		"redirect":        {answering("HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\nContent-Length: 0\r\n\r\n"), []string{"✗ P2.2-5", "status 302 after"}},
		"half of it":      {answering("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"data\":\"QQ=="), []string{"✗ P2.2-5", "status 200, and the response broke off after 13 bytes of its body"}},
		"nothing":         {answering(""), []string{"✗ P2-1", "the connection was closed without a response"}},
		"no end of head":  {func(c net.Conn) { endlessly(c, "X-Header: on and on\r\n", "HTTP/1.1 200 OK\r\n") }, []string{"✗ P2-1", "the head of the response is longer than 1048576 bytes"}},
		"no end of body":  {func(c net.Conn) { endlessly(c, "{\"data\":\"QQ==\"}\n", "HTTP/1.1 200 OK\r\n\r\n") }, []string{"✗ P2-1", "it wrote more than 16 MiB"}},
		"never an answer": {func(c net.Conn) { _, _ = io.Copy(io.Discard, c) }, []string{"✗ P2-1", "no response came"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			timeout := patience / 2 // far from what it takes, also where 16 MiB have to come
			if name == "never an answer" {
				timeout = time.Second
			}
			status, said := judgeHandlerAt(t, "--timeout", timeout.String(), "http://"+badService(t, tc.serve)+"/")
			for _, part := range append(tc.want, "did not get through the first scenario") {
				if !strings.Contains(strings.Join(strings.Fields(said), " "), part) {
					t.Errorf("want %q in:\n%s", part, said)
				}
			}
			if status != 1 {
				t.Errorf("exit status %d", status)
			}
		})
	}
}

// endlessly writes a beginning and then the same until nobody takes it any more.
func endlessly(c net.Conn, again, beginning string) {
	_, err := io.WriteString(c, beginning)
	for again = strings.Repeat(again, 1000); err == nil; {
		_, err = io.WriteString(c, again)
	}
}

// badService serves connections one way or another, and gives its address.
func badService(t *testing.T, serve func(net.Conn)) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer c.Close()
		serve(c)
	})}
	go server.Serve(listener)
	t.Cleanup(func() { _ = server.Close() })
	return listener.Addr().String()
}
