// Package redispeer is Redis as a peer: redis-server's PUBLISH and SUBSCRIBE.
//
// Fairness. The server keeps its defaults but for persistence, which is off, and the output
// limit of subscribers, which is lifted: Redis has no back pressure from a subscriber, and
// would disconnect a slow one. The subscribers are bare sockets, a goroutine each, that read
// 64 KiB at a time and compare each message's head with the one they expect: less than any
// client library does. The publisher pipelines, and reads each reply, which says how many
// subscribers the message went to.
//
// Not here: streams, cluster, RESP3.
package redispeer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/fantail-io/fantail/perf/peers/internal/child"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/peer"
	"github.com/fantail-io/fantail/perf/peers/internal/resp"
)

// Name is the peer's name.
const Name = "redis"

const program = "redis-server"

// startAttempts bounds how often another port is tried.
const startAttempts = 3

// Peer is Redis. Dir is where redis-server may write.
type Peer struct{ Dir string }

// Name is redis.
func (Peer) Name() string { return Name }

// Check looks for redis-server. The error Is peer.ErrMissing where there is none.
func (Peer) Check(ctx context.Context) (string, error) {
	out, err := exec.CommandContext(ctx, program, "--version").Output()
	if errors.Is(err, exec.ErrNotFound) {
		return "", &peer.MissingError{Peer: Name, What: "there is no " + program,
			Install: "apt-get install redis-server"}
	}
	if err != nil {
		return "", fmt.Errorf("redispeer: %s --version: %w", program, err)
	}
	for _, word := range strings.Fields(string(out)) {
		if v, ok := strings.CutPrefix(word, "v="); ok {
			return program + " " + v, nil
		}
	}
	return program, nil
}

// Subscribers are bare sockets.
func (Peer) Subscribers(address string, w load.Workload) child.Command {
	return peer.GoSubscribers(Name, address, w)
}

// Publisher is a bare socket.
func (Peer) Publisher(address string, w load.Workload) child.Command {
	return peer.GoPublisher(Name, address, w)
}

// Driver is what runs in the children.
func Driver() peer.Driver { return peer.Driver{Subscribe: subscribe, Publish: publish} }

// broker is a redis-server, and a connection to ask it.
type broker struct {
	process *child.Process
	address string
	conn    *conn
}

// StartBroker starts redis-server on a free port.
func (p Peer) StartBroker(ctx context.Context, _ load.Workload) (peer.Broker, error) {
	var failures []error
	for range startAttempts { // somebody else may take the port between our look and its bind
		b, err := p.start(ctx)
		if err == nil {
			return b, nil
		}
		failures = append(failures, err)
		if ctx.Err() != nil {
			break
		}
	}
	return nil, errors.Join(failures...)
}

func (p Peer) start(ctx context.Context) (*broker, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("redispeer: %w", err)
	}
	dir, err := filepath.Abs(p.Dir)
	if err != nil {
		return nil, fmt.Errorf("redispeer: %w", err)
	}
	process, err := child.Start(child.Command{Path: program, Args: []string{"--bind", host,
		"--port", port, "--save", "", "--appendonly", "no", "--daemonize", "no", "--dir", dir,
		"--client-output-buffer-limit", "pubsub 0 0 0"}})
	if err != nil {
		return nil, err
	}
	b := &broker{process: process, address: address}
	if err := process.Expect(ctx, "Ready to accept connections"); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	if b.conn, err = dial(ctx, address); err != nil {
		return nil, errors.Join(err, b.Close())
	}
	return b, nil
}

func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", fmt.Errorf("redispeer: %w", err)
	}
	defer l.Close()
	return l.Addr().String(), nil
}

// Address is the server's host and port.
func (b *broker) Address() string { return b.address }

// Publisher is none: it is a process of its own.
func (b *broker) Publisher() *child.Process { return nil }

// Usage asks the server, which reads its own rusage.
func (b *broker) Usage(context.Context) (peer.Usage, error) {
	cpu, err := b.info("cpu")
	if err != nil {
		return peer.Usage{}, err
	}
	memory, err := b.info("memory")
	if err != nil {
		return peer.Usage{}, err
	}
	return parseUsage(cpu + memory)
}

func (b *broker) info(section string) (string, error) {
	var r resp.Reply
	if err := b.conn.ask(&r, "INFO", section); err != nil {
		return "", err
	}
	return string(r.Bytes), nil
}

// parseUsage finds what it needs in lines of "name:value".
func parseUsage(info string) (u peer.Usage, err error) {
	seen := 0
	for line := range strings.Lines(info) {
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		v, bad := strconv.ParseFloat(value, 64)
		switch name {
		case "used_cpu_sys", "used_cpu_user":
			u.CPUSeconds += v
		case "used_memory_rss":
			u.RSSBytes = uint64(v)
		default:
			continue
		}
		if bad != nil {
			return u, fmt.Errorf("redispeer: INFO: %q", line)
		}
		seen++
	}
	if seen != 3 {
		return u, fmt.Errorf("redispeer: INFO has %d of the 3 lines wanted", seen)
	}
	return u, nil
}

// Close ends the server.
func (b *broker) Close() error {
	if b.conn != nil {
		_ = b.conn.Close()
	}
	return b.process.Close()
}

var _ io.Closer = (*broker)(nil)
