//go:build !linux

package netio

import (
	"fmt"
	"net"
)

// ioConn is a connection as its transport knows it.
type ioConn struct{ portable *portableConn }

func (c ioConn) discard() { c.portable.nc.Close() }

func takeOver(nc net.Conn, _ string) (ioConn, error) {
	return ioConn{portable: newPortableConn(nc)}, nil
}

func newTransport(sender string) (transport, error) {
	if sender != "auto" && sender != "portable" {
		return nil, fmt.Errorf("netio: sender %q is for Linux; there is portable", sender)
	}
	return newPortable(), nil
}
