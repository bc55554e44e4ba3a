package handler

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/pugcheck/pugcheck/conformance/profile"
	"github.com/pugcheck/pugcheck/harness/subject"
)

// patience is far beyond what any of the handlers here needs; stuck is for those that
// never end by themselves.
const (
	patience = 30 * time.Second
	stuck    = 300 * time.Millisecond
)

func TestMain(m *testing.M) {
	if os.Getenv("HANDLER_TEST_SERVICE") != "" { // a service in RPC mode
		err := http.ListenAndServe(os.Getenv("PUGMARK_RPC_ADDRESS"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = fmt.Fprintf(w, `{"name":"%s","metadata":{"port":"%s"}}`, r.URL.Query().Get("session"), os.Getenv("PORT"))
		}))
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}

func driveProcess(t *testing.T, p Plan, argv ...string) *Exchange {
	t.Helper()
	e, err := processDriver{argv}.Drive(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	e.decode()
	return e
}

func once(input string) []Chunk { return []Chunk{{Bytes: []byte(input)}} }

func TestProcessGetsTheBytesAndGivesThem(t *testing.T) {
	e := driveProcess(t, Plan{
		Chunks:  []Chunk{{Bytes: []byte(`{"na`)}, {Bytes: []byte(`me":"a"}`), After: 20 * time.Millisecond}},
		Env:     map[string]string{"PUGMARK_AGENT_ID": "a7"},
		Timeout: patience,
	}, "sh", "-c", `cat; printf '%s' "$PUGMARK_AGENT_ID" >&2`)
	if !e.Well() || string(e.Output) != `{"name":"a"}` || e.Stderr != "a7" || len(e.Records()) != 1 {
		t.Errorf("%s; output %q, stderr %q", e.How(), e.Output, e.Stderr)
	}
	if len(e.Sent) != 2 || e.Sent[1]-e.Sent[0] < 20*time.Millisecond || e.Last < e.Sent[1] || string(e.Input) != `{"name":"a"}` {
		t.Errorf("sent at %v, output from %v to %v", e.Sent, e.First, e.Last)
	}
}

func TestProcessThatNeedNotRead(t *testing.T) {
	e := driveProcess(t, Plan{Chunks: once(strings.Repeat("x", 4<<20)), Timeout: patience}, "true")
	if !e.Well() || len(e.Output) != 0 {
		t.Error(e.How())
	}
}

func TestProcessThatWaitsForTheEndOfInput(t *testing.T) {
	e := driveProcess(t, Plan{Chunks: once("{}\n"), KeepOpen: true, Timeout: stuck}, "cat")
	if e.Ended || e.Well() || string(e.Output) != "{}\n" {
		t.Errorf("%s; output %q", e.How(), e.Output)
	}
	if want := "it still ran after"; !strings.Contains(e.How(), want) {
		t.Errorf("%q lacks %q", e.How(), want)
	}
}

func TestProcessThatFloods(t *testing.T) {
	for name, argv := range map[string][]string{
		"lines":         {"yes"},
		"one record":    {"sh", "-c", `printf '{"data":"'; exec tr '\0' A </dev/zero`},
		"empty records": {"yes", "{}"},
	} {
		e := driveProcess(t, Plan{Chunks: once("{}"), Timeout: patience}, argv...)
		if !e.Flooded || e.Ended || len(e.Output) != OutputLimit || !e.Partly {
			t.Errorf("%s: %s; %d bytes", name, e.How(), len(e.Output))
		}
		if n := len(e.Outputs); n > recordLimit {
			t.Errorf("%s: %d records were decoded", name, n)
		}
	}
}

func TestCrowdOfRecordsIsDecodedInPart(t *testing.T) {
	e := &Exchange{Outcome: Outcome{Ended: true}, Output: bytes.Repeat([]byte("{}"), 3*recordLimit)}
	e.decode()
	if !e.Partly || len(e.Outputs) != recordLimit || len(e.Faults) != 0 {
		t.Errorf("%v, %d records, faults %v", e.Partly, len(e.Outputs), e.Faults)
	}
}

func TestProcessThatDiesOrLeavesOthersBehind(t *testing.T) {
	e := driveProcess(t, Plan{Chunks: once("{}"), Timeout: patience}, "sh", "-c", "kill -SEGV $$")
	if e.Well() || !e.Ended || !strings.HasPrefix(e.How(), "killed by signal 11") {
		t.Error(e.How())
	}
	e = driveProcess(t, Plan{Chunks: once("{}"), Timeout: patience}, "sh", "-c", "setsid sleep 1000 & echo '{}'")
	if !e.Well() || len(e.Strays) != 1 || !strings.HasSuffix(e.Strays[0], "sleep 1000") || !e.HeldOutput {
		t.Errorf("%s; left %q, held %v", e.How(), e.Strays, e.HeldOutput)
	}
}

func TestProgramThatIsNotThere(t *testing.T) {
	_, err := processDriver{[]string{"./no-such-handler"}}.Drive(t.Context(), Plan{Timeout: patience})
	if !errors.Is(err, subject.ErrNotFound) {
		t.Error(err)
	}
}

func TestInterruptEndsTheProcess(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	time.AfterFunc(50*time.Millisecond, cancel)
	if _, err := (processDriver{[]string{"sleep", "1000"}}).Drive(ctx, Plan{Timeout: patience}); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

func driveURL(t *testing.T, target string, p Plan) *Exchange {
	t.Helper()
	u, err := url.Parse(target)
	if err != nil {
		t.Fatal(err)
	}
	e, err := httpDriver{u}.Drive(t.Context(), p)
	if err != nil {
		t.Fatal(err)
	}
	e.decode()
	return e
}

func TestPost(t *testing.T) {
	var got *http.Request
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got = r
		body, _ = io.ReadAll(r.Body)
		_, _ = w.Write([]byte(`{"name":`))
		w.(http.Flusher).Flush() // the rest in a chunk of its own
		_, _ = w.Write([]byte(`"a"}` + "\n"))
	}))
	defer server.Close()
	e := driveURL(t, server.URL+"/deep/path?k=v", Plan{
		Chunks: []Chunk{{Bytes: []byte(`{"event":`)}, {Bytes: []byte(`"start"}`), After: 20 * time.Millisecond}},
		Query:  "session=00ab", Header: header("Traceparent", "00-x"), Timeout: patience,
	})
	if !e.Well() || e.Status != 200 || string(e.Output) != `{"name":"a"}`+"\n" || len(e.Records()) != 1 {
		t.Errorf("%s; output %q", e.How(), e.Output)
	}
	if got.Method != "POST" || got.RequestURI != "/deep/path?k=v&session=00ab" || got.ContentLength != 17 || got.TransferEncoding != nil ||
		got.Header.Get("Content-Type") != "application/json" || got.Header.Get("Traceparent") != "00-x" || string(body) != `{"event":"start"}` {
		t.Errorf("%+v %q", got, body)
	}
}

// TestBadResponses: whatever a service does, it costs a message and no hang.
func TestBadResponses(t *testing.T) {
	raw := func(answer string, hold bool) string {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = l.Close() })
		go func() {
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				go func() {
					buf := make([]byte, 64<<10)
					_, _ = conn.Read(buf)
					_, _ = io.WriteString(conn, answer)
					if hold {
						_, _ = io.Copy(io.Discard, conn)
					}
					_ = conn.Close()
				}()
			}
		}()
		return "http://" + l.Addr().String()
	}
	closed := raw("", false)
	for name, tc := range map[string]struct {
		url     string
		timeout time.Duration
		ended   bool
		how     string
	}{
		"204":        {raw("HTTP/1.1 204 No Content\r\n\r\n", false), patience, true, "status 204"},
		"redirect":   {raw("HTTP/1.1 302 Found\r\nLocation: /other\r\nContent-Length: 0\r\n\r\n", false), patience, true, "status 302"},
		"half":       {raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", false), patience, true, "the response broke off after 2 bytes"},
		"no body":    {raw("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n{}", true), stuck, false, "did not come to its end"},
		"silence":    {raw("", true), stuck, false, "no response came"},
		"closed":     {closed, patience, true, "closed without a response"},
		"garbage":    {raw("SSH-2.0-OpenSSH_9.2\r\n", false), patience, true, "no response that HTTP allows"},
		"long head":  {raw("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 2<<20), true), patience, true, "the head of the response is longer"},
		"not there":  {"http://127.0.0.1:1", patience, true, "no connection"},
		"chunks end": {raw("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n", false), patience, true, "broke off"},
		"early hint": {raw("HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 500 Oops\r\n\r\nno store", false), patience, true, `status 500`},
	} {
		e := driveURL(t, tc.url, Plan{Chunks: once("{}"), Timeout: tc.timeout})
		if e.Well() || e.Ended != tc.ended || !strings.Contains(e.How(), tc.how) {
			t.Errorf("%s: ended %v: %s", name, e.Ended, e.How())
		}
	}
	endless := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for piece := bytes.Repeat([]byte("{}\n"), 20_000); ; {
			if _, err := w.Write(piece); err != nil {
				return
			}
		}
	}))
	defer endless.Close()
	if e := driveURL(t, endless.URL, Plan{Chunks: once("{}"), Timeout: patience}); !e.Flooded || e.Ended || len(e.Output) != OutputLimit {
		t.Errorf("endless: %s", e.How())
	}
}

func TestService(t *testing.T) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	names := profile.Default().Assumed.Environment
	s, err := startService(t.Context(), []string{self}, map[string]string{"HANDLER_TEST_SERVICE": "1"}, names, patience)
	if err != nil {
		t.Fatal(err)
	}
	e, err := s.Drive(t.Context(), Plan{Chunks: once("{}"), Query: "session=00ab", Timeout: patience})
	if err != nil {
		t.Fatal(err)
	}
	e.decode()
	if !e.Well() || len(e.Outputs) != 1 || e.Outputs[0].Name != "00ab" || e.Outputs[0].Metadata["port"] != s.target.Port() {
		t.Errorf("%s: %s", e.How(), e.Output)
	}
	s.stop()
	if e, err := s.Drive(t.Context(), Plan{Chunks: once("{}"), Timeout: patience}); err != nil || e.Well() {
		t.Errorf("the service still answers: %v", err)
	}
	_, err = startService(t.Context(), []string{"sh", "-c", "echo no port >&2; exit 3"}, map[string]string{}, names, patience)
	if !errors.Is(err, errNoService) || !strings.Contains(err.Error(), "exit status 3") || !strings.Contains(err.Error(), "no port") {
		t.Error(err)
	}
	_, err = startService(t.Context(), []string{"sleep", "1000"}, map[string]string{}, names, stuck)
	if !errors.Is(err, errNoService) || !strings.Contains(err.Error(), "nothing accepted connections") {
		t.Error(err)
	}
}

func TestServers(t *testing.T) {
	s, err := StartServers()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Object.Serve(map[string]Answer{
		"/a":    {Header: header("Content-Encoding", "gzip"), Body: []byte("body")},
		"/404":  {Status: 404, Body: []byte("plausible")},
		"/half": {Body: []byte("body")},
	}, func(path string) (Answer, bool) { return Answer{Body: []byte(path)}, path == "/found" })
	client := &http.Client{Transport: &http.Transport{DisableCompression: true}}
	get := func(method, path string) string {
		req, err := http.NewRequestWithContext(t.Context(), method, s.Object.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		defer res.Body.Close()
		b, err := io.ReadAll(res.Body)
		return fmt.Sprintf("%d %s%q%v", res.StatusCode, res.Header.Get("Content-Encoding"), b, err)
	}
	for request, want := range map[string]string{
		"GET /a": `200 gzip"body"<nil>`, "GET /404": `404 "plausible"<nil>`, "GET /b": `404 ""<nil>`, "GET /found": `200 "/found"<nil>`, "PUT /a": `405 ""<nil>`, "HEAD /a": `200 gzip""<nil>`,
	} {
		method, path, _ := strings.Cut(request, " ")
		if got := get(method, path); got != want {
			t.Errorf("%s: %s, want %s", request, got, want)
		}
	}
	if n := len(s.Object.Fetches(0)); n != 6 || len(s.Object.Fetches(5)) != 1 || len(s.Memory.Fetches(0)) != 0 {
		t.Errorf("%d requests", n)
	}
	s.Object.Serve(map[string]Answer{"/half": {Body: []byte("body"), CutBody: true}, "/never": {Hang: true}}, nil)
	if got := get("GET", "/half"); !strings.Contains(got, `"bo"unexpected EOF`) {
		t.Error(got)
	}
	ctx, cancel := context.WithTimeout(t.Context(), stuck)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, "GET", s.Object.URL+"/never", nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Do(req); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("an answer came: %v", err)
	}
}

// TestArrivalOfARecord: a banner that comes at once does not make the Output behind it
// an early one.
func TestArrivalOfARecord(t *testing.T) {
	e := driveProcess(t, Plan{
		Chunks:  []Chunk{{Bytes: []byte("{}\n")}, {Bytes: []byte("{}\n"), After: 100 * time.Millisecond}},
		Timeout: patience,
	}, "sh", "-c", `echo Agent; cat >/dev/null; echo '{"name":"a"}'`)
	records := e.Records()
	if len(records) != 1 || len(e.Sent) != 2 {
		t.Fatalf("%s, output %q", e.How(), e.Output)
	}
	if e.arrival(0) != e.First || e.arrival(records[0].Offset) < e.Sent[1] {
		t.Errorf("banner after %s (first byte %s), record after %s, sent %v", e.arrival(0), e.First, e.arrival(records[0].Offset), e.Sent)
	}
}

// TestQuotedBeginsWithALine: of a long complaint the last lines are shown, whole ones
// where they are of ordinary length.
func TestQuotedBeginsWithALine(t *testing.T) {
	trace := strings.Repeat("  File \"agent.py\", line 3, in main\n", 40) + "ValueError: no number"
	if got := quoted(trace); !strings.HasPrefix(got, "; stderr: …   File \"agent.py\"") || !strings.HasSuffix(got, "ValueError: no number") {
		t.Error(got)
	}
	if got := quoted("x\n" + strings.Repeat("é", 300)); len(got) < 400 || !strings.HasPrefix(got, "; stderr: … é") {
		t.Error(got)
	}
}

// TestRedirectNamesItsTarget: the body of a redirect is mostly empty and says nothing.
func TestRedirectNamesItsTarget(t *testing.T) {
	e := Exchange{Over: HTTP, Outcome: Outcome{Ended: true, Status: 302, Header: header("Location", "/agent/")}}
	if got := e.How(); got != `status 302 after 0s, a redirect to "/agent/", which is not followed` {
		t.Error(got)
	}
}
