package client

import (
	"context"
	"errors"
	"reflect"
	"testing"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
)

// groups runs a test with each way to poll that there is here.
func groups(t *testing.T, test func(t *testing.T, g *Group)) {
	t.Helper()
	for name, make := range map[string]func() (backend, error){
		"native":   func() (backend, error) { return newBackend(GroupConfig{ReadBytes: 4 << 10}) },
		"portable": func() (backend, error) { return newPortableGroup(GroupConfig{}), nil },
	} {
		t.Run(name, func(t *testing.T) {
			b, err := make()
			if err != nil {
				t.Fatal(err)
			}
			g := &Group{backend: b}
			defer g.Close()
			test(t, g)
		})
	}
}

func addTest(t testing.TB, g *Group, s *Subscription) *Subscription {
	t.Helper()
	if err := g.Add(s); err != nil {
		t.Fatal(err)
	}
	return s
}

// gather polls until each of its subscriptions has as many messages and gaps as are wanted.
func gather(t testing.TB, g *Group, want map[*Subscription]int) map[*Subscription][]got {
	t.Helper()
	all := make(map[*Subscription][]got)
	enough := func() bool {
		for s, n := range want {
			if len(all[s]) < n {
				return false
			}
		}
		return true
	}
	ctx := patient(t)
	for !enough() {
		n, err := g.Poll(ctx, func(s *Subscription, m *Message) { all[s] = append(all[s], keep(m)) })
		if err != nil || n == 0 {
			t.Fatalf("%d, %v; so far %v", n, err, all)
		}
	}
	return all
}

func TestGroup(t *testing.T) {
	groups(t, func(t *testing.T, g *Group) {
		stream, want := sample()
		c := dialTest(t, serve(t, control, sending(stream)), Config{})
		wanted := make(map[*Subscription]int)
		for range 5 {
			wanted[addTest(t, g, subscribeTest(t, c, ">"))] = len(want)
		}
		for s, all := range gather(t, g, wanted) {
			if !reflect.DeepEqual(all, want) {
				t.Errorf("%v", all)
			}
			if st := s.Stats(); st.Messages != 7 || st.Gaps != 1 || st.Bytes != uint64(len(stream)) {
				t.Errorf("%+v", st)
			}
		}
	})
}

// What a subscription had read before it joined is not lost.
func TestGroupTakesWhatWasRead(t *testing.T) {
	groups(t, func(t *testing.T, g *Group) {
		stream, want := sample()
		c := dialTest(t, serve(t, control, sending(stream)), Config{})
		s := subscribeTest(t, c, ">")
		first := collect(t, s, 2)
		addTest(t, g, s)
		all := append(first, gather(t, g, map[*Subscription]int{s: len(want) - 2})[s]...)
		if !reflect.DeepEqual(all, want) {
			t.Errorf("%v", all)
		}
	})
}

// Frames longer than the read buffer, split over many reads, of several members at once.
func TestGroupLongMessages(t *testing.T) {
	groups(t, func(t *testing.T, g *Group) {
		var stream []byte
		for i := range uint64(20) {
			stream = append(stream, data(i+1, string(make([]byte, 3000*int(i))))...)
		}
		c := dialTest(t, serve(t, control, sending(stream)), Config{ReadBytes: 4 << 10})
		want := make(map[*Subscription]int)
		for range 3 {
			want[addTest(t, g, subscribeTest(t, c, ">"))] = 20
		}
		for _, all := range gather(t, g, want) {
			for i, m := range all {
				if m.Sequence != uint64(i+1) || len(m.Payload) != 3000*i {
					t.Errorf("%d: sequence %d, %d bytes", i, m.Sequence, len(m.Payload))
				}
			}
		}
	})
}

func TestGroupReconnects(t *testing.T) {
	groups(t, func(t *testing.T, g *Group) {
		c := dialTest(t, serve(t, control, once(streamID, 1, data(1, "x")),
			once(streamID, 5, data(5, "y")), once(99, 1, data(1, "z")), sending(nil)), fast())
		s := addTest(t, g, subscribeTest(t, c, ">"))
		all := gather(t, g, map[*Subscription]int{s: 5})[s]
		want := []got{
			{1, "", "x", Gap{}},
			{2, "", "", Gap{First: 2, Last: 4, Count: 3, Reason: ring.GapReconnect}},
			{5, "", "y", Gap{}},
			{0, "", "", Gap{Reason: ring.GapReconnect}},
			{1, "", "z", Gap{}},
		}
		if !reflect.DeepEqual(all[:5], want) {
			t.Errorf("%v", all)
		}
	})
}

// A member that ends is told of once, and the others go on.
func TestGroupMemberEnds(t *testing.T) {
	groups(t, func(t *testing.T, g *Group) {
		more := make(chan struct{})
		slow := append(data(1, "x"), native.AppendError(nil, native.ErrSlowConsumer)...)
		c := dialTest(t, serve(t, control, once(streamID, 1, slow), func(p *peer) {
			p.subscribed(streamID, 1)
			<-more
			p.send(data(1, "y"))
			p.untilEnd()
		}), fast())
		bad := addTest(t, g, subscribeTest(t, c, "bad"))
		good := addTest(t, g, subscribeTest(t, c, "good"))
		gather(t, g, map[*Subscription]int{bad: 1})
		var end *MemberError
		if _, err := g.Poll(patient(t), nil); !errors.As(err, &end) || end.Subscription != bad ||
			!errors.Is(err, native.ErrSlowConsumer) {
			t.Fatalf("%v", err)
		}
		close(more)
		gather(t, g, map[*Subscription]int{good: 1})
		bad.Close()
		ctx, cancel := context.WithTimeout(context.Background(), 5*time.Millisecond)
		defer cancel()
		if n, err := g.Poll(ctx, nil); n != 0 || err != context.DeadlineExceeded {
			t.Errorf("%d, %v", n, err)
		}
	})
}

func TestGroupHeartbeats(t *testing.T) {
	groups(t, func(t *testing.T, g *Group) {
		config := fast()
		config.HeartbeatTimeout = minHeartbeatTimeout
		answered := make(chan bool, 1)
		c := dialTest(t, serve(t, control, func(p *peer) {
			p.subscribed(streamID, 1)
			p.send(native.AppendHeartbeat(nil, native.Heartbeat{Sequence: 3}))
			h, _, _ := p.next()
			answered <- h.Sequence == 3 && h.Flags == native.FlagReply
			for ok := true; ok; { // and is silent from now on
				_, _, ok = p.next()
			}
		}, func(p *peer) {
			p.subscribed(streamID, 9)
			p.send(data(9, "x"))
			p.untilEnd()
		}), config)
		s := addTest(t, g, subscribeTest(t, c, ">"))
		all := gather(t, g, map[*Subscription]int{s: 2})[s]
		if !all[0].isReconnect() || all[1].Sequence != 9 || !<-answered {
			t.Errorf("%v", all)
		}
	})
}
