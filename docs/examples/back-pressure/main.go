// Command back-pressure shows a remote publisher that never waits, and loses what it must.
//
// A sensor makes a reading every millisecond, whether or not anybody can take it. Publish
// never waits: while the network or the server is behind it answers ErrBackPressure, and the
// program decides. This one keeps the newest readings of its own, drops the oldest of them,
// and counts what it dropped. A program that may wait calls PublishContext instead and needs
// none of this. At the end Flush tells whether the server has everything that Publish took.
//
//	go run ./docs/examples/back-pressure [HOST:PORT]
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

// backlogMax bounds the readings that are kept while there is no room: a second of them.
const backlogMax = 1000

func main() {
	address := "127.0.0.1:7400"
	if len(os.Args) > 1 {
		address = os.Args[1]
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, address); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, address string) error {
	c, err := client.Dial(ctx, address, client.Config{Name: "back-pressure example"})
	if err != nil {
		return err
	}
	defer c.Close()
	pub, err := c.Publisher("sensor.7.temperature")
	if err != nil {
		return err
	}
	var backlog [][]byte
	published, dropped := 0, 0
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for reading := 0; ctx.Err() == nil; reading++ {
		select {
		case <-tick.C:
		case <-ctx.Done():
			continue
		}
		backlog = append(backlog, fmt.Append(nil, reading))
		for len(backlog) > 0 {
			err := pub.Publish(backlog[0])
			if err == client.ErrBackPressure {
				break
			}
			if err != nil {
				return err
			}
			published, backlog = published+1, backlog[1:]
		}
		if len(backlog) > backlogMax {
			dropped, backlog = dropped+1, backlog[1:]
		}
	}
	return report(c, published, dropped+len(backlog))
}

// report waits until the server has what was published, for 5 s at most.
func report(c *client.Client, published, dropped int) error {
	ctx, cancel := context.WithTimeout(context.Background(), 5*time.Second)
	defer cancel()
	err := c.Flush(ctx)
	fmt.Printf("%d readings published, %d dropped here\n", published, dropped)
	var lost *client.LostError
	if errors.As(err, &lost) {
		fmt.Printf("a connection was lost on the way, with up to %d of them: %v\n", lost.Messages,
			lost.Err)
		return nil
	}
	return err
}
