package main

import (
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/engine/door/native"
	"github.com/fantail-io/fantail/netio"
	"github.com/fantail-io/fantail/ring"
)

// debugView is /debug/stats: the snapshots as they are, with the names of policies and
// reasons in place of their numbers. A field of an outer struct hides the inner one of the
// same name.
type debugView struct {
	Time   time.Time
	Engine engineView
	Door   doorView
}

type engineView struct {
	engine.Snapshot
	Subscriptions []subscriptionView
}

type subscriptionView struct {
	engine.SubscriptionStats
	Policy    string
	DroppedBy map[string]uint64
}

type doorView struct {
	Address string
	native.Snapshot
	Shards []shardView
}

type shardView struct {
	netio.ShardStats
	Sizes map[string]uint64 // submissions by their size: "64 KiB" are those from there on
	Conns []connView
}

type connView struct {
	netio.ConnStats
	Policy    string
	DroppedBy map[string]uint64
}

func (s *server) view() debugView {
	v := debugView{Time: time.Now(), Engine: engineView{Snapshot: s.engine.Snapshot()},
		Door: doorView{Address: s.door.Addr().String(), Snapshot: s.door.Snapshot()}}
	v.Engine.Subscriptions = []subscriptionView{}
	for _, st := range v.Engine.Snapshot.Subscriptions {
		v.Engine.Subscriptions = append(v.Engine.Subscriptions, subscriptionView{
			SubscriptionStats: st, Policy: policyText(st.Policy), DroppedBy: byReason(st.DroppedBy)})
	}
	for _, st := range v.Door.Snapshot.Shards {
		v.Door.Shards = append(v.Door.Shards, shardViewOf(st))
	}
	return v
}

func shardViewOf(st netio.ShardStats) shardView {
	v := shardView{ShardStats: st, Sizes: make(map[string]uint64), Conns: []connView{}}
	for class, n := range st.Sizes {
		if n > 0 {
			v.Sizes[bytesText(1<<class/2)] = n
		}
	}
	for _, c := range st.Conns {
		v.Conns = append(v.Conns, connView{ConnStats: c, Policy: policyText(c.Policy),
			DroppedBy: byReason(c.DroppedBy)})
	}
	return v
}

// byReason names the reasons of what was dropped.
func byReason(dropped [ring.GapReasons]uint64) map[string]uint64 {
	m := make(map[string]uint64)
	for reason, n := range dropped {
		if n > 0 {
			m[ring.GapReason(reason).String()] = n
		}
	}
	return m
}
