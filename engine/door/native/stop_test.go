//go:build unix

package native

import (
	"fmt"
	"syscall"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
)

// signal sends the child a signal, as kill does.
func (c *child) signal(s syscall.Signal) {
	c.t.Helper()
	if err := c.cmd.Process.Signal(s); err != nil {
		c.t.Fatal(err)
	}
}

// until polls the door's figures, each time after a turn of its shards.
func until(t testing.TB, l *Listener, what string, ok func(Snapshot) bool) {
	t.Helper()
	for deadline := time.Now().Add(20 * time.Second); !ok(l.Snapshot()); {
		if time.Now().After(deadline) {
			t.Fatalf("no %s", what)
		}
	}
}

// F04: one subscriber of eight is stopped with SIGSTOP while more is published than all
// buffers hold. Whatever its policy is, the others get everything in order; and when it is
// woken it gets all of its messages, or exact news of those that it lost, or the reason why
// it was cut.
func TestStoppedSubscriberDelaysNobody(t *testing.T) {
	for _, c := range []struct {
		policy ring.Policy
		gates  bool // the publishers
		cut    native.Code
	}{
		{policy: waitPolicy, gates: true},
		{policy: ring.Policy{Kind: ring.PolicyWaitFor, For: 50 * time.Millisecond}},
		{policy: ring.Policy{Kind: ring.PolicyDropNewest, MaxLag: 1000}},
		{policy: ring.Policy{Kind: ring.PolicyDropOldest, MaxLag: 1000}},
		{policy: ring.Policy{Kind: ring.PolicyDropOldest}}, // bounded by the stream alone
		{policy: ring.Policy{Kind: ring.PolicyConflate}},
		{policy: ring.Policy{Kind: ring.PolicyDisconnect, MaxLag: 1000}, cut: native.CodeSlowConsumer},
	} {
		t.Run(fmt.Sprintf("%v-%d", c.policy.Kind, c.policy.MaxLag), func(t *testing.T) {
			stopOne(t, c.policy, c.gates, c.cut)
		})
	}
}

func stopOne(t *testing.T, policy ring.Policy, gates bool, cut native.Code) {
	const sources = 4
	each := full(7_000, 4_500) // 28 MB; kernels buffer up to 10 for a peer
	l := listen(t, testEngine(t), Config{})
	var readers []*reader
	for range 7 {
		readers = append(readers, startReader(t, l, "stop.>", waitPolicy))
	}
	stopped := startChild(t, "subscriber", append(policySettings(policy),
		"ADDRESS="+l.Addr().String(), "PATTERN=stop.>", fmt.Sprintf("TOTAL=%d", sources*each),
		fmt.Sprintf("EACH=%d", each))...)
	stopped.expect("ready")
	stopped.signal(syscall.SIGSTOP)
	want := make(map[uint32]uint64)
	published := make(chan error, sources)
	for i := range uint32(sources) {
		s := startSource(t, l, fmt.Sprintf("stop.%d", i), i+1, 1000, 16)
		want[i+1] = uint64(each)
		go func() {
			err := s.publish(each)
			if err == nil {
				err = s.sync()
			}
			published <- err
		}()
	}
	switch {
	case gates:
		until(t, l, "back pressure", func(s Snapshot) bool { return s.Refused > 0 })
		stopped.signal(syscall.SIGCONT)
	case cut != native.CodeNone:
		until(t, l, "cut", func(s Snapshot) bool { return s.Rejected[cut.String()] == 1 })
		stopped.signal(syscall.SIGCONT)
	}
	for range sources {
		if err := <-published; err != nil {
			t.Fatal(err)
		}
	}
	for _, r := range readers {
		r.complete(t, want, false)
	}
	if !gates && cut == native.CodeNone {
		stopped.signal(syscall.SIGCONT)
	}
	g := stopped.got()
	t.Logf("the stopped one: %d messages, %d lost", g.messages, g.lost)
	switch {
	case g.err != "<nil>" || g.code != cut:
		t.Errorf("the stopped one: %+v, want ERROR %v", g, cut)
	case cut == native.CodeNone && g.messages+g.lost != uint64(sources*each):
		t.Errorf("the stopped one has %d and lost %d of %d", g.messages, g.lost, sources*each)
	case policy.Kind == ring.PolicyWait && g.lost != 0:
		t.Errorf("the stopped one lost %d under policy wait", g.lost)
	case policy.Kind != ring.PolicyWait && cut == native.CodeNone && g.lost == 0:
		t.Errorf("nothing was lost: it was not stopped for long enough to test anything")
	}
}
