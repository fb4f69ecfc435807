//go:build unix && !linux

package client

import "syscall"

func receive(fd int, b []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, b)
		if err != syscall.EINTR {
			return received(n, err)
		}
	}
}
