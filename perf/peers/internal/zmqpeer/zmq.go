// Package zmqpeer is ZeroMQ as a peer: libzmq's XPUB and SUB over TCP, without a broker.
//
// Fairness. Both ends are C, compiled when they are needed, from the sources in csrc: one
// process with the publisher and its I/O thread, one with all subscribers, a connection each,
// and one I/O thread for them. High-water marks are libzmq's default of 1,000 messages, and
// a full queue makes the publisher wait (ZMQ_XPUB_NODROP), so that nothing is lost. A message
// is one frame; the subscription is to everything.
//
// The publisher is in the "server's" process: what a broker would do happens there.
package zmqpeer

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fantail-io/fantail/perf/peers/internal/child"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/peer"
)

// Name is the peer's name.
const Name = "zeromq"

const install = "apt-get install libzmq3-dev gcc"

//go:embed csrc
var sources embed.FS

// Peer is ZeroMQ. Check must have been content before it is measured.
type Peer struct{ dir, program string }

// New makes the peer; its program is compiled into dir.
func New(dir string) *Peer {
	return &Peer{dir: filepath.Join(dir, Name), program: filepath.Join(dir, Name, "zmqpeer")}
}

// Name is zeromq.
func (*Peer) Name() string { return Name }

// Check compiles the program. The error Is peer.ErrMissing where a compiler or libzmq is not
// there.
func (p *Peer) Check(ctx context.Context) (string, error) {
	cc, err := exec.LookPath("cc")
	if err != nil {
		return "", &peer.MissingError{Peer: Name, What: "there is no C compiler (cc)",
			Install: install}
	}
	if err := os.CopyFS(p.dir, sources); err != nil && !errors.Is(err, os.ErrExist) {
		return "", fmt.Errorf("zmqpeer: %w", err)
	}
	out, err := exec.CommandContext(ctx, cc, "-O2", "-o", p.program,
		filepath.Join(p.dir, "csrc", "zmqpeer.c"), "-lzmq", "-lpthread").CombinedOutput()
	if err != nil {
		return "", compileError(string(out), err)
	}
	version, err := exec.CommandContext(ctx, p.program, "version").Output()
	if err != nil {
		return "", fmt.Errorf("zmqpeer: %w", err)
	}
	return "libzmq " + strings.TrimSpace(string(version)), nil
}

// compileError tells a missing library from a broken source.
func compileError(said string, err error) error {
	for _, missing := range []string{"zmq.h", "-lzmq", "library 'zmq'"} {
		if strings.Contains(said, missing) {
			return &peer.MissingError{Peer: Name, What: "libzmq's header or library is not there",
				Install: install}
		}
	}
	return fmt.Errorf("zmqpeer: cc: %w: %.500s", err, said)
}

// StartBroker starts the publisher's process.
func (p *Peer) StartBroker(ctx context.Context, w load.Workload) (peer.Broker, error) {
	return peer.StartReporting(ctx, child.Command{Path: p.program, Args: []string{"pub",
		strconv.Itoa(w.Subscribers), strconv.Itoa(w.Bytes), strconv.Itoa(w.Messages),
		strconv.FormatFloat(w.Seconds, 'f', -1, 64), strconv.Itoa(w.Rate)}})
}

// Subscribers is the other process.
func (p *Peer) Subscribers(address string, w load.Workload) child.Command {
	latencies := "0"
	if w.Latencies() {
		latencies = "1"
	}
	return child.Command{Path: p.program, Args: []string{"sub", strconv.Itoa(w.Subscribers),
		strconv.Itoa(w.Bytes), latencies, address}}
}

// Publisher is never asked for: it is the broker.
func (p *Peer) Publisher(string, load.Workload) child.Command {
	panic("zmqpeer: the publisher is in the broker's process")
}
