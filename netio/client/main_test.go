package client

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"
)

// patienceMax bounds what a test waits for.
const patienceMax = 10 * time.Second

func TestMain(m *testing.M) {
	code := m.Run()
	if code == 0 {
		if leaked := leaks(); leaked != "" {
			fmt.Println("client: leaked:", leaked)
			code = 1
		}
	}
	os.Exit(code)
}

// leaks answers what the tests have left behind: goroutines of this package, and sockets.
func leaks() string {
	var stacks string
	for range 200 { // goroutines may be on their way out
		b := make([]byte, 1<<20)
		stacks = string(b[:runtime.Stack(b, true)])
		own := 0
		for _, g := range strings.Split(stacks, "\n\n") {
			if strings.Contains(g, "netio/client.") && !strings.Contains(g, "client.TestMain") {
				own++
			}
		}
		if own == 0 {
			stacks = ""
			break
		}
		runtime.Gosched()
	}
	if stacks != "" {
		return stacks
	}
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return ""
	}
	kept := map[string]int{"anon_inode:[eventpoll]": 1, "anon_inode:[eventfd]": 1} // the runtime's
	for _, e := range entries {
		link, _ := os.Readlink("/proc/self/fd/" + e.Name())
		own, ok := kept[link]
		if strings.HasPrefix(link, "socket:") || ok && own == 0 {
			return "descriptor " + e.Name() + " " + link
		}
		kept[link]--
	}
	return ""
}

// patient is a context that a test never outlives.
func patient(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(context.Background(), patienceMax)
	t.Cleanup(cancel)
	return ctx
}
