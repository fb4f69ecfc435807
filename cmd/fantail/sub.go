package main

import (
	"bufio"
	"context"
	"errors"
	"flag"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/fantail-io/fantail/netio/client"
	wire "github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
)

func subCommand() command {
	return command{name: "sub", summary: "print the messages of topics", run: runSub,
		operands: "PATTERN [flags]",
		about: `
Prints the messages that match PATTERN, from now on until Ctrl-C: tokens with dots between them,
where * stands for one token and a last > for the rest. Quote it, or the shell reads > as its own.

Formats:
  text   topic, sequence, time and payload; control characters are escaped
  raw    the payload as it is, and a line end
  json   an object a line; payloads that are not UTF-8 are in payload_base64
  none   nothing: count only

Messages that will not come are a GAP line on standard error, with how many and why, and an
object among the messages in JSON. A lost connection is made again, for as long as it takes.`,
		examples: []string{
			"fantail sub 'md.>'",
			"fantail sub 'md.*.AAPL' --policy conflate",
			"fantail sub md.trades --format json --count 10",
			"fantail sub 'md.>' --format raw | fantail pub copy.md --server other:7400",
			"fantail sub '>' --format none --stats 1s --policy wait",
		}}
}

// subFlags is sub's command line.
type subFlags struct {
	server, tokenFile string
	policy            policyValue
	count             uint64
	format            string
	stats             time.Duration
}

// pollLimit is the most messages between two looks at whether to end.
const pollLimit = 1024

func runSub(ctx context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	var f subFlags
	fs.StringVar(&f.server, "server", defaultAddress, "the server's `HOST:PORT`")
	fs.StringVar(&f.tokenFile, "token-file", "", tokenHelp)
	fs.Var(&f.policy, "policy", "what the server does when this subscriber is slow, a "+
		"`POLICY`: "+policyHelp+" (default the server's)")
	fs.Uint64Var(&f.count, "count", 0, "end after `N` messages")
	fs.StringVar(&f.format, "format", "text", "`FORMAT` in which they are printed: text, raw, json or none")
	fs.DurationVar(&f.stats, "stats", 0, "print a line of figures to standard error every so much "+
		"`TIME`, such as 1s")
	operands, err := e.parse(fs)
	if err != nil {
		return err
	}
	format, ok := formats[f.format]
	switch {
	case len(operands) == 0:
		return e.usage("say which PATTERN to subscribe to, such as 'md.>'")
	case len(operands) > 1:
		return e.usage("%q is too much: give one PATTERN, in quotes", operands[1])
	case !ok:
		return e.usage("there is no format %q; choose text, raw, json or none", f.format)
	case f.stats < 0:
		return e.usage("--stats is a time, such as 1s")
	}
	token, err := e.readToken(f.tokenFile)
	if err != nil {
		return err
	}
	c, err := client.Dial(ctx, withPort(f.server), client.Config{Name: "fantail sub",
		Token: token})
	if err != nil {
		return explainDial(err)
	}
	defer c.Close()
	sub, err := c.Subscribe(ctx, operands[0], client.SubscribeOptions{Policy: f.policy.Policy})
	if errors.Is(err, wire.ErrTopicName) {
		return e.usage("pattern %q: %v", operands[0], err)
	}
	if err != nil {
		return explainDial(err)
	}
	e.say("subscribed to %s at %s", sub.Pattern(), withPort(f.server))
	r := receiving{env: e, sub: sub, format: format, count: f.count, start: time.Now(),
		out: bufio.NewWriterSize(e.out, chunkBytes)}
	return r.run(ctx, f.stats)
}

// receiving is a sub at work.
type receiving struct {
	env      *environment
	sub      *client.Subscription
	format   format
	out      *bufio.Writer
	count    uint64 // messages to end after; 0: none
	messages uint64
	payload  uint64 // bytes
	start    time.Time
}

// run prints messages until there were enough, the subscription ends or ctx is done.
func (r *receiving) run(ctx context.Context, every time.Duration) error {
	var reporter sync.WaitGroup
	if every > 0 {
		rest, cancel := context.WithCancel(ctx)
		reporter.Go(func() { r.report(rest, every) })
		defer reporter.Wait()
		defer cancel()
	}
	left := func() uint64 {
		if r.count == 0 {
			return math.MaxInt
		}
		return r.count - r.messages
	}
	var err error
	for err == nil && left() > 0 {
		_, err = r.sub.PollContext(ctx, int(min(left(), pollLimit)), r.take)
		if broken := r.out.Flush(); broken != nil {
			err = fmt.Errorf("printing: %w", broken)
		}
	}
	st := r.sub.Stats()
	d := time.Since(r.start)
	r.env.say("received %s (%s) in %s, %s/s; %s, %s missed; %s",
		plural(r.messages, "message"), bytesText(r.payload), timeText(d),
		countText(perSecond(r.messages, d)), plural(st.Gaps, "gap"), countText(st.Missed),
		plural(st.Reconnects, "reconnect"))
	switch {
	case errors.Is(err, wire.ErrSlowConsumer):
		return fmt.Errorf("%w: its policy is disconnect, and it was too slow", err)
	case errors.Is(err, client.ErrConnection):
		return explainDial(err)
	case err != nil && ctx.Err() == nil:
		return err
	case left() > 0 && r.count > 0:
		return fmt.Errorf("interrupted, with %s to come", plural(left(), "message"))
	}
	return nil
}

// take prints a message or a gap.
func (r *receiving) take(m *client.Message) {
	if m.IsGap() {
		if r.format.gap != nil {
			_, _ = r.out.Write(r.format.gap(r.out.AvailableBuffer(), m.Gap)) // Flush tells
		}
		_ = r.out.Flush() // what came before it comes before it on a terminal too
		fmt.Fprintln(r.env.log, gapText(m.Gap))
		return
	}
	r.messages++
	r.payload += uint64(len(m.Payload))
	if r.format.message != nil {
		_, _ = r.out.Write(r.format.message(r.out.AvailableBuffer(), m)) // Flush tells
	}
}

// gapText is a gap's line.
func gapText(g client.Gap) string {
	if g.Count == 0 && g.First == 0 {
		return fmt.Sprintf("GAP: an unknown number of messages was missed (%v): the server has "+
			"started anew, and its sequences begin again", g.Reason)
	}
	about := ""
	if g.Reason == ring.GapReconnect {
		about = "at most "
	}
	return fmt.Sprintf("GAP: %s%s missed, in sequences %d to %d (%v)", about,
		plural(g.Count, "message"), g.First, g.Last, g.Reason)
}

// report prints a line of figures now and then.
func (r *receiving) report(ctx context.Context, every time.Duration) {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for before, at := r.sub.Stats(), time.Now(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		now, d := r.sub.Stats(), time.Since(at)
		r.env.say("%s/s, %s/s; in all %s, %s, %s missed, %s",
			countText(perSecond(now.Messages-before.Messages, d)),
			bytesText(perSecond(now.Bytes-before.Bytes, d)), plural(now.Messages, "message"),
			plural(now.Gaps, "gap"), countText(now.Missed), plural(now.Reconnects, "reconnect"))
		before, at = now, at.Add(d)
	}
}
