package perf

import (
	"context"
	"fmt"

	"github.com/fantail-io/fantail/perf/ceiling"
	"github.com/fantail-io/fantail/perf/report"
	"github.com/fantail-io/fantail/perf/usage"
)

// Ceiling measures the bare kernel alone: what OpenAMQ and the other workloads are compared
// with. Of c it takes Subscribers, Size, Rounds, Duration and CeilingWrite.
func Ceiling(ctx context.Context, c Config) (*report.Report, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	r := newReport("ceiling")
	var server, readers usage.Delta
	var rates []float64
	var writes, foreign, bytes float64
	main := &r.Result
	main.Subscribers, main.Size, main.Processes = c.Subscribers, c.Size, 1
	for i := range c.Rounds {
		step := fmt.Sprintf("round %d of %d", i+1, c.Rounds)
		c.Progress(Status{Workload: "ceiling", Step: step})
		top, err := ceiling.Run(ctx, ceiling.Config{Subscribers: c.Subscribers,
			PayloadBytes: c.Size, Duration: c.Duration, WriteBytes: c.CeilingWrite})
		if err != nil {
			return nil, err
		}
		c.Progress(Status{Workload: "ceiling", Step: step, Done: true,
			Delivered: uint64(top.Deliveries), DeliveredPerS: top.PerSecond})
		server, readers = server.Add(top.Server), readers.Add(top.Readers)
		main.Deliveries += uint64(top.Deliveries)
		main.Seconds += top.Seconds
		writes += float64(top.Writes)
		bytes += float64(top.Bytes)
		rates = append(rates, top.PerSecond)
		others := max(0, top.Server.HostBusySeconds-top.Server.CPUSeconds()-
			top.Readers.CPUSeconds()) / (top.Server.WallSeconds * cores())
		foreign = max(foreign, others)
		main.Rounds = append(main.Rounds, report.Round{DeliveredPerS: top.PerSecond,
			PublishedPerS: top.PerSecond / float64(c.Subscribers), ForeignCPU: others})
	}
	millions := float64(main.Deliveries) / 1e6
	main.Messages = main.Deliveries / uint64(c.Subscribers)
	main.DeliveredPerS = median(rates)
	main.PublishedPerS = main.DeliveredPerS / float64(c.Subscribers)
	main.InOutPerS = main.PublishedPerS + main.DeliveredPerS
	main.CPU = &report.CPU{Server: per(server.CPUSeconds(), millions),
		Subscribers: per(readers.CPUSeconds(), millions)}
	main.SyscallsPerDelivery = ptr(per(writes, float64(main.Deliveries)))
	main.BatchMean = per(bytes, writes)
	main.Sender, main.ForeignCPU = "write", &foreign
	return r, nil
}
