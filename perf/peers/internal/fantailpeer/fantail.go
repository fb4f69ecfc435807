// Package fantailpeer is Fantail itself as a peer: the engine with its native door in the
// broker's process, subscribers of netio/client in one Group.
//
// Variants. In fantail the publisher is where an application that embeds the engine has it,
// in the engine's process. In fantail-tcp it is a process of its own that publishes through
// netio/client over TCP, as the publishers of NATS and Redis do.
//
// Fairness. Engine, door and client keep their defaults; the policy is Wait, so that a full
// stream holds the publisher back and nothing is lost. Each message is published by a call of
// its own.
package fantailpeer

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/engine/door/native"
	"github.com/fantail-io/fantail/netio/client"
	"github.com/fantail-io/fantail/perf/peers/internal/child"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/peers/internal/peer"
)

// The names of this package's peers.
const (
	Name    = "fantail"
	NameTCP = "fantail-tcp"
)

// closeTimeout bounds how long an engine may drain: what matters has been delivered.
const closeTimeout = time.Second

// Peer is Fantail. TCP puts the publisher into a process of its own.
type Peer struct{ TCP bool }

// Name is fantail or fantail-tcp.
func (p Peer) Name() string {
	if p.TCP {
		return NameTCP
	}
	return Name
}

// Check is always content: the engine is linked in.
func (p Peer) Check(context.Context) (string, error) { return "this source tree", nil }

// StartBroker starts an engine and its door.
func (p Peer) StartBroker(ctx context.Context, w load.Workload) (peer.Broker, error) {
	return peer.StartGo(ctx, p.Name(), w)
}

// Subscribers are connections of netio/client.
func (p Peer) Subscribers(address string, w load.Workload) child.Command {
	return peer.GoSubscribers(p.Name(), address, w)
}

// Publisher is a connection of netio/client.
func (p Peer) Publisher(address string, w load.Workload) child.Command {
	return peer.GoPublisher(p.Name(), address, w)
}

// Driver is what runs in the children.
func (p Peer) Driver() peer.Driver {
	return peer.Driver{Subscribe: subscribe, Publish: publish,
		Serve: func(_ context.Context, w load.Workload) (peer.Server, error) {
			return serve(w, p.TCP)
		}}
}

// broker is an engine and its door.
type broker struct {
	engine    *engine.Engine
	door      *native.Listener
	publisher load.Publisher
}

func serve(w load.Workload, tcp bool) (peer.Server, error) {
	config := engine.Config{}
	if w.Bytes > 128<<10 {
		config.BlockBytes = 1 << 20 // a message must fit into a block
	}
	e, err := engine.New(config)
	if err != nil {
		return nil, fmt.Errorf("fantailpeer: %w", err)
	}
	b := &broker{engine: e}
	b.door, err = native.Listen(e, "tcp4", "127.0.0.1:0", native.Config{
		MaxConnections: w.Subscribers + 16, MaxPerAddress: w.Subscribers + 16})
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fantailpeer: %w", err), b.Close())
	}
	if !tcp {
		p, err := e.Publisher(load.Topic)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("fantailpeer: %w", err), b.Close())
		}
		b.publisher = &embedded{publisher: p}
	}
	return b, nil
}

// Address is the door's.
func (b *broker) Address() string { return b.door.Addr().String() }

// Publisher is the one in the engine's process, or nil.
func (b *broker) Publisher() load.Publisher { return b.publisher }

// Close ends the engine, and with it the door.
func (b *broker) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), closeTimeout)
	defer cancel()
	_ = b.engine.Close(ctx) // what was not delivered has been counted as lost
	return nil
}

// embedded is a publisher in the engine's process.
type embedded struct{ publisher *engine.Publisher }

// Publish copies b into the stream.
func (p *embedded) Publish(ctx context.Context, b []byte) error {
	err := p.publisher.Publish(b)
	if err == engine.ErrBackPressure {
		return p.publisher.PublishContext(ctx, b)
	}
	return err
}

// Send has nothing to do.
func (p *embedded) Send(context.Context) error { return nil }

// Finish has nothing to do: what is published is in the stream.
func (p *embedded) Finish(context.Context) error { return nil }

// Close closes the publisher.
func (p *embedded) Close() error { return p.publisher.Close() }

// remote is a publisher in a process of its own.
type remote struct {
	client    *client.Client
	publisher *client.Publisher
}

func publish(ctx context.Context, address string, _ load.Workload) (load.Publisher, error) {
	c, err := client.Dial(ctx, address, client.Config{Reconnect: client.Reconnect{Disabled: true}})
	if err != nil {
		return nil, fmt.Errorf("fantailpeer: %w", err)
	}
	p, err := c.Publisher(load.Topic)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("fantailpeer: %w", err), c.Close())
	}
	return &remote{client: c, publisher: p}, nil
}

// Publish copies b into the client's batch, which the client sends by itself.
func (p *remote) Publish(ctx context.Context, b []byte) error {
	return p.publisher.PublishContext(ctx, b)
}

// Send has nothing to do.
func (p *remote) Send(context.Context) error { return nil }

// Finish waits until the server has everything.
func (p *remote) Finish(ctx context.Context) error { return p.client.Flush(ctx) }

// Close closes the connection.
func (p *remote) Close() error { return p.client.Close() }

// subscribers are the subscriptions of all meters, polled by one goroutine.
type subscribers struct {
	client *client.Client
	group  *client.Group
	meters map[*client.Subscription]*load.Meter
	polled chan error // what ended the polling
}

func subscribe(ctx context.Context, address string, meters []*load.Meter) (io.Closer, error) {
	s := &subscribers{meters: make(map[*client.Subscription]*load.Meter),
		polled: make(chan error, 1)}
	err := s.connect(ctx, address, meters)
	if err != nil {
		s.polled <- nil
		return nil, errors.Join(fmt.Errorf("fantailpeer: %w", err), s.Close())
	}
	go func() { s.polled <- s.poll(context.WithoutCancel(ctx)) }()
	return s, nil
}

func (s *subscribers) connect(ctx context.Context, address string, meters []*load.Meter) error {
	var err error
	if s.group, err = client.NewGroup(client.GroupConfig{}); err != nil {
		return err
	}
	s.client, err = client.Dial(ctx, address,
		client.Config{Reconnect: client.Reconnect{Disabled: true}})
	if err != nil {
		return err
	}
	for _, m := range meters {
		sub, err := s.client.Subscribe(ctx, load.Topic,
			client.SubscribeOptions{Policy: engine.Wait()})
		if err != nil {
			return err
		}
		s.meters[sub] = m
		if err := s.group.Add(sub); err != nil {
			return err
		}
	}
	return nil
}

// poll hands messages to meters until the group is closed. A gap shows as a loss.
func (s *subscribers) poll(ctx context.Context) error {
	var last *client.Subscription
	var meter *load.Meter
	take := func(sub *client.Subscription, m *client.Message) {
		if sub != last {
			last, meter = sub, s.meters[sub]
		}
		if !m.IsGap() {
			meter.Take(m.Payload)
		}
	}
	for {
		if _, err := s.group.Poll(ctx, take); err != nil {
			if errors.Is(err, client.ErrClosed) {
				return nil
			}
			return fmt.Errorf("fantailpeer: poll: %w", err)
		}
	}
}

// Close closes the subscriptions and waits for the polling to end; the error is what ended it
// before.
func (s *subscribers) Close() error {
	if s.group != nil {
		_ = s.group.Close()
	}
	err := <-s.polled
	if s.client != nil {
		_ = s.client.Close()
	}
	return err
}
