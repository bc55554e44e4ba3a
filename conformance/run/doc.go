// Package run executes the scenarios of a suite in worker processes.
//
// The parent hands out batches of scenario IDs; a worker is the same executable
// once more, declares just its batch as Ginkgo specs, runs them in Ginkgo's
// random order, and streams what happens as JSON lines on a descriptor of its
// own (fd 3), so that nothing printed can disturb it.
//
// Guarantees: every run of a scenario of a plan has at most one outcome, and every
// scenario has one, or the reason why it has none. A worker that crashes or hangs
// costs the scenario in flight, which becomes an error with the worker's last
// words; the rest of its batch is handed out again. Outcomes depend on seed and
// scenario, not on the number of workers or the order. When the context ends,
// workers are ended too, and nothing that finished after that moment counts. No
// worker outlives the parent.
package run
