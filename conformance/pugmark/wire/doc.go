// Package wire reads and writes what crosses the wire and what lies in the bucket, by the judge's own strict code.
//
// It is written from the specification alone and shares nothing with the implementation that it helps to judge, so
// that a misreading on one side cannot hide on the other. Three guarantees hold for every decoder:
//
//   - It never panics and always ends, whatever the bytes.
//   - It reports every fault it can find with its place, not only the first, and decodes what is left.
//   - It corrects nothing in silence: a value of the wrong type is a fault and is left out.
//
// Less formally: DecodeStream, DecodeInputs and DecodeOutputs read record streams. SessionID, ReverseVersion and
// ParseKey know the layout of keys. DecodeSnapshot, DecodeManifest, DecodeMemory, DecodeRef and DecodeControl read
// objects at rest; Log and Visible say what a session's log is, and what of it a handler is to see. Bucket lays out
// sessions byte by byte for a scenario, odd and broken forms included.
//
// The decoders name faults and problems by kind, never by clause: which clause a fault breaks is the scenario's matter.
package wire
