package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"time"

	"github.com/fantail-io/fantail/perf/peers/internal/compare"
)

// Report is all that a run of the command has to say.
type Report struct {
	Tool    string    `json:"tool"`
	Format  int       `json:"format"` // 1
	Started time.Time `json:"started"`
	Host    Host      `json:"host"`
	Rounds  int       `json:"rounds"`
	// Interrupted says that not all was measured.
	Interrupted bool              `json:"interrupted,omitempty"`
	Versions    map[string]string `json:"versions"`
	Missing     []Missing         `json:"missing,omitempty"`
	Cases       []compare.Case    `json:"cases"`
}

// Missing is a peer that could not be measured here.
type Missing struct {
	Peer    string `json:"peer"`
	Reason  string `json:"reason"`
	Install string `json:"install,omitempty"`
}

// Host is the machine, as far as it matters for figures.
type Host struct {
	OS     string `json:"os"`
	Arch   string `json:"arch"`
	CPU    string `json:"cpu"`
	Cores  int    `json:"cores"`
	Kernel string `json:"kernel"`
	Go     string `json:"go"`
}

// ThisHost looks at the machine. What the system does not tell is empty.
func ThisHost() Host {
	return Host{OS: runtime.GOOS, Arch: runtime.GOARCH, Cores: runtime.NumCPU(),
		Go: runtime.Version(), CPU: cpuModel(), Kernel: oneLine("/proc/sys/kernel/osrelease")}
}

func oneLine(path string) string {
	b, _ := os.ReadFile(path)
	return strings.TrimSpace(string(b))
}

func cpuModel() string {
	b, _ := os.ReadFile("/proc/cpuinfo")
	for line := range strings.Lines(string(b)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// WriteJSON writes r as indented JSON.
func (r *Report) WriteJSON(w io.Writer) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	if err := enc.Encode(r); err != nil {
		return fmt.Errorf("report: %w", err)
	}
	_, err := w.Write(b.Bytes())
	return err
}
