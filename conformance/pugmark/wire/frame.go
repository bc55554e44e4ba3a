package wire

import (
	"encoding/json"
	"slices"
)

// Frames names the unknown field in which a record without a filled known field holds objects that have known fields,
// or an array of such objects: a frame around records. It is "" for any other record.
func Frames(r Record, known []string) string {
	if !r.empty(known) {
		return ""
	}
	for _, key := range r.Keys {
		if !slices.Contains(known, key) && holdsRecords(r.Fields[key], known) {
			return key
		}
	}
	return ""
}

func holdsRecords(raw json.RawMessage, known []string) bool {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		list = []json.RawMessage{raw}
	}
	for _, item := range list {
		var object map[string]json.RawMessage
		if json.Unmarshal(item, &object) != nil {
			continue
		}
		for _, field := range known {
			if _, ok := object[field]; ok {
				return true
			}
		}
	}
	return false
}
