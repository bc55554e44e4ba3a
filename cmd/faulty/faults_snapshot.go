package main

import (
	"bytes"
	"encoding/json"
	"path"
	"strconv"
	"strings"
)

// snapshotFaults spoil the form of the snapshots that are written.
var snapshotFaults = map[string]Fault{
	"snapshot-as-lines": snapshots(func(w *write) {
		var b bytes.Buffer
		for _, d := range w.descriptors() {
			line, _ := json.Marshal(d)
			b.Write(append(line, '\n'))
		}
		w.setDocument(b.Bytes())
	}),
	"single-descriptor-bare": snapshots(func(w *write) {
		if list := w.descriptors(); len(list) == 1 {
			plain, _ := json.Marshal(list[0])
			w.setDocument(plain)
		}
	}),
	"snapshot-name-in-lower-case": snapshots(func(w *write) {
		dir, name := path.Split(w.key)
		w.key = dir + strings.ToLower(name)
	}),
	"version-off-by-one": snapshots(func(w *write) {
		dir, name := path.Split(w.key)
		n, _ := strconv.ParseUint(strings.TrimSuffix(name, ".json"), 16, 32)
		w.key = dir + strings.ToUpper(strconv.FormatUint(n-1, 16)) + ".json"
	}),
	"snapshots-beside-manifest":    snapshots(func(w *write) { w.key = strings.Replace(w.key, "/snapshots/", "/", 1) }),
	"snapshot-type-octet-stream":   snapshots(func(w *write) { w.options.ContentType = "application/octet-stream" }),
	"snapshot-without-encoding":    snapshots(func(w *write) { w.options.ContentEncoding = "" }),
	"snapshot-not-compressed":      snapshots(func(w *write) { w.body = w.document() }),
	"snapshot-never-cached":        snapshots(func(w *write) { w.options.CacheControl = "no-cache" }),
	"snapshot-overwrites":          snapshots(func(w *write) { w.options.IfAbsent = false }),
	"snapshot-of-another-session":  metadata(sessionKey, func(string) string { return strings.Repeat("ab", 16) }),
	"snapshot-version-behind":      metadata(versionKey, minusOne),
	"transaction-as-uuid":          metadata(transactionKey, func(string) string { return "6ba7b810-9dad-11d1-80b4-00c04fd430c8" }),
	"transaction-in-the-body-only": metadata(transactionKey, func(string) string { return "" }),
	"transaction-zero":             metadata(transactionKey, func(string) string { return "0" }),
	"type-under-another-key": snapshots(func(w *write) {
		w.options.Metadata["type"] = w.options.Metadata[typeKey]
		delete(w.options.Metadata, typeKey)
	}),
	"type-with-a-capital":        metadata(typeKey, func(s string) string { return strings.ToUpper(s[:1]) + s[1:] }),
	"whole-log-in-each-snapshot": wholeLog(),
}

const (
	sessionKey     = "pugmark-snapshot-session"
	versionKey     = "pugmark-snapshot-version"
	transactionKey = "pugmark-transaction-id"
	typeKey        = "pugmark-snapshot-type"
)

func snapshots(change func(w *write)) Fault {
	return writes(func(w *write) {
		if w.isSnapshot() {
			change(w)
		}
	})
}

// metadata respells one metadata value of every snapshot; "" leaves the key out.
func metadata(key string, respell func(string) string) Fault {
	return snapshots(func(w *write) {
		if value := respell(w.options.Metadata[key]); value != "" {
			w.options.Metadata[key] = value
		} else {
			delete(w.options.Metadata, key)
		}
	})
}

func minusOne(text string) string {
	n, _ := strconv.Atoi(text)
	return strconv.Itoa(n - 1)
}
