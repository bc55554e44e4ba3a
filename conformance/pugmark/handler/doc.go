// Package handler judges pugmark handlers. It plays the runtime by its own code: it
// writes the input stream byte by byte, serves the bodies and the memory, and reads
// what the handler answers, over either transport.
//
// A handler may do anything with what it is told, so a check compares: the same
// handler plays the same log twice, the second time with the one thing changed that a
// clause is about, and its Outputs have to be those of the control run. Where the
// control run does not do what a clause speaks of, the clause stays not exercised, and
// the reason says how to provoke it. A handler whose Outputs differ from run to run is
// compared in what does not.
//
// Beside its own checks, every scenario ends with the invariants: rules for each
// output stream and each request, whatever the story was.
//
// Guarantees: no invocation takes longer than the time limit, no output costs more
// memory than a fixed bound, and no process stays behind. Trouble of the bench is an
// error, never a verdict.
package handler
