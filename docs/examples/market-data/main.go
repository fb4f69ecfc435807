// Command market-data shows one feed and three kinds of reader inside one application.
//
// A feed publishes quotes of a few symbols as fast as it can. A strategy must see every
// quote, so it subscribes with WaitFor: the feed waits for it, but for 10 ms at most. A
// recorder takes what it can get, DropOldest, and counts what it missed. A screen wants the
// newest quote of each symbol and nothing else: Conflate. None of them knows of the others,
// and neither the recorder nor the screen can slow the feed. The same engine is open to
// other processes at 127.0.0.1:7400: try fantail sub 'md.>' meanwhile.
//
//	go run ./docs/examples/market-data
package main

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"log"
	"sync"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/engine/door/native"
)

var symbols = []string{"AAPL", "MSFT", "NVDA", "TSLA"}

func main() {
	eng, err := engine.New(engine.Config{})
	if err != nil {
		log.Fatal(err)
	}
	if door, err := native.Listen(eng, "tcp", "127.0.0.1:7400", native.Config{}); err != nil {
		log.Printf("not open to other processes: %v", err)
	} else {
		log.Printf("open to other processes at %v", door.Addr())
	}

	var readers sync.WaitGroup
	for _, r := range []struct {
		name   string
		policy engine.Policy
		pause  time.Duration // what it does with a batch of quotes
	}{
		{"strategy", engine.WaitFor(10 * time.Millisecond), 0},
		{"recorder", engine.DropOldest(50_000), 5 * time.Millisecond},
		{"screen", engine.Conflate(), 100 * time.Millisecond},
	} {
		sub, err := eng.Subscribe("md.>", engine.SubscribeOptions{Policy: r.policy})
		if err != nil {
			log.Fatal(err)
		}
		readers.Go(func() { read(r.name, sub, r.pause) })
	}

	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	feed(ctx, eng)
	cancel()

	drain, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	if err := eng.Close(drain); err != nil {
		log.Print(err) // says what was not delivered
	}
	readers.Wait()
}

// feed publishes quotes until ctx is done: sixteen bytes, written in place.
func feed(ctx context.Context, eng *engine.Engine) {
	var publishers []*engine.Publisher
	for _, symbol := range symbols {
		p, err := eng.Publisher("md." + symbol)
		if err != nil {
			log.Fatal(err)
		}
		defer p.Close()
		publishers = append(publishers, p)
	}
	quotes, refused := 0, 0
	for ; ctx.Err() == nil; quotes++ {
		claim, err := publishers[quotes%len(publishers)].Claim(16)
		if err == engine.ErrBackPressure { // the strategy is behind: 10 ms at most
			refused++
			time.Sleep(100 * time.Microsecond)
			continue
		}
		if err != nil {
			log.Fatal(err)
		}
		binary.LittleEndian.PutUint64(claim.Bytes(), uint64(quotes))  // price
		binary.LittleEndian.PutUint64(claim.Bytes()[8:], uint64(100)) // size
		if err := claim.Commit(); err != nil {
			log.Fatal(err)
		}
	}
	log.Printf("feed: %d quotes, and %d times no room", quotes-refused, refused)
}

// read polls a subscription until the engine is closed.
func read(name string, sub *engine.Subscription, pause time.Duration) {
	quotes, missed, newest := 0, uint64(0), make(map[string]uint64)
	take := func(m *engine.Message) {
		if m.IsGap() {
			missed += m.Gap.Count
			return
		}
		quotes++
		newest[m.Topic()] = binary.LittleEndian.Uint64(m.Payload)
	}
	for {
		_, err := sub.PollContext(context.Background(), 1000, take)
		if errors.Is(err, engine.ErrClosed) {
			fmt.Printf("%s: %d quotes of %d symbols, %d missed\n", name, quotes, len(newest), missed)
			return
		}
		if err != nil {
			log.Fatal(err)
		}
		if pause > 0 {
			time.Sleep(pause)
		}
	}
}
