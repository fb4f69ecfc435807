package peer

import (
	"context"
	"fmt"
	"sync"

	"github.com/fantail-io/fantail/perf/peers/internal/child"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
	"github.com/fantail-io/fantail/perf/usage"
)

// The roles of this program's children, and what they are asked.
const (
	roleBroker      = "broker"
	roleSubscribers = "subscribers"
	rolePublisher   = "publisher"

	askUsage   = "usage"
	askPublish = "publish"
	askStop    = "stop"
)

// task is a child's configuration.
type task struct {
	Peer     string        `json:"peer"`
	Address  string        `json:"address"`
	Workload load.Workload `json:"workload"`
}

// ready is a child's first report.
type ready struct {
	Address string `json:"address,omitempty"`
	// Publishes says that this broker has the publisher in it.
	Publishes bool `json:"publishes,omitempty"`
}

// readings are what the subscribers' process reports in the end.
type readings struct {
	Meters    []load.Reading `json:"meters"`
	Latencies load.Bars      `json:"latencies,omitempty"`
	Usage     Usage          `json:"usage"`
}

// published is what the publisher's process reports.
type published struct {
	load.Published
	Usage Usage `json:"usage"`
}

// Jobs are what children of this program do, for the peers of drivers.
func Jobs(drivers map[string]Driver) map[string]child.Job {
	with := func(do func(s *child.Session, t task, d Driver) error) child.Job {
		return func(s *child.Session) error {
			var t task
			if err := s.Config(&t); err != nil {
				return err
			}
			d, ok := drivers[t.Peer]
			if !ok {
				return fmt.Errorf("there is no peer %q", t.Peer)
			}
			return do(s, t, d)
		}
	}
	return map[string]child.Job{roleBroker: with(serve), roleSubscribers: with(subscribe),
		rolePublisher: with(publish)}
}

func serve(s *child.Session, t task, d Driver) error {
	server, err := d.Serve(s.Context(), t.Workload)
	if err != nil {
		return err
	}
	defer server.Close()
	p := server.Publisher()
	if p != nil {
		defer p.Close()
	}
	if err := s.Report(ready{Address: server.Address(), Publishes: p != nil}); err != nil {
		return err
	}
	return answer(s, t.Workload, p)
}

func publish(s *child.Session, t task, d Driver) error {
	p, err := d.Publish(s.Context(), t.Address, t.Workload)
	if err != nil {
		return err
	}
	defer p.Close()
	if err := s.Report(ready{}); err != nil {
		return err
	}
	return answer(s, t.Workload, p)
}

// answer does what the parent asks until it hangs up.
func answer(s *child.Session, w load.Workload, p load.Publisher) error {
	for {
		line, err := s.Next()
		if err != nil {
			return nil // the parent has gone, or is done with us
		}
		switch {
		case line == askUsage:
			err = s.Report(ownUsage())
		case line == askPublish && p != nil:
			before := ownUsage()
			var r published
			if r.Published, err = load.Publish(s.Context(), w, p); err == nil {
				r.Usage = ownUsage().since(before)
				err = s.Report(r)
			}
		default:
			err = fmt.Errorf("not a command here: %q", line)
		}
		if err != nil {
			return err
		}
	}
}

func subscribe(s *child.Session, t task, d Driver) error {
	var left sync.WaitGroup
	meters := make([]*load.Meter, t.Workload.Subscribers)
	for i := range meters {
		left.Add(1)
		meters[i] = load.NewMeter(t.Workload, left.Done)
	}
	conns, err := d.Subscribe(s.Context(), t.Address, meters)
	if err != nil {
		return err
	}
	before := ownUsage()
	if err := s.Report(ready{}); err != nil {
		return err
	}
	all := make(chan struct{})
	go func() {
		left.Wait()
		close(all)
	}()
	select {
	case <-all:
	case <-s.Commands(): // stop, or the parent has gone: some will never be done
	}
	r := readings{Usage: ownUsage().since(before)}
	if err := conns.Close(); err != nil {
		return err
	}
	merged := load.NewLatencies()
	for _, m := range meters {
		r.Meters = append(r.Meters, m.Reading())
		merged.Merge(m.Latencies())
	}
	r.Latencies = merged.Bars()
	return s.Report(r)
}

func ownUsage() Usage {
	rss, _ := usage.Resident()
	return Usage{CPUSeconds: usage.Now().CPU().Seconds(), RSSBytes: rss}
}

// since is what was consumed after before.
func (u Usage) since(before Usage) Usage {
	return Usage{CPUSeconds: u.CPUSeconds - before.CPUSeconds, RSSBytes: u.RSSBytes}
}

// goBroker is a broker that is a child of this program.
type goBroker struct {
	process *child.Process
	ready
}

// StartGo starts the broker of the peer so named as a child of this program.
func StartGo(ctx context.Context, name string, w load.Workload) (Broker, error) {
	return StartReporting(ctx, command(roleBroker, name, "", w))
}

// StartReporting starts a broker that speaks as children of this program do.
func StartReporting(ctx context.Context, c child.Command) (Broker, error) {
	p, err := child.Start(c)
	if err != nil {
		return nil, err
	}
	b := &goBroker{process: p}
	if err := p.Receive(ctx, &b.ready); err != nil {
		_ = p.Close()
		return nil, err
	}
	return b, nil
}

// GoSubscribers is the command for the subscribers of the peer so named.
func GoSubscribers(name, address string, w load.Workload) child.Command {
	return command(roleSubscribers, name, address, w)
}

// GoPublisher is the command for the publisher of the peer so named.
func GoPublisher(name, address string, w load.Workload) child.Command {
	return command(rolePublisher, name, address, w)
}

func command(role, name, address string, w load.Workload) child.Command {
	return child.Command{Args: []string{role},
		Config: task{Peer: name, Address: address, Workload: w}}
}

// Address is where subscribers and publishers connect.
func (b *goBroker) Address() string { return b.ready.Address }

// Publisher is the broker's own process, if it publishes.
func (b *goBroker) Publisher() *child.Process {
	if b.Publishes {
		return b.process
	}
	return nil
}

// Usage asks the process.
func (b *goBroker) Usage(ctx context.Context) (u Usage, err error) {
	return u, b.process.Ask(ctx, askUsage, &u)
}

// Close ends the process.
func (b *goBroker) Close() error { return b.process.Close() }
