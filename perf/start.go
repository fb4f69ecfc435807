package perf

import (
	"time"

	"github.com/fantail-io/fantail/perf/ceiling"
	"github.com/fantail-io/fantail/perf/host"
	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/perf/worker"
)

// Jobs are the kinds of work that children of a run do: a program that calls Run serves them
// where worker.Arg is its first argument.
func Jobs() map[string]worker.Job {
	return map[string]worker.Job{
		SubscribeJob:      subscribe,
		PublishJob:        publish,
		ceiling.ReaderJob: ceiling.Read,
	}
}

// newReport answers a report with everything but results.
func newReport(workload string) *report.Report {
	r := &report.Report{Schema: report.Schema, Version: host.Version(),
		Started: time.Now().UTC().Truncate(time.Millisecond), Host: host.Read(),
		Result: report.Result{Workload: workload}}
	r.Host.Probe()
	return r
}
