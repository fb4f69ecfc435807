package netio

import (
	"net"
	"time"
)

// Tune sets what the data path wants of a socket: messages leave at once (TCP_NODELAY), and
// a peer that is gone without a word is noticed within idle, whether bytes for it are in
// flight or not. probe is the pause between two keep-alive probes. Sockets that are not TCP
// stay as they are.
func Tune(nc net.Conn, idle, probe time.Duration) {
	tc, ok := nc.(*net.TCPConn)
	if !ok {
		return
	}
	_ = tc.SetNoDelay(true)
	_ = tc.SetKeepAliveConfig(net.KeepAliveConfig{Enable: true, Idle: idle, Interval: probe,
		Count: 3})
	if raw, err := tc.SyscallConn(); err == nil {
		_ = raw.Control(func(fd uintptr) { setUserTimeout(fd, idle) })
	}
}
