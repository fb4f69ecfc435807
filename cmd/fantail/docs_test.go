package main

import (
	"bytes"
	"fmt"
	"go/ast"
	goformat "go/format"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/engine/door/native"
	"github.com/fantail-io/fantail/netio"
	"github.com/fantail-io/fantail/netio/client"
	wire "github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
)

const (
	root      = "../.."
	operating = root + "/docs/operating"
)

var generated = regexp.MustCompile(`(?s)<!-- generated: (\S+) ([^>]*) -->\n(.*?)<!-- end -->`)

// TestLimits holds docs/operating/limits.md to the comments of the code.
func TestLimits(t *testing.T) {
	file := filepath.Join(operating, "limits.md")
	old, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	made := generated.ReplaceAllFunc(old, func(block []byte) []byte {
		m := generated.FindSubmatch(block)
		names := strings.Fields(string(m[2]))
		return fmt.Appendf(nil, "<!-- generated: %s %s -->\n%s<!-- end -->", m[1], m[2],
			table(t, filepath.Join(root, string(m[1])), names))
	})
	if *rewrite {
		if err := os.WriteFile(file, made, 0o644); err != nil {
			t.Fatal(err)
		}
	} else if !bytes.Equal(old, made) {
		t.Error("limits.md is not what the code says; go test -run TestLimits -rewrite " +
			"./cmd/fantail writes it anew")
	}
}

// table is the struct names[0] of a file, or its constants: all, or those named behind
// "const".
func table(t *testing.T, file string, names []string) string {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), file, nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	var b strings.Builder
	rows := 0
	row := func(name, value, doc string) {
		if doc == "" {
			t.Errorf("%s: %s has no comment", file, name)
		}
		rows++
		doc = strings.TrimSpace(strings.TrimPrefix(strings.TrimPrefix(doc, name+" "), "is "))
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, value, doc)
	}
	ast.Inspect(parsed, func(n ast.Node) bool {
		switch spec := n.(type) {
		case *ast.FuncDecl:
			return false
		case *ast.TypeSpec:
			if s, ok := spec.Type.(*ast.StructType); ok && spec.Name.Name == names[0] {
				b.WriteString("| field | default | what |\n|---|---|---|\n")
				fieldRows(s, row)
			}
		case *ast.ValueSpec:
			for i, name := range spec.Names {
				if names[0] != "const" || len(spec.Values) <= i ||
					len(names) > 1 && !slices.Contains(names[1:], name.Name) {
					continue
				}
				if rows == 0 {
					b.WriteString("| limit | value | what |\n|---|---|---|\n")
				}
				var value bytes.Buffer
				if err := goformat.Node(&value, token.NewFileSet(), spec.Values[i]); err != nil {
					t.Fatal(err)
				}
				row(name.Name, "`"+value.String()+"`", oneLine(spec.Doc, spec.Comment))
			}
		}
		return true
	})
	if rows == 0 || names[0] == "const" && len(names) > 1 && rows != len(names)-1 {
		t.Errorf("%s: %d of %v found", file, rows, names)
	}
	return b.String()
}

var defaulted = regexp.MustCompile(`(Zero|Empty): ((?:[^.]|\.\S)*)\.(?:$| )`)

// fieldRows makes a row of each field, with what its comment says of zero apart.
func fieldRows(s *ast.StructType, row func(name, value, doc string)) {
	doc := ""
	for _, f := range s.Fields.List {
		if f.Doc != nil || f.Comment != nil {
			doc = oneLine(f.Doc, f.Comment)
		}
		value := ""
		if m := defaulted.FindStringSubmatch(doc); m != nil {
			value = m[2]
			doc = strings.Replace(doc, m[0], "", 1)
		}
		var names []string
		for _, name := range f.Names {
			names = append(names, name.Name)
		}
		row(strings.Join(names, "`, `"), value, doc)
	}
}

// oneLine is a comment's text.
func oneLine(groups ...*ast.CommentGroup) string {
	var words []string
	for _, g := range groups {
		if g != nil {
			words = append(words, strings.Fields(g.Text())...)
		}
	}
	return strings.ReplaceAll(strings.Join(words, " "), "|", `\|`)
}

// TestCounters holds docs/operating/counters.md to the snapshots.
func TestCounters(t *testing.T) {
	b, err := os.ReadFile(filepath.Join(operating, "counters.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range []any{engine.Snapshot{}, ring.Stats{}, engine.PublisherStats{},
		engine.SubscriptionStats{}, native.Snapshot{}, netio.ShardStats{}, netio.ConnStats{},
		client.Stats{}, client.SubscriptionStats{}} {
		typ := reflect.TypeOf(v)
		var want []string
		for field := range typ.Fields() {
			want = append(want, field.Name)
		}
		if got := firstColumn(string(b), typ.String()); !slices.Equal(got, want) {
			t.Errorf("%v: counters.md has %v, the code %v", typ, got, want)
		}
	}
}

// TestReasons holds the tables of reasons to the code.
func TestReasons(t *testing.T) {
	sessions, err := os.ReadFile(filepath.Join(operating, "troubleshooting.md"))
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for code := wire.CodeNone + 1; code < wire.CodeShuttingDown; code++ {
		want = append(want, code.String())
	}
	if got := firstColumn(string(sessions), "Why a session was ended"); !slices.Equal(got, want) {
		t.Errorf("troubleshooting.md has %v, the code %v", got, want)
	}
	gaps, err := os.ReadFile(filepath.Join(operating, "slow-consumers.md"))
	if err != nil {
		t.Fatal(err)
	}
	got := firstColumn(string(gaps), "Gap records")
	for reason := ring.GapNone + 1; reason < ring.GapReasons; reason++ {
		if !slices.Contains(got, reason.String()) {
			t.Errorf("slow-consumers.md does not explain the reason %v: %v", reason, got)
		}
	}
}

// firstColumn is the names in the first column of the table under a heading.
func firstColumn(text, heading string) (names []string) {
	_, section, _ := strings.Cut(text, "\n## "+heading+"\n")
	section, _, _ = strings.Cut(section, "\n## ")
	for line := range strings.Lines(section) {
		if name, ok := strings.CutPrefix(line, "| `"); ok {
			name, _, _ = strings.Cut(name, "`")
			names = append(names, name)
		}
	}
	return names
}
