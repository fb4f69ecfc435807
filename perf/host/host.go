package host

import (
	"io/fs"
	"os"
	"path"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
)

// Fingerprint identifies the machine and the build of a measurement.
type Fingerprint struct {
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"` // that the program may use
	Caches     string `json:"caches,omitempty"`
	Memory     uint64 `json:"memory_bytes,omitempty"`
	NUMANodes  int    `json:"numa_nodes,omitempty"`
	OS         string `json:"os"`
	Arch       string `json:"arch"`
	Kernel     string `json:"kernel,omitempty"`
	Hypervisor bool   `json:"hypervisor"`
	Governor   string `json:"governor,omitempty"`
	Clock      string `json:"clocksource,omitempty"`
	HugePages  string `json:"transparent_huge_pages,omitempty"`
	Congestion string `json:"tcp_congestion_control,omitempty"`
	// Mitigations are the kernel's words on each vulnerability that the CPU has.
	Mitigations map[string]string `json:"mitigations,omitempty"`
	Load1       float64           `json:"load_1min"` // before the measurement
	Go          string            `json:"go"`
	GOMAXPROCS  int               `json:"gomaxprocs"`
	// SyscallNS is the cheapest system call, CacheLineNS a cache line's way to another core
	// and back, both in nanoseconds. Zero: not measured.
	SyscallNS   float64 `json:"syscall_ns,omitempty"`
	CacheLineNS float64 `json:"cache_line_round_trip_ns,omitempty"`
}

// Read answers this machine's fingerprint, without Probe's figures.
func Read() Fingerprint { return read(os.DirFS("/")) }

// read takes the machine's files from root.
func read(root fs.FS) Fingerprint {
	f := Fingerprint{Cores: runtime.NumCPU(), OS: runtime.GOOS, Arch: runtime.GOARCH,
		Go: runtime.Version(), GOMAXPROCS: runtime.GOMAXPROCS(0)}
	r := reader{root}
	f.CPU, f.Hypervisor = r.cpu()
	f.Caches = r.caches()
	f.Memory = r.memory()
	f.NUMANodes = r.count("sys/devices/system/node", "node")
	f.Kernel = r.line("proc/sys/kernel/osrelease")
	f.Governor = r.line("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor")
	f.Clock = r.line("sys/devices/system/clocksource/clocksource0/current_clocksource")
	f.HugePages = chosen(r.line("sys/kernel/mm/transparent_hugepage/enabled"))
	f.Congestion = r.line("proc/sys/net/ipv4/tcp_congestion_control")
	f.Mitigations = r.mitigations()
	load, _, _ := strings.Cut(r.line("proc/loadavg"), " ")
	f.Load1, _ = strconv.ParseFloat(load, 64) // zero where there is none
	return f
}

type reader struct{ root fs.FS }

// line is a file's content without the space around it; empty where there is no such file.
func (r reader) line(name string) string {
	b, err := fs.ReadFile(r.root, name)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// cpu is the model as /proc/cpuinfo has it, and whether a hypervisor shows.
func (r reader) cpu() (model string, hypervisor bool) {
	for line := range strings.Lines(r.line("proc/cpuinfo")) {
		key, value, _ := strings.Cut(line, ":")
		switch strings.TrimSpace(key) {
		case "model name", "Model", "Processor":
			if model == "" {
				model = strings.TrimSpace(value)
			}
		case "flags":
			hypervisor = hypervisor || strings.Contains(value+" ", " hypervisor ")
		}
		if model != "" && hypervisor {
			break
		}
	}
	return model, hypervisor
}

// caches lists those of core 0: "L1d 32K, L1i 32K, L2 1024K, L3 32768K".
func (r reader) caches() string {
	dir := "sys/devices/system/cpu/cpu0/cache"
	entries, err := fs.ReadDir(r.root, dir)
	if err != nil {
		return ""
	}
	var list []string
	for _, e := range entries {
		size := r.line(path.Join(dir, e.Name(), "size"))
		if size == "" {
			continue
		}
		name := "L" + r.line(path.Join(dir, e.Name(), "level"))
		switch r.line(path.Join(dir, e.Name(), "type")) {
		case "Data":
			name += "d"
		case "Instruction":
			name += "i"
		}
		list = append(list, name+" "+size)
	}
	return strings.Join(list, ", ")
}

func (r reader) memory() uint64 {
	for line := range strings.Lines(r.line("proc/meminfo")) {
		if rest, ok := strings.CutPrefix(line, "MemTotal:"); ok {
			kb, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
			n, err := strconv.ParseUint(kb, 10, 54)
			if err != nil {
				return 0
			}
			return n << 10
		}
	}
	return 0
}

// count counts the entries of dir that are called prefix and a number.
func (r reader) count(dir, prefix string) int {
	entries, err := fs.ReadDir(r.root, dir)
	if err != nil {
		return 0
	}
	n := 0
	for _, e := range entries {
		rest, ok := strings.CutPrefix(e.Name(), prefix)
		if _, err := strconv.Atoi(rest); ok && err == nil {
			n++
		}
	}
	return n
}

// mitigations are those that cost or leave something: vulnerabilities that do not affect
// the CPU are left out.
func (r reader) mitigations() map[string]string {
	dir := "sys/devices/system/cpu/vulnerabilities"
	entries, err := fs.ReadDir(r.root, dir)
	if err != nil {
		return nil
	}
	m := map[string]string{}
	for _, e := range entries {
		if s := r.line(path.Join(dir, e.Name())); s != "" && s != "Not affected" {
			m[e.Name()] = s
		}
	}
	return m
}

// chosen is the word in brackets: "always" of "[always] madvise never".
func chosen(s string) string {
	_, s, _ = strings.Cut(s, "[")
	s, _, _ = strings.Cut(s, "]")
	return s
}

// Version is what this program was built from: the module's version, or the commit and
// whether the tree had changes. Empty where the build does not say.
func Version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	return version(info)
}

func version(info *debug.BuildInfo) string {
	var revision, changed string
	for _, s := range info.Settings {
		switch s.Key {
		case "vcs.revision":
			revision = s.Value[:min(12, len(s.Value))]
		case "vcs.modified":
			if s.Value == "true" {
				changed = "+changes"
			}
		}
	}
	if revision != "" {
		return revision + changed
	}
	return info.Main.Version // "(devel)" where nothing is known, as under go run
}
