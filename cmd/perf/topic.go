package main

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"net"
	"os"
	"time"

	"github.com/fantail-io/fantail/perf"
	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/ring"
)

const topicPublishAbout = `
OpenAMQ's publisher, with its options, against a running "fantail serve". It waits until -S
subscribers are there, publishes -M messages of -Z bytes on the topic "test", then a message
without a payload: the END. Each subscriber answers the END; the publisher says when, and gives
up after 99,999 ms without an answer.`

const topicSubscribeAbout = `
OpenAMQ's subscriber, with its options, against a running "fantail serve"; with --many, so many
of them in one process. It checks sequence and content, and answers the publisher's END.`

var topicExamples = []string{
	"fantail serve &",
	"perf topic_subscribe --many 64 -s host:7400 &",
	"perf topic_publish -s host:7400 -Z 500 -S 64 -M 100000",
}

// topicFlags are the flags that both tools have.
type topicFlags struct {
	config    perf.TopicConfig
	once      int
	tokenFile string
}

func (t *topicFlags) register(fs *flag.FlagSet) {
	fs.StringVar(&t.config.Server, "s", "localhost", "HOST:PORT|the server; the port is "+
		"7400 where there is none")
	fs.IntVar(&t.once, "O", 1, "0/1|1 ends after a round, 0 goes on for ever")
	fs.IntVar(&t.config.Topics, "T", 0, "N|load the topic index with so many topics, "+
		"test.topic.0 and so on; a subscriber opens a connection for each")
	fs.StringVar(&t.tokenFile, "token-file", "", "FILE|has the secret that the server asks for")
}

// maxTokenFile bounds a token's file: 4 KiB.
const maxTokenFile = 4 << 10

// complete finishes the Config.
func (t *topicFlags) complete(e *environment) error {
	t.config.Once = t.once != 0
	t.config.Say = func(format string, args ...any) {
		fmt.Fprintf(e.log, "  "+format+"\n", args...)
	}
	if _, _, err := net.SplitHostPort(t.config.Server); err != nil {
		t.config.Server = net.JoinHostPort(t.config.Server, "7400")
	}
	if t.tokenFile == "" {
		return nil
	}
	b, err := os.ReadFile(t.tokenFile)
	if err != nil {
		return err
	}
	if len(b) > maxTokenFile {
		return fmt.Errorf("%s: a token has at most 256 bytes", t.tokenFile)
	}
	t.config.Token = bytes.TrimSpace(b)
	return nil
}

func runTopicPublish(ctx context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	var t topicFlags
	var o output
	var settle int
	t.register(fs)
	o.register(fs)
	defaults(fs, "report", noReport) // there may be rounds without end
	fs.Uint64Var(&t.config.Messages, "M", 1000, "N|messages")
	fs.IntVar(&t.config.Subscribers, "S", 1, "N|subscribers to wait for")
	size(fs, &t.config.Size, 500)
	fs.IntVar(&settle, "W", 0, "MS|pause between rounds, with -O 0")
	fs.IntVar(&t.config.Batch, "batch", 32, "N|messages that are prepared at once")
	if operands, err := e.parse(fs); err != nil {
		return err
	} else if len(operands) > 0 {
		return e.usage("%q is too much", operands[0])
	}
	if err := t.complete(e); err != nil {
		return err
	}
	t.config.Settle = time.Duration(settle) * time.Millisecond
	if t.config.Once {
		return o.measure(ctx, e, false, func(ctx context.Context, _ func(perf.Status)) (
			r *report.Report, err error) {
			t.config.OnRound = func(last *report.Report) { r = last }
			err = perf.TopicPublish(ctx, t.config)
			return r, err
		})
	}
	var failed error
	t.config.OnRound = func(r *report.Report) {
		r.Command = append([]string{e.command.name}, e.args...)
		if err := o.deliver(e, r, false); err != nil && failed == nil {
			failed = err
		}
	}
	if err := perf.TopicPublish(ctx, t.config); err != nil {
		return err
	}
	return failed
}

func runTopicSubscribe(ctx context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	var t topicFlags
	var p profiling
	var policy string
	t.register(fs)
	p.register(fs)
	fs.IntVar(&t.config.Many, "many", 1, "N|so many subscribers, a connection each")
	fs.StringVar(&policy, "policy", "wait", "POLICY|what to ask for, should they be slow; with any but "+
		"wait, messages may be lost")
	if operands, err := e.parse(fs); err != nil {
		return err
	} else if len(operands) > 0 {
		return e.usage("%q is too much", operands[0])
	}
	if err := t.complete(e); err != nil {
		return err
	}
	kind, err := ring.ParsePolicyKind(policy)
	if err != nil {
		return e.usage("%v", err)
	}
	t.config.Policy = ring.Policy{Kind: kind}
	if kind == ring.PolicyWaitFor {
		t.config.Policy.For = time.Second
	}
	if p.kind != "" && p.folder == "" {
		p.folder = fmt.Sprintf("perf-%s-%s", e.command.name, p.kind)
	}
	end, err := p.start()
	if err != nil {
		return err
	}
	err = perf.TopicSubscribe(ctx, t.config)
	end()
	for _, line := range p.hints() {
		fmt.Fprintf(e.out, "  %s\n", line)
	}
	return err
}
