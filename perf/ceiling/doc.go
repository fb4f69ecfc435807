// Package ceiling measures what the kernel can do at best with what Fantail asks of it: the
// same bytes, from one buffer, in plain writes, to the same number of loopback TCP sockets,
// read by another process that throws them away. No message is made, routed, counted or
// looked at. Throughput figures of the workloads are printed as a share of it.
//
//	buffer of frames ──write 64 KiB──▶ socket ⨉ N ──read 256 KiB──▶ nowhere
//	  (one locked thread, epoll on EAGAIN)       (another process, one locked thread, epoll)
//
// Ownership. Run owns its sockets and its child until it returns.
// Concurrency. Run may be called by any goroutine, one at a time: two share the machine.
// When it fails. An error ends the run and its child. Where there is no epoll, Run answers
// an error that Is ring.ErrNotSupported.
// Not here: Fantail.
package ceiling
