package client_test

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/fantail-io/fantail/netio/client"
)

// A publisher waits where there is no room, and asks at the end whether the server has
// everything.
func ExampleClient_Publisher() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := client.Dial(ctx, "127.0.0.1:7400", client.Config{Name: "feed"})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	pub, err := c.Publisher("md.AAPL")
	if err != nil {
		log.Fatal(err)
	}
	for tick := range 1000 {
		if err := pub.PublishContext(ctx, fmt.Append(nil, "tick ", tick)); err != nil {
			log.Fatal(err)
		}
	}
	var lost *client.LostError
	if err := c.Flush(ctx); errors.As(err, &lost) {
		fmt.Println("perhaps lost:", lost.Messages)
	} else if err != nil {
		log.Fatal(err)
	}
}

// A subscriber handles gaps where they come: among the messages.
func ExampleSubscription_Messages() {
	ctx := context.Background()
	c, err := client.Dial(ctx, "127.0.0.1:7400", client.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	sub, err := c.Subscribe(ctx, "md.>", client.SubscribeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	for m, err := range sub.Messages(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		if m.IsGap() {
			fmt.Println("missed:", m.Gap.Count, m.Gap.Reason)
			continue
		}
		fmt.Printf("%s: %s\n", m.Topic(), m.Payload) // copy what must live longer
	}
}

// One goroutine polls many subscriptions.
func ExampleGroup() {
	ctx := context.Background()
	c, err := client.Dial(ctx, "127.0.0.1:7400", client.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer c.Close()
	group, err := client.NewGroup(client.GroupConfig{})
	if err != nil {
		log.Fatal(err)
	}
	defer group.Close()
	for _, pattern := range []string{"md.equities.>", "md.fx.>", "news.*"} {
		sub, err := c.Subscribe(ctx, pattern, client.SubscribeOptions{})
		if err != nil {
			log.Fatal(err)
		}
		if err := group.Add(sub); err != nil {
			log.Fatal(err)
		}
	}
	for {
		_, err := group.Poll(ctx, func(s *client.Subscription, m *client.Message) {
			fmt.Println(s.Pattern(), m.Sequence)
		})
		var member *client.MemberError
		if errors.As(err, &member) {
			log.Print(member) // the others go on
		} else if err != nil {
			return
		}
	}
}
