package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/fantail-io/fantail/perf"
	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/ring"
)

// output is where a report goes, beside the terminal.
type output struct {
	json, html, bench string
	quiet             bool
	profiling
}

func (o *output) register(fs *flag.FlagSet) {
	fs.StringVar(&o.json, "json", "", "FILE|write all figures to it as JSON")
	fs.StringVar(&o.html, "report", autoReport, "FILE|write a page with plots to it; auto: in the "+
		"system's folder for temporary files; none: no page")
	fs.StringVar(&o.bench, "gobench", "", "FILE|write Go's benchmark format to it, for benchstat")
	fs.BoolVar(&o.quiet, "q", false, "|no progress")
	o.profiling.register(fs)
}

// errDamaged says that messages were lost or damaged that should not have been.
var errDamaged = errors.New("messages were lost, damaged or repeated: see the figures")

// measure runs a workload with progress and profile, and shows and saves its report.
func (o *output) measure(ctx context.Context, e *environment, lossless bool,
	workload func(ctx context.Context, progress func(perf.Status)) (*report.Report, error)) error {
	if o.kind != "" && o.folder == "" {
		o.folder = fmt.Sprintf("perf-%s-%s", e.command.name, o.kind)
	}
	end, err := o.start()
	if err != nil {
		return err
	}
	l := newLive(e.log, o.quiet)
	r, err := workload(ctx, l.show)
	l.clear()
	end()
	defer func() {
		for _, line := range o.hints() {
			fmt.Fprintf(e.out, "  %s\n", line)
		}
	}()
	if err != nil {
		return err
	}
	r.Command = append([]string{e.command.name}, e.args...)
	if r.Version == "" || r.Version == "(devel)" {
		r.Version = treeVersion(ctx)
	}
	return o.deliver(e, r, lossless)
}

// What --report takes beside the name of a file.
const (
	autoReport = "auto"
	noReport   = "none"
)

// page is the file for the page with plots; empty where there is to be none.
func (o *output) page(command string, started time.Time) (string, error) {
	switch o.html {
	case noReport:
		return "", nil
	case autoReport:
		folder := filepath.Join(os.TempDir(), "fantail-perf")
		if err := os.MkdirAll(folder, 0o777); err != nil {
			return "", err
		}
		return filepath.Join(folder, command+"-"+started.Format("20060102-150405")+".html"), nil
	}
	return o.html, nil
}

// treeVersion is the commit of the source tree that the program is run from: "go run" leaves
// it out of what it builds. "(devel)" where there is no telling.
func treeVersion(ctx context.Context) string {
	folder, err := findPeers() // where that is, the tree is Fantail's
	if err != nil {
		return "(devel)"
	}
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	b, err := exec.CommandContext(ctx, "git", "-C", folder, "describe", "--always",
		"--dirty=+changes").Output()
	if err != nil {
		return "(devel)"
	}
	return strings.TrimSpace(string(b))
}

// deliver shows and saves a report.
func (o *output) deliver(e *environment, r *report.Report, lossless bool) error {
	report.WriteText(e.out, r)
	fmt.Fprintln(e.out)
	if o.json != "" {
		if err := r.Save(o.json); err != nil {
			return err
		}
	}
	if html, err := o.page(e.command.name, r.Started); err != nil {
		return err
	} else if html != "" {
		if err := r.SaveHTML(html); err != nil {
			return err
		}
		path, err := filepath.Abs(html)
		if err != nil {
			path = html
		}
		fmt.Fprintf(e.out, "  report: file://%s\n", filepath.ToSlash(path))
	}
	if o.bench != "" {
		f, err := os.Create(o.bench)
		if err != nil {
			return err
		}
		report.WriteGoBench(f, r)
		if err := f.Close(); err != nil {
			return err
		}
	}
	for _, p := range r.All() {
		if p.Corrupt > 0 || p.Repeated > 0 || lossless && p.Lost > 0 {
			return errDamaged
		}
	}
	return nil
}

// common are the flags of all workloads with a server of their own.
type common struct {
	perf.Config
	output
	messages  messageCount
	seconds   time.Duration
	streamMiB int
	policy    string
	noCeiling bool
}

func (c *common) register(fs *flag.FlagSet) {
	c.output.register(fs)
	fs.Var(&c.messages, "M", "N|messages of a round, or auto: as many as there is time for")
	span(fs, &c.seconds, "seconds", 2*time.Second, "T|how long a round publishes, with -M auto")
	fs.IntVar(&c.Rounds, "rounds", 3, "N|measure so often; rates are medians")
	fs.IntVar(&c.Processes, "processes", 1, "N|processes that the subscribers share")
	fs.StringVar(&c.Publisher, "publisher", perf.Embedded, "WHERE|messages come from there: embedded "+
		"in the server, tcp as a process of its own, or both in turn")
	fs.IntVar(&c.Batch, "batch", 32, "N|messages that the publisher hands over in one call")
	fs.StringVar(&c.policy, "policy", "wait", "POLICY|what subscribers ask for, should they be slow; "+
		"with any but wait, messages may be lost")
	fs.IntVar(&c.streamMiB, "stream", perf.DefaultStreamBytes>>20, "MIB|memory of the "+
		"server's stream")
	fs.IntVar(&c.Shards, "shards", 0, "N|threads that serve connections (default half of the cores)")
	fs.StringVar(&c.Sender, "sender", "", "NAME|how bytes enter the kernel: auto, writev, uring or "+
		"portable (default auto)")
	fs.IntVar(&c.SubmitBytes, "submit", 0, "BYTES|most of one submission to one socket (default "+
		"the server's)")
	fs.BoolVar(&c.noCeiling, "no-ceiling", false, "|do not measure the bare kernel beside it")
	span(fs, &c.Ceiling, "ceiling", 1500*time.Millisecond, "T|how long the bare kernel is "+
		"measured beside each round")
	fs.IntVar(&c.CeilingWrite, "ceiling-write", 0, "BYTES|what one write of the ceiling offers "+
		"(default whole segments up to 64 KiB)")
}

// defaults sets other defaults than a flag has: names and values in turn.
func defaults(fs *flag.FlagSet, pairs ...string) {
	for i := 0; i < len(pairs); i += 2 {
		f := fs.Lookup(pairs[i])
		f.DefValue = pairs[i+1]
		if err := f.Value.Set(f.DefValue); err != nil {
			panic("perf: " + err.Error()) // a bug
		}
	}
}

// sizes adds the flags of workloads with one number of subscribers and one size.
func (c *common) sizes(fs *flag.FlagSet) {
	fs.IntVar(&c.Subscribers, "S", 64, "N|subscribers")
	size(fs, &c.Size, 500)
}

// size adds -Z, and -z, which OpenAMQ's document writes.
func size(fs *flag.FlagSet, v *int, def int) {
	fs.IntVar(v, "Z", def, "BYTES|payload of a message")
	fs.IntVar(v, "z", def, "BYTES|as -Z")
}

// parse reads the command line, and completes the Config.
func (c *common) parse(e *environment, fs *flag.FlagSet) error {
	operands, err := e.parse(fs)
	if err != nil {
		return err
	}
	if len(operands) > 0 {
		return e.usage("%q is too much", operands[0])
	}
	c.Messages, c.Duration = uint64(c.messages), c.seconds
	c.StreamBytes = c.streamMiB << 20
	if c.noCeiling {
		c.Ceiling = -1
	}
	kind, err := ring.ParsePolicyKind(c.policy)
	if err != nil {
		return e.usage("%v", err)
	}
	c.Policy = ring.Policy{Kind: kind}
	if kind == ring.PolicyWaitFor {
		c.Policy.For = time.Second
	}
	c.ChildArgs = c.childArgs
	return nil
}

// lossless reports whether nothing may be lost.
func (c *common) lossless() bool { return c.Policy.Kind == ring.PolicyWait }
