package client

import (
	"syscall"

	"github.com/fantail-io/fantail/netio/internal/sys"
)

func receive(fd int, b []byte) (int, error) { return received(sys.Recv(fd, b)) }

// fdSocket is a descriptor that the runtime's poller knows nothing of. It belongs to one
// goroutine, close included.
type fdSocket struct{ fd int }

// takeOver makes an fdSocket of a connection that nobody else uses any more.
func takeOver(w waiter) (*fdSocket, error) {
	raw, err := w.conn().(syscall.Conn).SyscallConn()
	if err != nil {
		return nil, err
	}
	fd := -1
	if e := raw.Control(func(s uintptr) { fd, err = sys.Dup(int(s)) }); e != nil {
		return nil, e
	}
	if err != nil {
		return nil, err
	}
	w.close() // leaves the poller; the connection lives on in fd
	return &fdSocket{fd: fd}, nil
}

func (s *fdSocket) read(b []byte) (int, error) { return receive(s.fd, b) }

func (s *fdSocket) write(b []byte) (int, error) { return sys.Send(s.fd, b, 0) }

func (s *fdSocket) close() { _ = sys.Close(s.fd) }
