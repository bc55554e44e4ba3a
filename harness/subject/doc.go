// Package subject starts, feeds, watches and ends the processes under test.
//
// # Guarantees
//
//   - A subject runs in a Unix session and process group of its own, without a
//     terminal; its arguments reach it unchanged, with no shell between.
//   - What it writes is read for as long as anyone of its descendants holds the
//     stream, and kept within fixed bounds ([Capture]).
//   - [Process.Wait] returns when the subject's main process has ended, whatever
//     the processes that it left behind hold open.
//   - [Process.Kill] ends the main process and all that descends from it, and
//     returns when they are gone.
//   - If this process dies, by SIGKILL too, subjects are killed: the main
//     process by the kernel's parent-death signal, and all descendants by the
//     guard, where [StartGuard] was called.
//
// # How descendants are found
//
// Each subject is started with the variable [CookieVariable], whose value is
// unique and which children inherit: a daemon that has forked twice and called
// setsid still carries it. A process belongs to a subject if it carries
// the subject's cookie, or is in its Unix session or process group, or its parent belongs
// to the subject. What escapes is a process that does all of this: start with an
// emptied environment, call setsid, and lose its parent before Kill.
//
// That does not escape a process that has called [Adopt], which is also spared the search where
// there is nothing to be found.
//
// Cookies nest. A process that was itself started with the cookie C gives its
// subjects C.X, and "carries C" means C or anything below it, so that worker
// processes need no further arrangement: whoever ends a worker ends the worker's
// subjects. The guard watches over the cookie of the topmost process.
//
// All of this needs /proc and Linux; elsewhere only the process group is killed.
package subject
