package main

const help = `peers runs the same workload on Fantail and on other messaging systems, one after
the other, round after round, and prints what each did and the ratios between them.

usage: peers [flags] [openamq | latency | ams | all]      (default: openamq)

WORKLOADS

  openamq   1 publisher, -S subscribers, -Z bytes, everything to everyone, over TCP on loopback.
            The publisher goes on for --seconds, or for -M messages, as fast as the peer takes
            them. published/s, delivered/s and their sum count from just before the first
            publish to the last delivery. OpenAMQ's own figures were in+out.
  latency   An open loop: --rate messages a second, each due at a fixed time, for --seconds,
            first to 1 subscriber and then to -S. Latency counts from the time at which a
            message was due, so that a stall is not hidden. "late" is the part of it that had
            passed when the message was published: the load generator's own share, and back
            pressure. The first tenth of the messages is not recorded.
  ams       20, 200, 2,000 and 20,000 bytes to 1 and to 2 subscribers, 200 MB each times
            --scale. Figures are per subscriber (the slowest), from its first message to its
            last; Mbps with the original's divisor 1024² and true Mbit/s.

PEERS (--peers a,b,c; default: all but nats-embedded)

`

const helpFairness = `
  One that is not installed is left out, and the end of the output says what to install.

HOW IT IS FAIR

  Broker, subscribers and publisher are processes of their own. Each subscriber has its own TCP
  connection; all are in one process. The payload is the same, and every subscriber checks each
  message's size, sequence and both ends; where latency is measured it reads the clock once a
  message, otherwise twice a run. In a round every peer runs once, and each round begins with
  another one. Figures are medians [least..most] over --rounds rounds; a ratio is taken inside a
  round, and the median of those is printed. "÷" is Fantail's figure over the peer's: for rates
  more is better, for latencies less.

  Nothing may be lost: queues are bounded by back pressure where a peer has it, and otherwise
  allowed to grow. What is lost nevertheless is counted, --drain after the last publish.

  CPU is in and outside the kernel, from rusage, in microseconds per delivery (= CPU seconds per
  million deliveries). Where the publisher is in the broker's process its CPU is the server's. The
  ratio named CPU is of all processes together: less is better, and it is the figure to trust on a
  machine that has other work to do.

FLAGS

`

const helpEnd = `
EXAMPLES

  peers                                  the OpenAMQ scenario, 3 rounds of all peers
  peers --peers nats,fantail latency
  peers --seconds 5 --rounds 5 --json peers.json all
  peers --scale 0.01 ams                 a quick look

Ctrl-C ends the run and its processes, and prints what was measured until then.
Exit code: 0, 1 when a run failed, 2 for wrong usage, 130 when interrupted.
`
