package peer

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/fantail-io/fantail/perf/peers/internal/child"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
)

// Peer is a messaging system that can be measured.
type Peer interface {
	// Name is what the command line and reports call it.
	Name() string
	// Check says which version there is. The error Is ErrMissing where something has to be
	// installed first.
	Check(ctx context.Context) (version string, err error)
	// StartBroker starts the broker's process, ready for w.
	StartBroker(ctx context.Context, w load.Workload) (Broker, error)
	// Subscribers is the process that holds w's subscribers, one connection each.
	Subscribers(address string, w load.Workload) child.Command
	// Publisher is the process that publishes; it is not asked for where the broker has one.
	Publisher(address string, w load.Workload) child.Command
}

// Broker is a running broker.
type Broker interface {
	Address() string
	// Publisher is the process that publishes, if it is the broker's own. Otherwise nil.
	Publisher() *child.Process
	Usage(ctx context.Context) (Usage, error)
	Close() error
}

// Usage is what a process has consumed.
type Usage struct {
	CPUSeconds float64 `json:"cpu_s"`
	RSSBytes   uint64  `json:"rss_bytes"`
}

// ErrMissing says that a peer cannot run here.
var ErrMissing = errors.New("peer: not installed")

// MissingError names what is missing and how to get it. It Is ErrMissing.
type MissingError struct{ Peer, What, Install string }

func (e *MissingError) Error() string {
	return fmt.Sprintf("%s: %s; to have it: %s", e.Peer, e.What, e.Install)
}

// Is makes a MissingError match ErrMissing.
func (e *MissingError) Is(target error) bool { return target == ErrMissing }

// Driver is the Go side of a peer: what runs inside the processes of this program. A field
// is nil where another program does that part.
type Driver struct {
	// Serve starts a broker for w in this process.
	Serve func(ctx context.Context, w load.Workload) (Server, error)
	// Subscribe opens one connection for each meter, subscribes it to load.Topic, and returns
	// when all are in force. Closing returns when no meter is used any more.
	Subscribe func(ctx context.Context, address string, meters []*load.Meter) (io.Closer, error)
	// Publish connects a publisher for w.
	Publish func(ctx context.Context, address string, w load.Workload) (load.Publisher, error)
}

// Server is a broker in this process.
type Server interface {
	Address() string
	// Publisher is one inside the broker's process; nil where the peer has none.
	Publisher() load.Publisher
	Close() error
}
