package main

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"os/signal"
	"slices"
	"strings"
	"time"
)

// The handler that the scripts judge: it answers the last entry of a log. Faults are put
// in by name, as arguments; without one it keeps the protocol.

type agent struct {
	faults []string
	out    io.Writer
	trace  string
}

type agentRecord struct {
	Event, URL, Data, Name string
	Size                   int64
	Metadata               map[string]string
}

func (a agent) has(fault string) bool { return slices.Contains(a.faults, fault) }

// agentMain is the process; with "serve" as first argument it hosts the service.
func agentMain(args []string) error {
	if len(args) > 0 && args[0] == "serve" {
		return http.ListenAndServe(os.Getenv("PUGMARK_RPC_ADDRESS"), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var out strings.Builder
			a := agent{args[1:], &out, r.Header.Get("Traceparent")}
			if err := a.run(r.Body); err != nil {
				http.Error(w, err.Error(), http.StatusInternalServerError)
				return
			}
			if a.has("no-content") && out.Len() == 0 {
				w.WriteHeader(http.StatusNoContent)
				return
			}
			_, _ = io.WriteString(w, out.String())
		}))
	}
	a := agent{args, os.Stdout, os.Getenv("TRACEPARENT")}
	if a.has("strict-environment") && os.Getenv("PUGMARK_FUTURE") != "" {
		return errors.New("unknown variable PUGMARK_FUTURE")
	}
	if a.has("banner") {
		fmt.Println("Agent 1.0")
	}
	if a.has("hang") {
		signal.Ignore(os.Interrupt)
		time.Sleep(time.Hour)
	}
	return a.run(os.Stdin)
}

func (a agent) run(input io.Reader) error {
	if a.has("waits-for-eof") {
		all, err := io.ReadAll(input)
		if err != nil {
			return err
		}
		input = strings.NewReader(string(all))
	}
	dec := json.NewDecoder(input)
	if a.has("strict-fields") {
		dec.DisallowUnknownFields()
	}
	var last *agentRecord
	for first := true; ; first = false {
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return err
		}
		var r agentRecord
		if err := a.decode(raw, &r); err != nil {
			return err
		}
		switch {
		case first && r.Event == "protocol":
			return nil
		case r.Event == "memory":
		case r.Event == "start", r.Event == "fork", r.Event == "wake", r.Data == "" && r.URL == "" && r.Size == 0 && r.Name == "":
			return a.answer(last)
		default:
			last = &r
		}
	}
}

// decode reads a record by exact field names.
func (a agent) decode(raw json.RawMessage, r *agentRecord) error {
	var fields map[string]json.RawMessage
	if err := json.Unmarshal(raw, &fields); err != nil {
		return err
	}
	for name, to := range map[string]any{"event": &r.Event, "url": &r.URL, "data": &r.Data, "name": &r.Name, "size": &r.Size, "metadata": &r.Metadata} {
		if v, ok := fields[name]; ok {
			if err := json.Unmarshal(v, to); err != nil {
				return err
			}
			delete(fields, name)
		}
	}
	for name := range fields {
		if a.has("strict-fields") && strings.HasPrefix(name, "x-") {
			return fmt.Errorf("unknown field %s", name)
		}
	}
	return nil
}

func (a agent) answer(last *agentRecord) error {
	if last == nil {
		return nil
	}
	body, err := a.body(last)
	if err != nil {
		return err
	}
	encoding := base64.StdEncoding
	if a.has("url-safe") {
		encoding = base64.URLEncoding
	}
	metadata := map[string]string{"about": last.Name}
	if a.has("clock") {
		metadata["at"] = time.Now().Format(time.RFC3339Nano)
	}
	if last.Name == "" && !a.has("clock") {
		metadata = nil
	}
	return json.NewEncoder(a.out).Encode(struct {
		Data     string            `json:"data"`
		Metadata map[string]string `json:"metadata,omitempty"`
	}{encoding.EncodeToString(append([]byte("\xff\xfe you said: "), body...)), metadata})
}

// body is inline, padded or not, or at a URL.
func (a agent) body(r *agentRecord) ([]byte, error) {
	if r.Data != "" && (!a.has("prefers-url") || r.URL == "") {
		if a.has("wants-padding") {
			return base64.StdEncoding.DecodeString(r.Data)
		}
		return base64.RawStdEncoding.DecodeString(strings.TrimRight(r.Data, "="))
	}
	req, err := http.NewRequest(http.MethodGet, r.URL, nil)
	if err != nil {
		return nil, err
	}
	req.Header.Set("Traceparent", a.trace)
	res, err := (&http.Transport{DisableCompression: true}).RoundTrip(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close()
	if res.StatusCode != http.StatusOK && !a.has("any-status") {
		return nil, fmt.Errorf("%s: %s", r.URL, res.Status)
	}
	switch coding := res.Header.Get("Content-Encoding"); coding {
	case "":
	case "gzip":
		z, err := gzip.NewReader(res.Body)
		if err != nil {
			return nil, err
		}
		return io.ReadAll(z)
	default:
		return nil, fmt.Errorf("%s: unknown coding %s", r.URL, coding)
	}
	return io.ReadAll(res.Body)
}
