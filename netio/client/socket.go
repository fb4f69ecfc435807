package client

import (
	"net"
	"time"
)

// socket is a subscription's connection as its polling goroutine uses it.
type socket interface {
	// read reads what is there, without waiting: errAgain where that is nothing, io.EOF at
	// the end.
	read(b []byte) (int, error)
	// write sends what there is room for, without waiting.
	write(b []byte) (int, error)
	// close ends the connection.
	close()
}

// waiter is a socket that can wait. Its connection may be closed, and its deadline set, by
// any goroutine: both end a wait.
type waiter interface {
	socket
	// wait is read that waits for something to read, until the deadline: errAgain then.
	wait(b []byte) (int, error)
	setReadDeadline(t time.Time)
	conn() net.Conn
}
