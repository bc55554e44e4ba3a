package transport

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"testing"
)

func init() {
	serve := func(answer func(http.ResponseWriter, *http.Request)) {
		address := os.Getenv("PUGMARK_RPC_ADDRESS")
		if address != "127.0.0.1:"+os.Getenv("PORT") {
			os.Exit(9)
		}
		fmt.Println("this is no record")
		http.ListenAndServe(address, http.HandlerFunc(answer))
	}
	echo := func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, "%s %s %s %s\n", r.Method, r.URL.Path, r.URL.Query().Get("session"), os.Getenv("PUGMARK_SESSION_ID"))
		io.Copy(w, r.Body)
	}
	acts["service"] = func() { serve(echo) }
	acts["deaf service"] = func() { signal.Ignore(syscall.SIGTERM); serve(echo) }
	acts["failing service"] = func() {
		serve(func(w http.ResponseWriter, _ *http.Request) { http.Error(w, "out of ideas", 500) })
	}
	acts["dying service"] = func() { serve(func(http.ResponseWriter, *http.Request) { os.Exit(7) }) }
}

func service(act string) Handler { return Hosted(process(act)) }

func TestService(t *testing.T) {
	t.Parallel()
	for _, act := range []string{"service", "deaf service"} {
		var out bytes.Buffer
		inv := invocation("{}\n", &out)
		if err := within(t, func() error { return service(act).Invoke(t.Context(), inv) }); err != nil {
			t.Fatal(err)
		}
		if want := fmt.Sprintf("POST / %s %[1]s\n{}\n", inv.Session); out.String() != want {
			t.Errorf("%s: got %q, want %q", act, out.String(), want)
		}
	}
}

func TestServiceFailures(t *testing.T) {
	t.Parallel()
	for act, want := range map[string]string{
		"failing service": "500 Internal Server Error: out of ideas",
		"dying service":   "EOF",
		"exit 7":          "ended before it listened: exit status 7",
		"unread":          "ended before it listened",
	} {
		err := within(t, func() error { return service(act).Invoke(t.Context(), invocation("{}", &bytes.Buffer{})) })
		wantError(t, err, want)
	}
	if _, ok := Hosted(&HTTP{}).(*HTTP); !ok {
		t.Error("a URL is hosted")
	}
}

func TestServiceEnvironment(t *testing.T) {
	got := serviceEnvironment([]string{"PORT=1", "A=b", "PUGMARK_RPC_ADDRESS=x"}, "127.0.0.1:80")
	if want := "A=b PUGMARK_RPC_ADDRESS=127.0.0.1:80 PORT=80"; strings.Join(got, " ") != want {
		t.Errorf("got %q", got)
	}
	// A handler that is no service is not told the address of a service above it.
	if got := environment([]string{"PORT=1", "A=b", "PUGMARK_RPC_ADDRESS=x"}, Identity{}); strings.Join(got[:3], " ") != "PORT=1 A=b PUGMARK_AGENT_ID=" {
		t.Errorf("got %q", got)
	}
}
