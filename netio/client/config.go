package client

import (
	"fmt"
	"time"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring/frame"
)

// Config says how a Client connects. The zero Config works.
type Config struct {
	// Network is "tcp", "tcp4", "tcp6" or "unix". Empty: "tcp".
	Network string
	// DialTimeout bounds one connection and its handshake: 1 ms to 1 min. Zero: 5 s.
	DialTimeout time.Duration
	// Token is the secret that the server may ask for: at most 256 bytes. Empty: none.
	Token []byte
	// Name tells the server's operators who this is: at most 64 bytes of printable ASCII.
	Name string
	// ReadBytes is a subscription's read buffer: 4 KiB to 16 MiB. Zero: 256 KiB. It grows
	// where a message is longer, to MaxFrameBytes.
	ReadBytes int
	// SocketBytes is the kernel's receive buffer of a subscription, as SO_RCVBUF has it: at
	// most 64 MiB. Zero: the system's choice, which grows by itself.
	SocketBytes int
	// BatchBytes is how much Publish gathers for one write: 1 KiB to 16 MiB. Zero: 64 KiB.
	// A longer message is a batch of its own.
	BatchBytes int
	// MaxFrameBytes bounds the messages that are received, header included: 64 B to 1 MiB.
	// Zero: 1 MiB.
	MaxFrameBytes int
	// HeartbeatTimeout is how long a connection may be silent. After half of it the server
	// is asked for an echo; without one for the other half the connection is dead. At least
	// 20 ms. Zero: three times the heartbeat that the server announces.
	HeartbeatTimeout time.Duration
	// Reconnect says what happens when a connection is lost.
	Reconnect Reconnect
}

// Reconnect bounds how a lost connection is made again. The zero Reconnect tries for ever.
type Reconnect struct {
	// Disabled makes a lost connection the end of its client or subscription.
	Disabled bool
	// Min and Max bound the pause between two attempts, which doubles from the one to the
	// other; each is cut by a random part, up to half. 1 ms to 1 h. Zero: 50 ms, and 5 s.
	Min, Max time.Duration
	// MaxAttempts is how many attempts in a row may fail before the last one's error is the
	// end. Zero: no limit.
	MaxAttempts int
}

func (c Config) withDefaults() (Config, error) {
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
	if c.Network == "" {
		c.Network = "tcp"
	}
	set(&c.ReadBytes, 256<<10)
	set(&c.BatchBytes, 64<<10)
	set(&c.MaxFrameBytes, frame.MaxBytes)
	setTime(&c.DialTimeout, 5*time.Second)
	setTime(&c.Reconnect.Min, min(50*time.Millisecond, max(c.Reconnect.Max, time.Millisecond)))
	if c.Reconnect.Max == 0 {
		c.Reconnect.Max = max(5*time.Second, c.Reconnect.Min)
	}
	c.Token = append([]byte(nil), c.Token...)
	return c, c.check()
}

func (c *Config) check() error {
	for _, v := range []struct {
		name        string
		value       int
		least, most int
	}{
		{"ReadBytes", c.ReadBytes, minReadBytes, maxReadBytes},
		{"SocketBytes", c.SocketBytes, 0, 64 << 20},
		{"BatchBytes", c.BatchBytes, minBatchBytes, maxBatchBytes},
		{"MaxFrameBytes", c.MaxFrameBytes, 64, frame.MaxBytes},
		{"len(Token)", len(c.Token), 0, native.MaxTokenBytes},
		{"len(Name)", len(c.Name), 0, native.MaxNameBytes},
		{"Reconnect.MaxAttempts", c.Reconnect.MaxAttempts, 0, 1 << 30},
	} {
		if v.value < v.least || v.value > v.most {
			return fmt.Errorf("client: %s %d is outside %d to %d", v.name, v.value, v.least, v.most)
		}
	}
	for _, v := range []struct {
		name        string
		value       time.Duration
		least, most time.Duration
	}{
		{"DialTimeout", c.DialTimeout, time.Millisecond, time.Minute},
		{"Reconnect.Min", c.Reconnect.Min, time.Millisecond, time.Hour},
		{"Reconnect.Max", c.Reconnect.Max, c.Reconnect.Min, time.Hour},
	} {
		if v.value < v.least || v.value > v.most {
			return fmt.Errorf("client: %s %v is outside %v to %v", v.name, v.value, v.least, v.most)
		}
	}
	if c.HeartbeatTimeout != 0 && c.HeartbeatTimeout < minHeartbeatTimeout {
		return fmt.Errorf("client: HeartbeatTimeout %v is under %v", c.HeartbeatTimeout,
			minHeartbeatTimeout)
	}
	for _, r := range c.Name {
		if r < ' ' || r > '~' {
			return fmt.Errorf("client: Name %+q is not printable ASCII", c.Name)
		}
	}
	switch c.Network {
	case "tcp", "tcp4", "tcp6", "unix":
		return nil
	}
	return fmt.Errorf("client: Network %q is none of tcp, tcp4, tcp6, unix", c.Network)
}

// timeout is how long a connection may be silent.
func (c *Config) timeout(w *native.Welcome) time.Duration {
	if c.HeartbeatTimeout != 0 {
		return c.HeartbeatTimeout
	}
	beat := time.Duration(w.HeartbeatMillis) * time.Millisecond
	if beat == 0 {
		beat = defaultHeartbeat
	}
	return max(3*beat, time.Second)
}
