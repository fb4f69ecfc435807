package peer

import (
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/fantail-io/fantail/perf/peers/internal/child"
	"github.com/fantail-io/fantail/perf/peers/internal/load"
)

// toy is a peer in a few lines: its broker writes each message to every connection. It loses
// every tenth, and the last, if it is the lossy one; the mute one publishes nothing.
type toy string

const (
	sound toy = "sound"
	lossy toy = "lossy"
	mute  toy = "mute"
)

func TestMain(m *testing.M) {
	drivers := make(map[string]Driver)
	for _, x := range []toy{sound, lossy, mute} {
		drivers[x.Name()] = Driver{Serve: x.serve, Subscribe: x.subscribe}
	}
	child.Main(os.Args, Jobs(drivers))
	os.Exit(m.Run())
}

func (x toy) Name() string                          { return string(x) }
func (x toy) Check(context.Context) (string, error) { return "1", nil }
func (x toy) StartBroker(ctx context.Context, w load.Workload) (Broker, error) {
	return StartGo(ctx, x.Name(), w)
}
func (x toy) Subscribers(address string, w load.Workload) child.Command {
	return GoSubscribers(x.Name(), address, w)
}
func (x toy) Publisher(string, load.Workload) child.Command { panic("the broker publishes") }

// toyServer is the broker and its publisher.
type toyServer struct {
	toy
	net.Listener
	w     load.Workload
	conns []net.Conn
	n     int
}

var errMute = errors.New("it was told to say nothing")

func (x toy) serve(_ context.Context, w load.Workload) (Server, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	return &toyServer{toy: x, Listener: l, w: w}, err
}

func (s *toyServer) Address() string           { return s.Addr().String() }
func (s *toyServer) Publisher() load.Publisher { return s }
func (s *toyServer) Publish(_ context.Context, b []byte) error {
	for len(s.conns) < s.w.Subscribers { // the backlog holds them
		c, err := s.Accept()
		if err != nil {
			return err
		}
		s.conns = append(s.conns, c)
	}
	s.n++
	if s.toy == mute {
		return errMute
	}
	if s.toy == lossy && (s.n%10 == 0 || s.n == s.w.Messages) {
		return nil
	}
	for _, c := range s.conns {
		if _, err := c.Write(b); err != nil {
			return err
		}
	}
	return nil
}
func (s *toyServer) Send(context.Context) error   { return nil }
func (s *toyServer) Finish(context.Context) error { return nil }

type toySubscribers struct {
	conns []net.Conn
	sync.WaitGroup
}

func (x toy) subscribe(_ context.Context, address string, meters []*load.Meter) (io.Closer, error) {
	s := &toySubscribers{}
	for _, m := range meters {
		c, err := net.Dial("tcp", address)
		if err != nil {
			return nil, err
		}
		s.conns = append(s.conns, c)
		s.Go(func() {
			b := make([]byte, 100)
			for {
				if _, err := io.ReadFull(c, b); err != nil {
					return
				}
				m.Take(b)
			}
		})
	}
	return s, nil
}

func (s *toySubscribers) Close() error {
	for _, c := range s.conns {
		c.Close()
	}
	s.Wait()
	return nil
}

var toyWorkload = load.Workload{Name: "toy", Subscribers: 3, Bytes: 100, Messages: 1000}

func TestMeasure(t *testing.T) {
	m, err := Measure(t.Context(), sound, toyWorkload, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Messages != 1000 || m.Received != 3000 || m.Lost+m.Disorder+m.Torn != 0 || m.GaveUp {
		t.Errorf("%+v", m)
	}
	if m.Seconds <= 0 || m.CPU.Server <= 0 || m.CPU.Subscribers <= 0 || m.CPU.Publisher != 0 ||
		m.SubscriberPerS <= 0 || m.Latency != nil {
		t.Errorf("%+v", m)
	}
	if sum := m.PublishedPerS + m.DeliveredPerS; m.InOutPerS != sum ||
		m.DeliveredPerS < 2.99*m.PublishedPerS || m.DeliveredPerS > 3.01*m.PublishedPerS {
		t.Errorf("published %g, delivered %g, in and out %g", m.PublishedPerS, m.DeliveredPerS,
			m.InOutPerS)
	}
}

func TestMeasureLatencies(t *testing.T) {
	w := toyWorkload
	w.Rate, w.Messages = 5000, 200
	m, err := Measure(t.Context(), sound, w, Options{})
	if err != nil {
		t.Fatal(err)
	}
	if m.Latency.Count != 3*180 || m.Latency.P50 <= 0 || m.Latency.P99 < m.Latency.P50 ||
		m.Late.Count != 180 || m.Late.P50 > m.Latency.P50 {
		t.Errorf("latency %+v, late %+v", m.Latency, m.Late)
	}
}

func TestMeasureCountsLosses(t *testing.T) {
	m, err := Measure(t.Context(), lossy, toyWorkload, Options{Drain: 50 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	if m.Lost != 300 || m.Received != 2700 || m.Disorder != 297 || !m.GaveUp {
		t.Errorf("%+v", m)
	}
}

func TestMeasureFails(t *testing.T) {
	_, err := Measure(t.Context(), mute, toyWorkload, Options{})
	if err == nil || !strings.Contains(err.Error(), errMute.Error()) {
		t.Errorf("a publisher's error came as %v", err)
	}
	if _, err := Measure(t.Context(), toy("unknown"), toyWorkload, Options{}); err == nil {
		t.Error("a peer without a driver was measured")
	}
	if _, err := Measure(t.Context(), sound, load.Workload{}, Options{}); err == nil {
		t.Error("a workload without messages was measured")
	}
	why := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if _, err := Measure(ctx, sound, toyWorkload, Options{}); !errors.Is(err, why) {
		t.Errorf("got %v", err)
	}
}

func TestMissingError(t *testing.T) {
	err := error(&MissingError{Peer: "redis", What: "there is no redis-server", Install: "apt-get x"})
	if !errors.Is(err, ErrMissing) || !strings.Contains(err.Error(), "to have it: apt-get x") {
		t.Errorf("%v", err)
	}
}
