package native_test

import (
	"context"
	"fmt"
	"log"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/engine/door/native"
	"github.com/fantail-io/fantail/netio/client"
)

// An application opens its engine to other processes. What it publishes itself, and what
// they publish, is one stream.
func ExampleListen() {
	ctx := context.Background()
	eng, err := engine.New(engine.Config{})
	if err != nil {
		log.Fatal(err)
	}
	door, err := native.Listen(eng, "tcp", "127.0.0.1:0", native.Config{
		DefaultPolicy: engine.DropOldest(10_000), // of subscribers that choose none
		IdleTimeout:   time.Minute,
	})
	if err != nil {
		log.Fatal(err)
	}

	// Another process, in truth.
	remote, err := client.Dial(ctx, door.Addr().String(), client.Config{})
	if err != nil {
		log.Fatal(err)
	}
	sub, err := remote.Subscribe(ctx, "md.>", client.SubscribeOptions{})
	if err != nil {
		log.Fatal(err)
	}

	pub, err := eng.Publisher("md.AAPL")
	if err != nil {
		log.Fatal(err)
	}
	if err := pub.Publish([]byte("190.25 x 300")); err != nil {
		log.Fatal(err)
	}
	if _, err := sub.PollContext(ctx, 1, func(m *client.Message) {
		fmt.Printf("%s: %s\n", m.Topic(), m.Payload)
	}); err != nil {
		log.Fatal(err)
	}
	remote.Close()
	fmt.Println(eng.Close(ctx)) // closes the door first
	// Output:
	// md.AAPL: 190.25 x 300
	// <nil>
}
