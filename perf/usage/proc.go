package usage

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// Resident is the memory of this process that is in RAM now, in bytes; Peak is the most it
// has been.
func Resident() (now, peak uint64) {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0, 0
	}
	return statusBytes(string(b), "VmRSS:"), statusBytes(string(b), "VmHWM:")
}

// statusBytes finds "name: 123 kB" in a status file of procfs.
func statusBytes(status, name string) uint64 {
	for line := range strings.Lines(status) {
		rest, ok := strings.CutPrefix(line, name)
		if !ok {
			continue
		}
		f := strings.Fields(rest)
		if len(f) == 0 {
			return 0
		}
		kb, err := strconv.ParseUint(f[0], 10, 64)
		if err != nil {
			return 0
		}
		return kb << 10
	}
	return 0
}

func hostBusy() time.Duration {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0
	}
	return statBusy(string(b))
}

// tick is the unit of /proc/stat: USER_HZ, which is 100 wherever Go runs.
const tick = 10 * time.Millisecond

// statBusy adds up user, nice, system, irq, softirq and steal time: fields 1, 2, 3, 6, 7 and 8
// of the first line. Stolen time went to other guests of a hypervisor.
func statBusy(stat string) time.Duration {
	line, _, _ := strings.Cut(stat, "\n")
	f := strings.Fields(line)
	if len(f) < 9 || f[0] != "cpu" {
		return 0
	}
	var busy time.Duration
	for _, i := range []int{1, 2, 3, 6, 7, 8} {
		n, err := strconv.ParseUint(f[i], 10, 63)
		if err != nil {
			return 0
		}
		busy += time.Duration(n) * tick
	}
	return busy
}
