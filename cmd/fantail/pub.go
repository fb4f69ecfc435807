package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/fantail-io/fantail/netio/client"
	wire "github.com/fantail-io/fantail/netio/wire/native"
)

func pubCommand() command {
	return command{name: "pub", summary: "publish messages on a topic", run: runPub,
		operands: "TOPIC [PAYLOAD…] [flags]",
		about: `
Publishes each PAYLOAD as one message on TOPIC: tokens with dots between them, as md.AAPL.
Without one, each line of the input is a message, without its line end; and with --size, the
messages are made up: their number and dots.

It waits where the server has no room, and ends once the server has everything. How many
messages that were goes to standard error. -- ends the flags, for payloads that begin with -.`,
		examples: []string{
			"fantail pub md.AAPL '190.25 x 300'",
			"tail -f trades.log | fantail pub md.trades",
			"fantail pub load.test --size 500 --count 1000000",
			"fantail pub load.test --size 100 --count 60000 --rate 1000",
			"fantail pub md.AAPL 190.25 --server prod1:7400 --token-file ~/.fantail-token",
		}}
}

// pubFlags is pub's command line.
type pubFlags struct {
	server, tokenFile string
	count             uint64
	size              byteSize
	rate              float64
}

// pubAttempts is how often pub tries to get a lost connection back: for some 10 s.
const pubAttempts = 8

// flushTimeout bounds how long an interrupted pub waits for what it has published.
const flushTimeout = 2 * time.Second

func runPub(ctx context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	var f pubFlags
	fs.StringVar(&f.server, "server", defaultAddress, "the server's `HOST:PORT`")
	fs.StringVar(&f.tokenFile, "token-file", "", tokenHelp)
	fs.Uint64Var(&f.count, "count", 1, "publish the payloads `N` times")
	fs.Var(&f.size, "size", "make up messages of so many `BYTES` each")
	fs.Float64Var(&f.rate, "rate", 0, "at most `N` messages a second (default as fast as the server "+
		"takes them)")
	operands, err := e.parse(fs)
	if err != nil {
		return err
	}
	sized := given(fs, "size")
	switch {
	case len(operands) == 0:
		return e.usage("say which TOPIC to publish on, such as md.AAPL")
	case sized && len(operands) > 1:
		return e.usage("give either a PAYLOAD or --size")
	case given(fs, "count") && len(operands) == 1 && !sized:
		return e.usage("--count needs a PAYLOAD or --size: lines of the input come once")
	case !(f.rate >= 0):
		return e.usage("--rate is a number of messages a second")
	}
	if err := wire.CheckTopic(operands[0]); err != nil {
		return e.usage("topic %q: %v", operands[0], err)
	}
	token, err := e.readToken(f.tokenFile)
	if err != nil {
		return err
	}
	c, err := client.Dial(ctx, withPort(f.server), client.Config{Name: "fantail pub",
		Token: token, Reconnect: client.Reconnect{MaxAttempts: pubAttempts}})
	if err != nil {
		return explainDial(err)
	}
	defer c.Close()
	p, err := c.Publisher(operands[0])
	if err != nil {
		return err
	}
	var next source
	switch {
	case len(operands) > 1:
		next = repeat(operands[1:], f.count)
	case sized:
		next = madeUp(int(f.size), f.count)
	default:
		next = startLines(ctx, e.in, c.MaxPayload())
	}
	pub := publishing{env: e, client: c, publisher: p, rate: f.rate}
	return pub.run(ctx, next)
}

// publishing is a pub at work.
type publishing struct {
	env       *environment
	client    *client.Client
	publisher *client.Publisher
	rate      float64 // messages a second; 0: no limit
	messages  uint64
	bytes     uint64
	waits     uint64 // times that there was no room
}

// run publishes what next answers, and says how many messages that were.
func (p *publishing) run(ctx context.Context, next source) error {
	start := time.Now()
	err := p.publish(ctx, start, next)
	interrupted := ctx.Err() != nil
	if err == nil || interrupted {
		flush, cancel := ctx, context.CancelFunc(func() {})
		if interrupted {
			flush, cancel = context.WithTimeout(context.Background(), flushTimeout)
		}
		err = p.client.Flush(flush)
		cancel()
	}
	if closing := p.client.Close(); err == nil {
		err = closing
	}
	d := time.Since(start)
	waits := ""
	if p.waits > 0 {
		waits = fmt.Sprintf(", waited %s for room", plural(p.waits, "time"))
	}
	p.env.say("published %s (%s) on %s in %s, %s/s%s", plural(p.messages, "message"),
		bytesText(p.bytes), p.publisher.Topic(), timeText(d),
		countText(perSecond(p.messages, d)), waits)
	switch {
	case interrupted && errors.Is(err, context.DeadlineExceeded):
		return errors.New("interrupted; the server may lack the last of them")
	case errors.Is(err, client.ErrConnection):
		return explainDial(err)
	case err != nil:
		return err
	case interrupted:
		return errors.New("interrupted; the server has those that were published")
	}
	return nil
}

// publish publishes what next answers, until that ends or ctx is done.
func (p *publishing) publish(ctx context.Context, start time.Time, next source) error {
	timer := time.NewTimer(time.Hour)
	defer timer.Stop()
	for {
		payload, err := next()
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if p.rate > 0 {
			// Due by the count, not by the last one: a pause is caught up with.
			due := start.Add(time.Duration(float64(p.messages) / p.rate * float64(time.Second)))
			if ahead := time.Until(due); ahead > 0 {
				timer.Reset(ahead)
				select {
				case <-timer.C:
				case <-ctx.Done():
				}
			}
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if err = p.publisher.Publish(payload); err == client.ErrBackPressure {
			p.waits++
			err = p.publisher.PublishContext(ctx, payload)
		}
		if err == client.ErrTooLarge {
			return fmt.Errorf("a message of %s is over the server's limit of %d",
				plural(uint64(len(payload)), "byte"), p.client.MaxPayload())
		}
		if err != nil {
			return err
		}
		p.messages++
		p.bytes += uint64(len(payload))
	}
}

// explainDial adds what to do about an error of a connection.
func explainDial(err error) error {
	switch {
	case errors.Is(err, wire.ErrAuth):
		return fmt.Errorf("%w: give the server's secret with --token-file", err)
	case errors.Is(err, syscall.ECONNREFUSED):
		return fmt.Errorf("%w: is a server there? fantail serve starts one, --server names "+
			"another", err)
	}
	return err
}
