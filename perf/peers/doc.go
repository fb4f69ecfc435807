// Command peers runs the same workload on Fantail and on its peers, in turn, and prints the
// ratios. Its help says what it measures and how.
//
// It is a module of its own, so that whoever embeds Fantail does not inherit nats-server.
//
//	main ──▶ compare: rounds ──▶ peer: one run = broker, subscribers, publisher (child)
//	                                └──▶ natspeer, redispeer, zmqpeer, fantailpeer
//	     ──▶ report: table, JSON                     └──▶ load: payloads, meters, pace
package main
