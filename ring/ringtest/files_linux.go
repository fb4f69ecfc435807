package ringtest

import (
	"os"
	"path/filepath"
)

// files counts this process's descriptors by what they lead to.
func files() map[string]int {
	const dir = "/proc/self/fd"
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil
	}
	counts := make(map[string]int)
	for _, e := range entries {
		// The descriptor of the listing itself is closed by now.
		if target, err := os.Readlink(filepath.Join(dir, e.Name())); err == nil {
			counts[target]++
		}
	}
	return counts
}
