// Package probe is a handler process with a remote control.
//
// A program under test is told to start `EXE probe ADDRESS TOKEN`. The process
// that starts up there decides nothing by itself: it reports its arguments,
// environment, working directory, caught signals and every byte of its standard
// input to a [Hub] as they come, and does what the hub asks: write these bytes,
// fetch that URL, close an output, exit with a status, die by a signal. Test
// code that holds the [Invocation] therefore is the handler, and can act on the
// rest of the world in the middle of it.
//
// Over HTTP the hub itself is the handler: each request to a URL of
// [Hub.URL] becomes an [Invocation] of the same kind, whose input is the
// request body and whose output is the response body.
//
// # Guarantees
//
//   - Bytes are passed on unchanged in both directions. The head of an HTTP
//     request is kept as it was sent.
//   - A probe reads its input as fast as it comes, whatever its handler does, until
//     [Invocation.CloseInput]. The hub keeps at most [InputLimit] bytes of each
//     invocation and drains what is beyond; the probe itself holds one buffer.
//   - Each act returns when the remote side has done it, or with [ErrGone].
//   - A probe never outlives its hub: it exits with [ExitHubGone] and says so
//     on standard error.
//
// # Between probe and hub
//
// One TCP connection on loopback for each probe process carries frames in both
// directions: a length (4 bytes, big-endian, of what follows), a kind (1 byte),
// a number (4 bytes; answers repeat that of the request), then the payload.
// See frame.go for the kinds. Output is sent in pieces of [writePiece] bytes,
// each answered before the next, which bounds the memory of the probe.
package probe
