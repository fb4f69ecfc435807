// Package topic gives topics numbers, and finds out who wants which.
//
//	name ──Registry──▶ number ──Routes.Set──▶ *Set: the subscribers, resolved once
//	                                 │ first time, and after a change that concerns it
//	                                 └──▶ Index: a trie of patterns
//
// A name is 1 to 32 tokens separated by dots, as in md.equities.AAPL: at most 255 bytes of
// ASCII letters, digits and -_/:+@#$=~! in all. A pattern may have * for a token, which
// stands for exactly one, and > for its last, which stands for one or more. Names come from
// peers: what is not in the alphabet is refused, and nothing is made of names but the keys
// of maps. They are never names of files.
//
// Ownership. A Registry keeps copies of names. An Index and a Routes keep a subscriber
// until its last pattern is removed, and not longer. The members of a Set never change, so
// that a Set may be read for as long as somebody has it, even after it has been replaced.
//
// Concurrency. Registry and Pattern: any goroutine; Registry.Name takes no lock. Index and
// Routes: the one goroutine that owns them. Any number of Routes may share a Registry.
//
// When full. A Registry answers ErrTooManyTopics. A bad name or pattern is a *NameError. An
// Index and a Routes hold whatever they are given: whoever lets peers subscribe bounds the
// patterns of a peer, and the peers.
//
// Not here: reference counts of topics. A name keeps its number for as long as the Registry
// lives, which is what lets the stream, the journal and peers speak in numbers; MaxTopics
// bounds the memory. Nor are there messages, sockets, or anybody's permission to subscribe.
package topic
