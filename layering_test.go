package fantail_test

import (
	"encoding/json"
	"io"
	"os/exec"
	"slices"
	"strings"
	"testing"
)

// module is this module's path.
const module = "github.com/fantail-io/fantail"

// layers says who may import whom of this module: the first row whose folder holds the
// package counts. A folder ending in /... holds its children too; one after a ! is taken
// out of what the folders before it allow.
var layers = []struct {
	folder string
	may    []string
}{
	{"ring/...", []string{"ring/..."}},
	{"engine/door/...", []string{"ring/...", "engine/...", "!engine/door/...", "netio/..."}},
	{"engine/...", []string{"ring/...", "engine/...", "!engine/door/..."}},
	{"netio/client", []string{"ring/...", "netio/..."}},
	{"netio/...", []string{"ring/...", "netio/..."}},
	{"perf/...", []string{"ring/...", "engine/...", "netio/...", "perf/..."}},
	{"cmd/...", []string{"ring/...", "engine/...", "netio/...", "perf/..."}},
	{"docs/...", []string{"ring/...", "engine/...", "netio/..."}},
}

// homes says where the module's third parties may be imported.
var homes = map[string][]string{
	"github.com/cilium/ebpf":                  {"netio/xdp", "netio/bpf"},
	"github.com/valyala/bytebufferpool":       {"netio/...", "engine/door/...", "perf/..."},
	"github.com/pkg/profile":                  {"cmd/...", "perf/..."},
	"golang.org/x/sys":                        {"ring/arena", "ring/wait", "netio/...", "perf/...", "cmd/..."},
	"github.com/HdrHistogram/hdrhistogram-go": {"perf/...", "cmd/..."},
}

type listed struct {
	ImportPath string
	Imports    []string
	Standard   bool
}

func packages(t *testing.T) []listed {
	t.Helper()
	out, err := exec.Command("go", "list", "-json=ImportPath,Imports", "./...").Output()
	if err != nil {
		t.Fatalf("go list: %v", err)
	}
	var all []listed
	for dec := json.NewDecoder(strings.NewReader(string(out))); ; {
		var p listed
		if err := dec.Decode(&p); err == io.EOF {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		all = append(all, p)
	}
}

func within(pkg, folder string) bool {
	if tree, ok := strings.CutSuffix(folder, "/..."); ok {
		return pkg == tree || strings.HasPrefix(pkg, tree+"/")
	}
	return pkg == folder
}

func allowed(pkg string, may []string) bool {
	ok := false
	for _, folder := range may {
		if out, not := strings.CutPrefix(folder, "!"); not {
			ok = ok && !within(pkg, out)
		} else {
			ok = ok || within(pkg, folder)
		}
	}
	return ok
}

func TestLayering(t *testing.T) {
	for _, p := range packages(t) {
		pkg := strings.TrimPrefix(strings.TrimPrefix(p.ImportPath, module), "/")
		if pkg == "" {
			continue
		}
		row := slices.IndexFunc(layers, func(l struct {
			folder string
			may    []string
		}) bool {
			return within(pkg, l.folder)
		})
		if row < 0 {
			t.Errorf("%s is in no layer: add a row, or move it", pkg)
			continue
		}
		for _, imported := range p.Imports {
			if inner, ok := strings.CutPrefix(imported, module+"/"); ok {
				if !allowed(inner, layers[row].may) {
					t.Errorf("%s imports %s: %s may import only %v", pkg, inner,
						layers[row].folder, layers[row].may)
				}
				continue
			}
			checkHome(t, pkg, imported)
		}
	}
}

// checkHome holds third parties to where they belong.
func checkHome(t *testing.T, pkg, imported string) {
	t.Helper()
	if !strings.Contains(strings.Split(imported, "/")[0], ".") {
		return // the standard library
	}
	for party, folders := range homes {
		if imported == party || strings.HasPrefix(imported, party+"/") {
			if !slices.ContainsFunc(folders, func(f string) bool { return within(pkg, f) }) {
				t.Errorf("%s imports %s, which belongs in %v", pkg, imported, folders)
			}
			return
		}
	}
	t.Errorf("%s imports %s, which has no home: add a row", pkg, imported)
}

// The packages that applications embed stay light.
func TestEmbeddersInheritLittle(t *testing.T) {
	for _, pkg := range []string{"engine", "engine/door/native", "netio/client"} {
		out, err := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.ImportPath}}{{end}}",
			"./"+pkg).Output()
		if err != nil {
			t.Fatalf("go list %s: %v", pkg, err)
		}
		for _, dep := range strings.Fields(string(out)) {
			light := strings.HasPrefix(dep, module+"/") ||
				strings.HasPrefix(dep, "golang.org/x/sys/") ||
				strings.HasPrefix(dep, "github.com/valyala/bytebufferpool") ||
				strings.HasPrefix(dep, "github.com/cilium/ebpf")
			if !light {
				t.Errorf("%s brings %s to whoever embeds it", pkg, dep)
			}
		}
	}
}
