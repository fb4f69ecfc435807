package engine_test

import (
	"context"
	"fmt"
	"log"
	"os"
	"strings"
	"testing"

	"github.com/fantail-io/fantail/engine"
)

// The README shows the body of this one; see TestReadmeShowsTheExample.
func Example() {
	eng, err := engine.New(engine.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close(context.Background())
	sub, err := eng.Subscribe("md.>", engine.SubscribeOptions{Policy: engine.DropOldest(1000)})
	if err != nil {
		log.Fatal(err)
	}
	pub, err := eng.Publisher("md.equities.AAPL")
	if err != nil {
		log.Fatal(err)
	}
	if err := pub.Publish([]byte("190.25 x 300")); err != nil {
		log.Fatal(err) // engine.ErrBackPressure where Wait subscribers hold the stream
	}
	for m, err := range sub.Messages(context.Background()) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%d %s %s\n", m.Sequence, m.Topic(), m.Payload)
		break
	}
	// Output: 1 md.equities.AAPL 190.25 x 300
}

// A claim is written in place: no copy at all.
func ExamplePublisher_Claim() {
	eng, err := engine.New(engine.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close(context.Background())
	sub, err := eng.Subscribe("orders", engine.SubscribeOptions{})
	if err != nil {
		log.Fatal(err)
	}
	pub, err := eng.Publisher("orders")
	if err != nil {
		log.Fatal(err)
	}
	claim, err := pub.Claim(8)
	if err != nil {
		log.Fatal(err)
	}
	copy(claim.Bytes(), "buy 1000")
	if err := claim.Commit(); err != nil { // or claim.Abort()
		log.Fatal(err)
	}
	if _, err := sub.Poll(10, func(m *engine.Message) {
		fmt.Printf("%s: %s\n", m.Topic(), m.Payload)
	}); err != nil {
		log.Fatal(err)
	}
	// Output: orders: buy 1000
}

// A slow subscriber is told what it has missed, in place of the messages.
func ExampleDropOldest() {
	eng, err := engine.New(engine.Config{})
	if err != nil {
		log.Fatal(err)
	}
	defer eng.Close(context.Background())
	sub, err := eng.Subscribe("ticks", engine.SubscribeOptions{Policy: engine.DropOldest(3)})
	if err != nil {
		log.Fatal(err)
	}
	pub, err := eng.Publisher("ticks")
	if err != nil {
		log.Fatal(err)
	}
	for tick := 1; tick <= 10; tick++ {
		if err := pub.Publish(fmt.Append(nil, "tick ", tick)); err != nil {
			log.Fatal(err)
		}
	}
	if _, err := sub.Poll(100, func(m *engine.Message) {
		if m.IsGap() {
			fmt.Printf("missed %d, from %d to %d: %v\n", m.Gap.Count, m.Gap.First, m.Gap.Last,
				m.Gap.Reason)
			return
		}
		fmt.Printf("%d %s\n", m.Sequence, m.Payload)
	}); err != nil {
		log.Fatal(err)
	}
	// Output:
	// missed 7, from 1 to 7: drop-oldest
	// 8 tick 8
	// 9 tick 9
	// 10 tick 10
}

// Back pressure is an answer, at once; what to do about it is the publisher's choice.
func ExampleErrBackPressure() {
	eng, err := engine.New(engine.Config{StreamBytes: 256 << 10, BlockBytes: 64 << 10})
	if err != nil {
		log.Fatal(err)
	}
	sub, err := eng.Subscribe(">", engine.SubscribeOptions{Policy: engine.Wait()})
	if err != nil {
		log.Fatal(err)
	}
	pub, err := eng.Publisher("bulk")
	if err != nil {
		log.Fatal(err)
	}
	payload := make([]byte, 60_000)
	for {
		if err = pub.Publish(payload); err != nil {
			break
		}
	}
	fmt.Println(err == engine.ErrBackPressure)
	if _, err := sub.Poll(100, func(*engine.Message) {}); err != nil { // makes room
		log.Fatal(err)
	}
	fmt.Println(pub.PublishContext(context.Background(), payload)) // would wait for it
	sub.Close()
	fmt.Println(eng.Close(context.Background()))
	// Output:
	// true
	// <nil>
	// <nil>
}

// What the README promises is what is compiled and run here.
func TestReadmeShowsTheExample(t *testing.T) {
	source, err := os.ReadFile("example_test.go")
	if err != nil {
		t.Fatal(err)
	}
	_, body, _ := strings.Cut(string(source), "func Example() {\n")
	body, _, _ = strings.Cut(body, "\n}\n")
	var want strings.Builder
	for line := range strings.Lines(body + "\n") {
		want.WriteString(strings.TrimPrefix(line, "\t"))
	}
	readme, err := os.ReadFile("../README.md")
	if err != nil {
		t.Fatal(err)
	}
	_, block, _ := strings.Cut(string(readme), "```go\n")
	block, _, _ = strings.Cut(block, "```")
	if block != want.String() {
		t.Errorf("the first Go block of README.md is not Example's body:\n%s\nwant:\n%s", block,
			want.String())
	}
}
