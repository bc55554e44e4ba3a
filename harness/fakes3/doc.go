// Package fakes3 is an S3 server for tests, in which every request is a thing that can be looked at and meddled with.
//
// The guarantees:
//
//   - Writes are atomic and linearisable per server: of any number of racing PUTs with If-None-Match: * on one key
//     exactly one succeeds, and what a successful PUT stored is seen by every GET, HEAD and LIST that starts after it.
//   - A request whose digest does not fit its body (Content-MD5, x-amz-content-sha256, x-amz-checksum-*, in a header or
//     in a trailer) is refused and stores nothing.
//   - A condition is honoured, or the request is refused with 501; it is never ignored. The same holds for
//     subresources and request headers that change what a request means.
//   - A LIST costs O(log n) plus the page, also where a delimiter rolls up groups of any size.
//   - Every request is numbered in order of arrival and recorded, also those that are still under way.
//
// Less formally: [Start] one server for each test, give [Server.Endpoint] to the program under test, and read
// [Server.Requests] afterwards. With [Server.Intercept] any request can be let through, delayed, failed or dropped
// before it takes effect, or applied and its answer lost. With a [Gate] requests are held and let go one at a time,
// in whatever order the test wants to try. The test itself looks into the buckets with [Server.Put], [Server.Get]
// and their kin, which are neither recorded nor intercepted.
//
// Routing, ranges and most of the XML come from gofakes3; what it lacks is put in front of it (framing, digests,
// listings, the record, faults) and behind it (an ordered store with conditions). Signatures are not checked: the
// server listens on loopback only, and an access key merely names the caller.
package fakes3
