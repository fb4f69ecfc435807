package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"strings"
	"syscall"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/engine/door/native"
	"github.com/fantail-io/fantail/ring"
)

func serveCommand() command {
	return command{name: "serve", summary: "run a server", operands: "[flags]", run: runServe,
		about: `
Runs a server until Ctrl-C or SIGTERM. It then takes no more connections and messages, delivers
what is queued for at most --drain, and says what it could not deliver; a second signal ends it
at once. The first line of its output says where it listens and what it got; --stats and
warnings follow.

A subscriber that is slow gets what its policy says, and loses nothing without being told:
  wait            publishers wait for it: nothing is lost, and one subscriber stops everybody
  wait-for:TIME   publishers wait for it, for so long; then as drop-oldest
  drop-oldest:N   the oldest of more than N queued messages go
  drop-newest:N   what comes while N are queued goes
  conflate        the newest message of each topic stays
  disconnect:N    more than N queued messages end its connection`,
		examples: []string{
			"fantail serve",
			"fantail serve --listen 0.0.0.0:7400 --token-file /etc/fantail/token",
			"fantail serve --stream 1GiB --shards 2 --cpus 2,3 --wait busy",
			"fantail serve --stats 5s --debug-addr 127.0.0.1:6060",
			"curl -s http://127.0.0.1:6060/debug/stats",
		}}
}

// serveFlags is serve's command line.
type serveFlags struct {
	listen        string
	stream, block byteSize
	shards        int
	cpus          cpuList
	wait          waitValue
	sender        string
	policy        policyValue
	allow         policyKinds
	tokenFile     string

	maxConnections, maxPerAddress, maxTopics int

	debugAddr     string
	debugAnywhere bool
	stats, drain  time.Duration
}

func (f *serveFlags) register(fs *flag.FlagSet) {
	f.stream, f.block = 64<<20, 256<<10
	f.policy.Policy = ring.Policy{Kind: ring.PolicyDropOldest, MaxLag: ring.DefaultMaxLag}
	fs.StringVar(&f.listen, "listen", defaultAddress, "`HOST:PORT` to listen at; port 0 takes a "+
		"free one; without a host it is loopback")
	fs.Var(&f.stream, "stream", "`BYTES` of memory for the stream: how far a subscriber may "+
		"fall behind")
	fs.Var(&f.block, "block", "`BYTES` in which that memory is reused; no message is longer")
	fs.IntVar(&f.shards, "shards", 0, "serve connections with `N` threads (default half of the cores)")
	fs.Var(&f.cpus, "cpus", "pin the shards to a `LIST` of cores, in turn: 2,3 or 8-11")
	fs.Var(&f.wait, "wait", "what an idle shard does, `HOW` it waits: adaptive, busy, yield or "+
		"park")
	fs.StringVar(&f.sender, "sender", "auto", "`HOW` bytes enter the kernel: auto, writev, "+
		"uring or portable")
	fs.Var(&f.policy, "policy", "`POLICY` of subscribers that choose none: "+policyHelp)
	fs.Var(&f.allow, "allow-policies", "`LIST` of the policies that subscribers may choose, with "+
		"commas between them (default all); leave out wait and wait-for where subscribers are "+
		"not to hold publishers back")
	fs.StringVar(&f.tokenFile, "token-file", "", "`FILE` with a secret that clients must show")
	fs.IntVar(&f.maxConnections, "max-connections", 10_000, "most connections at a time: `N`")
	fs.IntVar(&f.maxPerAddress, "max-per-address", 4_096, "most connections of one address: `N`")
	fs.IntVar(&f.maxTopics, "max-topics", 65_536, "most topics ever named: `N`")
	fs.StringVar(&f.debugAddr, "debug-addr", "", "serve /debug/stats and /debug/pprof over "+
		"HTTP at this loopback `HOST:PORT`")
	fs.BoolVar(&f.debugAnywhere, "debug-anywhere", false, "let --debug-addr be an address that "+
		"other machines reach")
	fs.DurationVar(&f.stats, "stats", 0, "print a line of figures every so much `TIME`, such as 5s")
	fs.DurationVar(&f.drain, "drain", 5*time.Second, "most `TIME` that the end may take to "+
		"deliver what is queued")
}

func runServe(ctx context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	var f serveFlags
	f.register(fs)
	operands, err := e.parse(fs)
	switch {
	case err != nil:
		return err
	case len(operands) > 0:
		return e.usage("%q is too much", operands[0])
	case f.stats < 0 || f.drain <= 0:
		return e.usage("--stats and --drain are times, such as 5s")
	case f.debugAnywhere && f.debugAddr == "":
		return e.usage("--debug-anywhere goes with --debug-addr")
	}
	token, err := e.readToken(f.tokenFile)
	if err != nil {
		return err
	}
	eng, err := engine.New(engine.Config{StreamBytes: int(f.stream), BlockBytes: int(f.block),
		MaxTopics: f.maxTopics})
	if err != nil {
		return err
	}
	door, err := native.Listen(eng, "tcp", withPort(f.listen), f.doorConfig(token))
	if err != nil {
		_ = eng.Close(ctx)
		return explainListen(err)
	}
	s := &server{flags: &f, env: e, engine: eng, door: door}
	defer s.closeDebug()
	if err := s.openDebug(); err != nil {
		_ = eng.Close(ctx)
		return err
	}
	s.announce(len(token) > 0)
	s.report(ctx)
	return s.drain()
}

// doorConfig is the part of the command line that concerns the door.
func (f *serveFlags) doorConfig(token []byte) native.Config {
	return native.Config{Shards: f.shards, Sender: f.sender, Wait: f.wait.Strategy,
		CPUs: f.cpus, Token: token, DefaultPolicy: f.policy.Policy, Policies: f.allow,
		MaxConnections: f.maxConnections, MaxPerAddress: f.maxPerAddress}
}

// explainListen adds what to do about an error of native.Listen.
func explainListen(err error) error {
	switch {
	case errors.Is(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w: stop whoever has the port, or choose another with --listen "+
			"(port 0 takes a free one)", err)
	case errors.Is(err, syscall.EACCES):
		return fmt.Errorf("%w: ports under 1024 need a privilege; choose another with --listen",
			err)
	case errors.Is(err, ring.ErrNotSupported):
		return fmt.Errorf("%w: --sender auto takes what this machine has; fantail doctor says "+
			"more", err)
	}
	return err
}

// server is a running server.
type server struct {
	flags  *serveFlags
	env    *environment
	engine *engine.Engine
	door   *native.Listener
	debug  *debugServer // nil where none was asked for
}

// announce says in one line what was asked for, and what the machine gave; and warns.
func (s *server) announce(secret bool) {
	f := s.flags
	st := s.door.Snapshot()
	sender := f.sender
	if len(st.Shards) > 0 && st.Shards[0].Sender != sender {
		sender = fmt.Sprintf("%s (%s)", st.Shards[0].Sender, sender)
	}
	access := "no token"
	if secret {
		access = "token"
	}
	words := []string{
		"fantail: listening on " + s.door.Addr().String(),
		fmt.Sprintf("stream %s in blocks of %s", bytesText(uint64(f.stream)),
			bytesText(uint64(f.block))),
		"sender " + sender,
		plural(uint64(len(st.Shards)), "shard"),
		"wait " + f.wait.String(),
		"policy " + f.policy.String(),
		access,
	}
	if len(f.cpus) > 0 {
		words = append(words, "cores "+f.cpus.String())
	}
	if s.debug != nil {
		words = append(words, "debug http://"+s.debug.address+"/debug/stats")
	}
	fmt.Fprintln(s.env.out, strings.Join(words, ", "))
	if !secret && !onLoopback(s.door.Addr()) {
		s.env.say("warning: other machines can reach %s, and there is no token: whoever reaches "+
			"it can publish and subscribe; give one with --token-file, or listen on 127.0.0.1",
			s.door.Addr())
	}
	if f.policy.Kind == ring.PolicyWait {
		s.env.say("warning: with --policy wait a subscriber that stops reading stops all publishers")
	}
}

// onLoopback reports whether only this machine reaches an address.
func onLoopback(a net.Addr) bool {
	tcp, ok := a.(*net.TCPAddr)
	return ok && tcp.IP.IsLoopback()
}

// report prints a line of figures now and then, until ctx is done.
func (s *server) report(ctx context.Context) {
	if s.flags.stats == 0 {
		<-ctx.Done()
		return
	}
	tick := time.NewTicker(s.flags.stats)
	defer tick.Stop()
	for before := s.figures(); ; {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			now := s.figures()
			fmt.Fprintln(s.env.out, now.line(before))
			before = now
		}
	}
}

// drain delivers what is queued, and ends the server.
func (s *server) drain() error {
	s.env.say("ending: delivering what is queued, for at most %v; a second signal ends at once",
		s.flags.drain)
	ctx, cancel := context.WithTimeout(context.Background(), s.flags.drain)
	defer cancel()
	start, published := time.Now(), s.engine.Stream().Tail()-1
	err := s.engine.Close(ctx)
	var left *native.UndeliveredError
	switch {
	case err == nil:
		s.env.say("ended after %s: everything was delivered, of %s published",
			timeText(time.Since(start)), plural(published, "message"))
		return nil
	case errors.As(err, &left):
		return fmt.Errorf("ended after %s with messages undelivered: %s queued for %s", timeText(
			time.Since(start)), countText(left.Messages), plural(uint64(left.Connections),
			"connection"))
	}
	return err
}
