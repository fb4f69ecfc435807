// Command gaps shows a remote subscriber that stays right although it may miss messages.
//
// It keeps the last value of each topic, as a cache or a screen does. Messages that it will
// not get are announced among those it gets, as a gap: because it was too slow for its
// policy, or because the connection was lost and made again. What it has is then stale, and
// it says so until it has heard of each topic again; a program with a source of snapshots
// would ask that instead. Try it: start fantail serve, this, and
// fantail pub md.AAPL --size 100 --count 5000000; then restart the server.
//
//	go run ./docs/examples/gaps [PATTERN [HOST:PORT]]
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/fantail-io/fantail/netio/client"
)

// entry is the last that is known of a topic.
type entry struct {
	sequence uint64
	value    string
	stale    bool // there was a gap since
}

func main() {
	pattern, address := "md.>", "127.0.0.1:7400"
	if len(os.Args) > 1 {
		pattern = os.Args[1]
	}
	if len(os.Args) > 2 {
		address = os.Args[2]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, pattern, address); err != nil && !errors.Is(err, context.Canceled) {
		log.Fatal(err)
	}
}

func run(ctx context.Context, pattern, address string) error {
	c, err := client.Dial(ctx, address, client.Config{Name: "gaps example"})
	if err != nil {
		return err
	}
	defer c.Close()
	sub, err := c.Subscribe(ctx, pattern, client.SubscribeOptions{})
	if err != nil {
		return err
	}
	known := make(map[string]entry)
	take := func(m *client.Message) {
		if !m.IsGap() {
			// The payload is a view of the read buffer: the string is a copy of our own.
			known[m.Topic()] = entry{sequence: m.Sequence, value: string(m.Payload)}
			return
		}
		log.Printf("gap: %d messages, sequences %d to %d: %v", m.Gap.Count, m.Gap.First,
			m.Gap.Last, m.Gap.Reason)
		// A gap does not say which topics it concerns: those that were not matched against
		// the pattern any more are in it too.
		for topic, e := range known {
			e.stale = true
			known[topic] = e
		}
	}
	for shown := time.Now(); ; {
		if _, err := sub.PollContext(ctx, 1000, take); err != nil {
			return err
		}
		if time.Since(shown) > time.Second {
			shown = time.Now()
			show(known)
		}
	}
}

func show(known map[string]entry) {
	stale := 0
	for _, e := range known {
		if e.stale {
			stale++
		}
	}
	fmt.Printf("%d topics, %d of them stale\n", len(known), stale)
}
