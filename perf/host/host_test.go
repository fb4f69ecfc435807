package host

import (
	"fmt"
	"maps"
	"runtime"
	"runtime/debug"
	"testing"
	"testing/fstest"
)

func file(content string) *fstest.MapFile { return &fstest.MapFile{Data: []byte(content)} }

func TestReadOfAKnownMachine(t *testing.T) {
	const sys = "sys/devices/system/"
	root := fstest.MapFS{
		"proc/cpuinfo": file("processor\t: 0\nmodel name\t: Zweig 9000 \n" +
			"flags\t\t: fpu hypervisor sse2\nprocessor\t: 1\nmodel name\t: Other\n"),
		"proc/meminfo":              file("MemTotal:        2048 kB\nMemFree: 1 kB\n"),
		"proc/loadavg":              file("0.52 0.58 0.59 1/467 12345\n"),
		"proc/sys/kernel/osrelease": file("6.18.44\n"),

		"proc/sys/net/ipv4/tcp_congestion_control":           file("cubic\n"),
		"sys/kernel/mm/transparent_hugepage/enabled":         file("always [madvise] never\n"),
		sys + "clocksource/clocksource0/current_clocksource": file("tsc\n"),
		sys + "cpu/cpu0/cpufreq/scaling_governor":            file("performance\n"),
		sys + "cpu/cpu0/cache/index0/size":                   file("32K\n"),
		sys + "cpu/cpu0/cache/index0/level":                  file("1\n"),
		sys + "cpu/cpu0/cache/index0/type":                   file("Data\n"),
		sys + "cpu/cpu0/cache/index1/size":                   file("512K\n"),
		sys + "cpu/cpu0/cache/index1/level":                  file("2\n"),
		sys + "cpu/cpu0/cache/index1/type":                   file("Unified\n"),
		sys + "cpu/cpu0/cache/power/control":                 file("auto\n"),
		sys + "cpu/vulnerabilities/meltdown":                 file("Mitigation: PTI\n"),
		sys + "cpu/vulnerabilities/mds":                      file("Not affected\n"),
		sys + "node/node0/cpulist":                           file("0-1\n"),
		sys + "node/node1/cpulist":                           file("2-3\n"),
		sys + "node/possible":                                file("0-1\n"),
	}
	f := read(root)
	want := Fingerprint{CPU: "Zweig 9000", Hypervisor: true, Caches: "L1d 32K, L2 512K",
		Memory: 2 << 20, NUMANodes: 2, Kernel: "6.18.44", Governor: "performance", Clock: "tsc",
		HugePages: "madvise", Congestion: "cubic", Load1: 0.52,
		Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH, Go: runtime.Version(),
		GOMAXPROCS: runtime.GOMAXPROCS(0)}
	if !maps.Equal(f.Mitigations, map[string]string{"meltdown": "Mitigation: PTI"}) {
		t.Errorf("mitigations: %v", f.Mitigations)
	}
	f.Mitigations = nil
	if got, expected := fmt.Sprintf("%+v", f), fmt.Sprintf("%+v", want); got != expected {
		t.Errorf("got  %s\nwant %s", got, expected)
	}
}

func TestReadOfAMachineWithoutFiles(t *testing.T) {
	f := read(fstest.MapFS{"proc/meminfo": file("MemTotal: lots\n"), "proc/loadavg": file("?")})
	if f.CPU != "" || f.Memory != 0 || f.Load1 != 0 || f.Cores < 1 || f.Go == "" {
		t.Errorf("%+v", f)
	}
}

func TestProbe(t *testing.T) {
	var f Fingerprint
	f.Probe()
	if f.SyscallNS <= 0 || f.SyscallNS > 1e6 {
		t.Errorf("a system call takes %v ns", f.SyscallNS)
	}
	if f.CacheLineNS < 0 || f.CacheLineNS > 1e6 {
		t.Errorf("a cache line takes %v ns", f.CacheLineNS)
	}
}

func TestVersion(t *testing.T) {
	info := &debug.BuildInfo{Main: debug.Module{Version: "v1.2.3"}}
	if got := version(info); got != "v1.2.3" {
		t.Errorf("a release is %q", got)
	}
	info.Settings = []debug.BuildSetting{{Key: "vcs.revision", Value: "0123456789abcdef"},
		{Key: "vcs.modified", Value: "true"}}
	if got := version(info); got != "0123456789ab+changes" {
		t.Errorf("a changed tree is %q", got)
	}
}
