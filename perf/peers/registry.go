package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/fantail-io/fantail/perf/peers/internal/fantailpeer"
	"github.com/fantail-io/fantail/perf/peers/internal/natspeer"
	"github.com/fantail-io/fantail/perf/peers/internal/peer"
	"github.com/fantail-io/fantail/perf/peers/internal/redispeer"
	"github.com/fantail-io/fantail/perf/peers/internal/zmqpeer"
)

// entry is a peer that the command knows.
type entry struct {
	name   string
	help   string
	extra  bool // measured only where --peers names it
	new    func(tempDir string) peer.Peer
	driver peer.Driver // what of it is written in Go
}

// registry is every peer, in the order of the tables.
var registry = []entry{
	{name: fantailpeer.Name, driver: fantailpeer.Peer{}.Driver(),
		help: "the engine and its native door, the publisher in the engine's process",
		new:  func(string) peer.Peer { return fantailpeer.Peer{} }},
	{name: fantailpeer.NameTCP, driver: fantailpeer.Peer{TCP: true}.Driver(),
		help: "the same, with the publisher in a process of its own, over TCP",
		new:  func(string) peer.Peer { return fantailpeer.Peer{TCP: true} }},
	{name: natspeer.Name, driver: natspeer.Peer{}.Driver(),
		help: "nats-server (linked in) and nats.go; asynchronous callbacks",
		new:  func(string) peer.Peer { return natspeer.Peer{} }},
	{name: natspeer.NameEmbedded, driver: natspeer.Peer{Embedded: true}.Driver(), extra: true,
		help: "the same, with the publisher inside the server's process",
		new:  func(string) peer.Peer { return natspeer.Peer{Embedded: true} }},
	{name: redispeer.Name, driver: redispeer.Driver(),
		help: "redis-server, PUBLISH and SUBSCRIBE; bare sockets, no client library",
		new:  func(dir string) peer.Peer { return redispeer.Peer{Dir: dir} }},
	{name: zmqpeer.Name, help: "libzmq, XPUB to SUB over TCP, both in C; there is no broker",
		new: func(dir string) peer.Peer { return zmqpeer.New(dir) }},
}

// drivers are the registry's, by name, for the children.
func drivers() map[string]peer.Driver {
	m := make(map[string]peer.Driver, len(registry))
	for _, e := range registry {
		m[e.name] = e.driver
	}
	return m
}

// choose makes the peers that list names, comma-separated, in the registry's order; an empty
// list names all but the extra ones.
func choose(list, tempDir string) ([]peer.Peer, error) {
	names := strings.FieldsFunc(list, func(r rune) bool { return r == ',' || r == ' ' })
	for _, name := range names {
		if !slices.ContainsFunc(registry, func(e entry) bool { return e.name == name }) {
			return nil, fmt.Errorf("there is no peer %q: %s", name, strings.Join(allNames(), ", "))
		}
	}
	var peers []peer.Peer
	for _, e := range registry {
		if slices.Contains(names, e.name) || len(names) == 0 && !e.extra {
			peers = append(peers, e.new(tempDir))
		}
	}
	return peers, nil
}

func allNames() (names []string) {
	for _, e := range registry {
		names = append(names, e.name)
	}
	return names
}

// peersHelp is the registry as text.
func peersHelp() string {
	var b strings.Builder
	for _, e := range registry {
		fmt.Fprintf(&b, "  %-14s %s\n", e.name, e.help)
	}
	return b.String()
}
