// Package child runs a part of a measurement in a process of its own and talks with it.
//
//	parent                                     child (any program)
//	Start(command) ── first line: config ────▶ Serve: jobs[role](session)
//	Receive(&v)   ◀─ {"value":…} ───────────── session.Report(v)
//	Tell(line)     ── line ──────────────────▶ session.Next()
//	Receive(&v)   ◀─ {"value":…} | {"error":…} session.Report(v), or the job's error
//
// Lines on the child's standard input and output; its standard error is the parent's.
//
// Ownership. A Process belongs to the goroutine that started it; Close may be called by any,
// kills the child and waits for it. A Session belongs to its job.
//
// When it fails. A child's error, or its end, comes out of the parent's next Receive. A
// parent that dies takes its children along: on Linux the kernel kills them (Pdeathsig),
// elsewhere, and in any case, a child of this program ends when its standard input does.
//
// Not here: what the jobs do.
package child
