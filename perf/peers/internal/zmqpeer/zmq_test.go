package zmqpeer

import (
	"errors"
	"io/fs"
	"testing"

	"github.com/fantail-io/fantail/perf/peers/internal/peer"
)

func TestCompileErrorsAreToldApart(t *testing.T) {
	exit := errors.New("exit status 1")
	for _, said := range []string{
		"zmqpeer.h:17:10: fatal error: zmq.h: No such file or directory",
		"/usr/bin/ld: cannot find -lzmq: No such file or directory",
		"ld: library 'zmq' not found",
	} {
		if err := compileError(said, exit); !errors.Is(err, peer.ErrMissing) {
			t.Errorf("%q: %v", said, err)
		}
	}
	err := compileError("zmqpeer.c:1:1: error: expected ';'", exit)
	if errors.Is(err, peer.ErrMissing) || !errors.Is(err, exit) {
		t.Errorf("a broken source: %v", err)
	}
}

func TestSourcesAreEmbedded(t *testing.T) {
	for _, name := range []string{"csrc/zmqpeer.c", "csrc/zmqpeer.h"} {
		if b, err := fs.ReadFile(sources, name); err != nil || len(b) == 0 {
			t.Errorf("%s: %d bytes, %v", name, len(b), err)
		}
	}
}
