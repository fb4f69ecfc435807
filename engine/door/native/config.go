package native

import (
	"fmt"
	"slices"
	"time"

	"github.com/fantail-io/fantail/netio"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
	"github.com/fantail-io/fantail/ring/wait"
)

// Config bounds what peers may do. The zero Config works.
type Config struct {
	// Shards is the number of threads that serve connections: 1 to 256. Zero: half of the
	// cores, at least 1.
	Shards int
	// Sender is how bytes enter the kernel: auto, writev, uring or portable. Empty: auto.
	Sender string
	// Wait is what an idle shard does. Zero: wait.Adaptive.
	Wait wait.Strategy
	// CPUs pins the shards to these cores, in turn. Empty: no pinning.
	CPUs []int
	// SubmitBytes bounds one submission to one socket. Zero: 128 KiB.
	SubmitBytes int

	// Token is a secret that clients must show. Empty: none is asked for. At most 256 bytes.
	Token []byte
	// DefaultPolicy serves subscribers that choose none. Zero: DropOldest.
	DefaultPolicy ring.Policy
	// Policies are those that subscribers may choose. Empty: all. A public server leaves out
	// wait and wait-for, with which a subscriber may hold publishers back.
	Policies []ring.PolicyKind
	// MaxConnections bounds open connections. Zero: 10,000.
	MaxConnections int
	// MaxPerAddress bounds open connections from one address. Zero: 4,096.
	MaxPerAddress int
	// MaxSubscriptions bounds the patterns of one connection. Zero: 10,000.
	MaxSubscriptions int
	// MaxTopics bounds the topics that one connection may publish on. Zero: 10,000.
	MaxTopics int
	// MaxFrameBytes bounds a frame from a peer, header included: 64 B to 1 MiB. Zero: the
	// engine's largest message.
	MaxFrameBytes int
	// HandshakeTimeout is how long a peer may take from its connection to a whole HELLO,
	// however it spreads its bytes: 10 ms to 1 min. Zero: 5 s.
	HandshakeTimeout time.Duration
	// HeartbeatEvery is how often a silent peer is asked whether it is there. Zero: 5 s.
	HeartbeatEvery time.Duration
	// IdleTimeout ends a connection from which nothing has come for so long. Zero: 30 s.
	// At least twice HeartbeatEvery.
	IdleTimeout time.Duration
	// DrainTimeout bounds how long Close waits for queued messages where its context has no
	// deadline. Zero: 5 s.
	DrainTimeout time.Duration
}

func (c Config) withDefaults(shards, maxPayload int) (Config, error) {
	set := func(v *int, def int) {
		if *v == 0 {
			*v = def
		}
	}
	setTime := func(v *time.Duration, def time.Duration) {
		if *v == 0 {
			*v = def
		}
	}
	set(&c.Shards, shards)
	set(&c.MaxConnections, 10_000)
	set(&c.MaxPerAddress, 4_096)
	set(&c.MaxSubscriptions, 10_000)
	set(&c.MaxTopics, 10_000)
	set(&c.MaxFrameBytes, min(maxPayload+frame.HeaderBytes, frame.MaxBytes))
	setTime(&c.HandshakeTimeout, 5*time.Second)
	setTime(&c.HeartbeatEvery, 5*time.Second)
	setTime(&c.IdleTimeout, max(30*time.Second, 2*c.HeartbeatEvery))
	setTime(&c.DrainTimeout, 5*time.Second)
	if c.DefaultPolicy.Kind == ring.PolicyDefault {
		c.DefaultPolicy.Kind = ring.PolicyDropOldest
	}
	if err := c.DefaultPolicy.Check(); err != nil {
		return c, fmt.Errorf("native: DefaultPolicy: %w", err)
	}
	if len(c.Policies) > 0 && !slices.Contains(c.Policies, c.DefaultPolicy.Kind) {
		return c, fmt.Errorf("native: DefaultPolicy %v is not among the Policies %v",
			c.DefaultPolicy.Kind, c.Policies)
	}
	for _, v := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"Shards", c.Shards, 1, 256},
		{"MaxConnections", c.MaxConnections, 1, 1 << 20},
		{"MaxPerAddress", c.MaxPerAddress, 1, 1 << 20},
		{"MaxSubscriptions", c.MaxSubscriptions, 1, 1 << 20},
		{"MaxTopics", c.MaxTopics, 1, ring.MaxTopics - 1},
		{"MaxFrameBytes", c.MaxFrameBytes, 64, frame.MaxBytes},
		{"len(Token)", len(c.Token), 0, 256},
	} {
		if v.value < v.least || v.value > v.most {
			return c, fmt.Errorf("native: %s %d is outside %d to %d", v.name, v.value, v.least,
				v.most)
		}
	}
	if c.HandshakeTimeout < 10*time.Millisecond || c.HandshakeTimeout > time.Minute {
		return c, fmt.Errorf("native: HandshakeTimeout %v is outside 10ms to 1m",
			c.HandshakeTimeout)
	}
	if c.HeartbeatEvery < 10*time.Millisecond || c.IdleTimeout < 2*c.HeartbeatEvery {
		return c, fmt.Errorf("native: IdleTimeout %v is less than twice HeartbeatEvery %v",
			c.IdleTimeout, c.HeartbeatEvery)
	}
	return c, nil
}

// shardConfig is the part of c that concerns shard i.
func (c *Config) shardConfig(i int, stream *ring.Stream) netio.ShardConfig {
	s := netio.ShardConfig{Stream: stream, Sender: c.Sender, Wait: c.Wait,
		SubmitBytes: c.SubmitBytes}
	if len(c.CPUs) > 0 {
		s.CPU = c.CPUs[i%len(c.CPUs)] + 1
	}
	return s
}
