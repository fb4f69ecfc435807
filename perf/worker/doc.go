// Package worker runs a part of a measurement in another process of the same program.
//
//	parent                                   child (the same executable, `… worker KIND`)
//	Start(kind, config) ── config ─────────▶ Serve: jobs[kind](session)
//	Ready(&v)           ◀─ ready ─────────── session.Ready(v)
//	Tell(command)       ── command ────────▶ session.Next()
//	OnProgress(raw)     ◀─ progress ──────── session.Progress(v)
//	Result(&v)          ◀─ result or error ─ what the job returns
//
// Each message is one line of JSON: commands on the child's standard input, reports on its
// standard output. Its standard error is the parent's.
//
// Ownership. Process belongs to the goroutine that started it; Close may be called by any,
// ends the child whatever it does, and waits for it.
// Concurrency. Ready and Progress of a session may be called by any goroutine, Next by one.
// When it fails. A job's error comes out of the parent's next Ready or Result. A parent that
// dies closes the child's standard input: the session's context ends, and a child that does
// not end within OrphanGrace is told to by Config.Exit.
// Not here: what the jobs do.
package worker
