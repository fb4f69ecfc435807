// Package wait is how a goroutine with nothing to do waits, and how it is woken.
//
//	waiter                               waker
//	------                               -----
//	poll: nothing
//	Idler.Idle() … spin, yield           (pays one load while nobody is armed)
//	Bell.Arm()
//	poll again: still nothing            make something to do
//	sleep (channel, eventfd)     ◀─────  Group.Wake() rings every armed bell once
//	Bell.Disarm()
//
// The second poll after Arm is what makes a lost wake-up impossible: Go's atomics are
// sequentially consistent, so either the waker sees the bell armed, or the waiter sees
// the work.
//
// Concurrency. A Bell belongs to one waiter: Arm, Disarm and Close one at a time. Anyone may
// Wake, also while a bell is closed: see Bell.Close. An Idler belongs to one goroutine.
// Not here: what is waited for.
package wait
