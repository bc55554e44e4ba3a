// Package layout knows where things lie in a bucket: session IDs and their paths, snapshot and memory file names,
// blob keys, refs. It is pure: no I/O, no clock and no randomness of its own.
//
// All keys are relative to the bucket's root and start with one of the four prefixes that the layout owns
// (S1-2): objects/, sessions/, memories/ and refs/. Nobody in this runtime makes, lists or deletes any other key, nor
// one of another shape below these: no index of children, no pointer to the latest snapshot, no lock (S1-3, S1-4, S17-1,
// S18-1, S18-2). So whatever a later version of the layout puts beside them stays apart (S18-11 to S18-13).
package layout
