package main

import (
	"context"
	"errors"
	"flag"

	"github.com/fantail-io/fantail/perf/report"
)

// errWorse says that figures got worse.
var errWorse = errors.New("figures got worse")

func runDiff(_ context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	threshold := fs.Float64("threshold", 5, "PERCENT|what is called better or worse")
	fail := fs.Bool("fail", false, "|exit with 1 where a figure got worse")
	operands, err := e.parse(fs)
	if err != nil {
		return err
	}
	if len(operands) != 2 {
		return e.usage("it takes two files; perf diff -h says more")
	}
	before, err := report.Load(operands[0])
	if err != nil {
		return err
	}
	after, err := report.Load(operands[1])
	if err != nil {
		return err
	}
	if worse := report.WriteDiff(e.out, before, after, *threshold/100); worse > 0 && *fail {
		return errWorse
	}
	return nil
}

func runShow(_ context.Context, e *environment) error {
	fs := flag.NewFlagSet(e.command.name, flag.ContinueOnError)
	var o output
	fs.StringVar(&o.html, "report", "", "FILE|write a page with plots to it")
	fs.StringVar(&o.bench, "gobench", "", "FILE|write Go's benchmark format to it, for benchstat")
	operands, err := e.parse(fs)
	if err != nil {
		return err
	}
	if len(operands) != 1 {
		return e.usage("it takes one file")
	}
	r, err := report.Load(operands[0])
	if err != nil {
		return err
	}
	if err := o.deliver(e, r, false); err != nil && !errors.Is(err, errDamaged) {
		return err // what was damaged then is in the figures
	}
	return nil
}
