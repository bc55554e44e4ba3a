// Package artifacts keeps what a scenario left behind in a folder of its own, with
// everything that is needed to run it once more, and finds such folders again. It
// knows folders, files and bounds; what goes into them comes from the suites.
//
// Guarantees: a folder appears whole, by a rename, or not at all; one that is replaced
// is never mixed with what stood there; nothing that is not such a folder is ever
// removed or written into. Files, and folders as a whole, are bounded, and the manifest
// names what the bounds kept out.
package artifacts
