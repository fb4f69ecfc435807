//go:build !linux

package main

// examine has only the portable path to tell of.
func examine() []finding {
	return []finding{{what: "transport", found: "portable: package net, a goroutine for each " +
		"connection", advice: "Linux has the faster ones: epoll with writev or io_uring"}}
}
