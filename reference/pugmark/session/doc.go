// Package session keeps sessions in a bucket: their manifests, snapshots and logs, the names that refs give them, the
// memory namespaces beside them, and the commits that make all of this safe for many writers at once.
//
// The guarantees first. A commit is one conditional write of one key, so it is seen whole or not at all (S13.1-3); nothing
// else is relied on, and nobody holds a lock (S13.1-1, S14.1-4). What was committed is never changed or removed: no
// snapshot, no memory file, no blob (P1-1, S1-6, S1-8, S1-9). No writer loses another one's data: a writer outside the
// handler moves on to the next free version, and a handler's own commit either comes to lie above what such writers
// added, or loses to another handler's and leaves nothing behind (S14.2-1, R-11).
//
// Less formally: a session is a manifest and a row of snapshots, numbered 1, 2, 3 and so on; a snapshot is a list of
// descriptors; a descriptor says what a blob is. A Repo reads and writes them over any store.Store. It decides nothing
// about when a handler runs and what it sees; that is the engine's part.
package session
