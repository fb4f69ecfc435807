package main

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/fantail-io/fantail/netio/uring"
	"github.com/fantail-io/fantail/ring"
)

// What the doctor is content with.
const (
	wantFiles     = 16_384  // descriptors: the default of 10,000 connections, and room
	wantSomaxconn = 1_024   // connections that may wait to be accepted
	wantTCPBytes  = 4 << 20 // the most that a socket's buffers may grow to
	wantMemory    = 512 << 20
)

// examine is what Linux tells.
func examine() []finding {
	return []finding{kernel(), descriptors(), ioUring(), hugePages(), backlog(),
		tcpBuffer("tcp_wmem", "send"), tcpBuffer("tcp_rmem", "receive"), memory(), clockSource()}
}

// setting reads a file of /proc or /sys; empty where it is not there.
func setting(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

func kernel() finding {
	var u unix.Utsname
	if err := unix.Uname(&u); err != nil {
		return finding{"kernel", err.Error(), "uname should work: is this a sandbox?"}
	}
	f := finding{what: "kernel", found: unix.ByteSliceToString(u.Release[:])}
	major, minor := 0, 0
	if _, err := fmt.Sscanf(f.found, "%d.%d", &major, &minor); err == nil &&
		(major < 4 || major == 4 && minor < 18) {
		f.advice = "it is older than those that Fantail is tested with: 4.18 or later is better"
	}
	return f
}

func descriptors() finding {
	f := finding{what: "descriptors"}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		f.found, f.advice = err.Error(), "the limit of open files is not known"
		return f
	}
	// Go raises the soft limit to the hard one at start-up.
	f.found = fmt.Sprintf("%d open files, at most %d", limit.Cur, limit.Max)
	if limit.Max < wantFiles {
		f.advice = fmt.Sprintf("each connection takes one: ulimit -n %d, or LimitNOFILE=%d in "+
			"the systemd unit", wantFiles, wantFiles)
	}
	return f
}

func ioUring() finding {
	err := uring.Probe()
	switch {
	case err == nil:
		return finding{what: "io_uring", found: "works: --sender uring may be chosen"}
	case errors.Is(err, ring.ErrNotSupported):
		advice := "--sender auto and writev do without it; it needs Linux 5.12, and a container " +
			"whose seccomp profile allows it"
		if n := setting("/proc/sys/kernel/io_uring_disabled"); n != "" && n != "0" {
			advice = "--sender auto and writev do without it; to allow it: sysctl -w " +
				"kernel.io_uring_disabled=0"
		}
		return finding{"io_uring", err.Error(), advice}
	}
	return finding{"io_uring", err.Error(), "it is there, but did not start: is memory short, or the " +
		"locked memory that ulimit -l allows?"}
}

func hugePages() finding {
	f := finding{what: "huge pages"}
	enabled := setting("/sys/kernel/mm/transparent_hugepage/enabled")
	_, rest, _ := strings.Cut(enabled, "[")
	chosen, _, _ := strings.Cut(rest, "]")
	switch chosen {
	case "":
		f.found, f.advice = "not known", "without transparent huge pages a large stream costs "+
			"some more CPU; nothing else changes"
	case "never":
		f.found = "transparent huge pages: never"
		f.advice = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled lets the stream " +
			"use them"
	default:
		f.found = "transparent huge pages: " + chosen
	}
	return f
}

func backlog() finding {
	n, err := strconv.Atoi(setting("/proc/sys/net/core/somaxconn"))
	if err != nil {
		return finding{"somaxconn", "not known", "look at /proc/sys/net/core/somaxconn"}
	}
	f := finding{what: "somaxconn", found: fmt.Sprintf("%d connections may wait to be accepted", n)}
	if n < wantSomaxconn {
		f.advice = fmt.Sprintf("many clients that come back at once are turned away: sysctl -w "+
			"net.core.somaxconn=%d", wantSomaxconn)
	}
	return f
}

// tcpBuffer looks at how far a socket's buffer may grow by itself.
func tcpBuffer(name, direction string) finding {
	f := finding{what: name}
	fields := strings.Fields(setting("/proc/sys/net/ipv4/" + name))
	if len(fields) != 3 {
		f.found, f.advice = "not known", "look at /proc/sys/net/ipv4/"+name
		return f
	}
	most, _ := strconv.ParseUint(fields[2], 10, 64)
	f.found = fmt.Sprintf("%s buffers grow to %s", direction, bytesText(most))
	if most < wantTCPBytes {
		f.advice = fmt.Sprintf("bursts and long distances want more: sysctl -w net.ipv4.%s=\"%s %s "+
			"%d\"", name, fields[0], fields[1], wantTCPBytes)
	}
	return f
}

func memory() finding {
	f := finding{what: "memory"}
	for line := range strings.Lines(setting("/proc/meminfo")) {
		fields := strings.Fields(line)
		if len(fields) < 2 || fields[0] != "MemAvailable:" {
			continue
		}
		kib, _ := strconv.ParseUint(fields[1], 10, 64)
		f.found = bytesText(kib<<10) + " available"
		if kib<<10 < wantMemory {
			f.advice = "the stream is 64 MiB unless --stream says otherwise, and sockets' buffers " +
				"come on top"
		}
		return f
	}
	f.found, f.advice = "not known", "look at /proc/meminfo"
	return f
}

func clockSource() finding {
	f := finding{what: "clock",
		found: setting("/sys/devices/system/clocksource/clocksource0/current_clocksource")}
	switch f.found {
	case "tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page":
	case "":
		f.found, f.advice = "not known", "the clock is read once a message: it should not be a "+
			"system call"
	default:
		f.advice = "the clock is read once a message, and this source makes that a system call: " +
			"prefer tsc or kvm-clock"
	}
	return f
}
