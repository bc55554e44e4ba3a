package main

import (
	"bytes"
	"encoding/json"
	"sync"
)

// descriptors decodes the document of a snapshot or memory file.
func (w *write) descriptors() []map[string]any { return decodeDescriptors(w.document()) }

func decodeDescriptors(plain []byte) []map[string]any {
	var list []map[string]any
	d := json.NewDecoder(bytes.NewReader(plain))
	d.UseNumber()
	_ = d.Decode(&list)
	return list
}

// setDescriptors writes the document anew. Keys come out sorted, which is
// nobody's business.
func (w *write) setDescriptors(list []map[string]any) {
	plain, _ := json.Marshal(list)
	w.setDocument(plain)
}

// eachDescriptor changes the descriptors in place.
func (w *write) eachDescriptor(change func(i, n int, d map[string]any)) {
	list := w.descriptors()
	for i, d := range list {
		change(i, len(list), d)
	}
	w.setDescriptors(list)
}

// memory keeps bodies by name.
type memory struct {
	mu sync.Mutex
	m  map[string][]byte
}

func newMemory() *memory { return &memory{m: map[string][]byte{}} }

func (m *memory) keep(name string, body []byte) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.m[name] = body
}

func (m *memory) get(name string) ([]byte, bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	body, ok := m.m[name]
	return body, ok
}
