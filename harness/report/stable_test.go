package report

import "testing"

func TestStable(t *testing.T) {
	same := map[string][2]string{
		"identifier": {"order 00079cde05a6974193f58b36bf787dac has none", "order 00079cdf0ba6974193f58b36bf787d0c has none"},
		"key":        {"orders/year=2026/month=11/day=30/hour=22/05A6974193F58B36BF787DAC/manifest.json", "orders/year=2027/month=01/day=03/hour=05/05A6974193F58B36BF787DAD/manifest.json"},
		"address":    {"GET http://127.0.0.1:40123/memories/x: status 404", "GET http://127.0.0.1:9123/memories/x: status 404"},
		"duration":   {"it still ran after 3.004s and was stopped", "it still ran after 2m3.1s and was stopped"},
		"minutes":    {"within 20s", "within 1m0s"},
		"process":    {"left running: process 4711 sleep", "left running: process 23 sleep"},
		"folder":     {"/tmp/go-build343/exe/pugcheck: no such file", "/tmp/x.Q1/pugcheck: no such file"},
		"word":       {`name "question-1a2b3c4d"`, `name "question-0fee3c4d"`},
		"short word": {"What is plover-0a1b2c?", "What is plover-99ffee?"},
		"base64":     {`"data":"aGVsbG8gcGxvdmVyLTBhMWIyYyA+Pj4+"`, `"data":"bGVsbG8gcGxvdmVyLTBhMWIyYyA/Pj8+Pw=="`},
		"moment":     {"at 2026-11-30T22:16:49Z it", "at 2026-12-01T01:00:00.123+01:00 it"},
		"http date":  {"Date: Mon, 30 Nov 2026 22:16:49 GMT", "Date: Tue, 01 Dec 2026 00:00:00 GMT"},
		"space":      {"a\n    b", "a b"},
		"bytes":      {"after 1312 bytes of output", "after 1311 bytes of output"},
		"pointer":    {"<*int | 0xc000123456>", "<*int | 0xc00000a0b0>"},
		"uuid":       {"id 9f8b6c1e-1111-4222-8333-444455556666", "id 00000000-1111-4222-8333-444455556666"},
	}
	for name, pair := range same {
		if a, b := Stable(pair[0]), Stable(pair[1]); a != b {
			t.Errorf("%s: %q and %q", name, a, b)
		}
		if a := Stable(pair[0]); Stable(a) != a {
			t.Errorf("%s: %q is not stable itself: %q", name, a, Stable(a))
		}
	}
	other := map[string][2]string{
		"status":  {"status 404", "status 500"},
		"version": {"version 2", "version 3"},
		"count":   {"with 2 Outputs", "with 3 Outputs"},
		"exit":    {"exit status 1", "exit status 2"},
		"word":    {"a facade", "a decade"},
		"path":    {"conformance/pugmark/runtime/s13_03_conflicts.go:22", "conformance/pugmark/runtime/s13_04_memory_conflicts.go:22"},
		"place":   {"record 1, byte 8", "record 1, byte 9"},
		"text":    {"the highest version wins", "the lowest version wins"},
	}
	for name, pair := range other {
		if a, b := Stable(pair[0]), Stable(pair[1]); a == b {
			t.Errorf("%s: both are %q", name, a)
		}
	}
}
