package arena

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/fantail-io/fantail/ring/invariant"
	"github.com/fantail-io/fantail/ring/ringtest"
)

func TestMain(m *testing.M) { ringtest.Main(m) }

func newTestArena(t *testing.T, blocks int) *Arena {
	t.Helper()
	a, err := New(Config{BlockBytes: MinBlockBytes, Blocks: blocks})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func loan(t *testing.T, a *Arena) *Block {
	t.Helper()
	b, err := a.Loan()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestExhaustion(t *testing.T) {
	a := newTestArena(t, 3)
	var blocks []*Block
	for range 3 {
		blocks = append(blocks, loan(t, a))
	}
	for range 2 {
		if _, err := a.Loan(); err != ErrExhausted {
			t.Fatalf("%v, want ErrExhausted", err)
		}
	}
	if a.OnLoan() != 3 {
		t.Errorf("%d on loan", a.OnLoan())
	}
	blocks[1].Return()
	if b := loan(t, a); b != blocks[1] {
		t.Error("another block than the one that was returned")
	}
	for _, b := range blocks {
		b.Return()
	}
	if a.OnLoan() != 0 {
		t.Errorf("%d on loan", a.OnLoan())
	}
}

func TestBlocksAreDisjoint(t *testing.T) {
	a := newTestArena(t, 8)
	var blocks []*Block
	for i := range 8 {
		b := loan(t, a)
		if len(b.Bytes()) != MinBlockBytes || cap(b.Bytes()) != MinBlockBytes {
			t.Fatalf("%d bytes, capacity %d", len(b.Bytes()), cap(b.Bytes()))
		}
		for j := range b.Bytes() {
			b.Bytes()[j] = byte(i)
		}
		blocks = append(blocks, b)
	}
	for i, b := range blocks {
		for j, got := range b.Bytes() {
			if got != byte(i) {
				t.Fatalf("block %d: byte %d is %d", i, j, got)
			}
		}
		b.Return()
	}
}

// What was returned last is loaned first: it is still in the cache.
func TestNewestFirst(t *testing.T) {
	a := newTestArena(t, 4)
	one, two := loan(t, a), loan(t, a)
	two.Return()
	one.Return()
	if b := loan(t, a); b != one {
		t.Error("not the block that was returned last")
	}
	one.Return()
}

func TestHolders(t *testing.T) {
	a := newTestArena(t, 1)
	b := loan(t, a)
	b.Retain()
	b.Retain()
	for range 2 {
		b.Return()
		if _, err := a.Loan(); err != ErrExhausted {
			t.Fatal("loaned again while somebody holds it")
		}
	}
	b.Return()
	loan(t, a).Return()
}

func mustPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got, _ := recover().(string); !strings.Contains(got, want) {
			t.Errorf("panic %q, want %q", got, want)
		}
	}()
	f()
}

func TestDoubleReturnPanics(t *testing.T) {
	a := newTestArena(t, 1)
	b := loan(t, a)
	b.Return()
	mustPanic(t, "nobody holds", b.Return)
	if invariant.Enabled {
		b.holders.Store(0)
		mustPanic(t, "nobody holds", b.Retain)
	}
}

func TestCloseWithLoans(t *testing.T) {
	a, err := New(Config{BlockBytes: MinBlockBytes, Blocks: 2})
	if err != nil {
		t.Fatal(err)
	}
	b := loan(t, a)
	err = a.Close()
	if err == nil || !strings.Contains(err.Error(), "1 of 2 blocks") {
		t.Errorf("%v", err)
	}
	if invariant.Enabled && !strings.Contains(err.Error(), "TestCloseWithLoans") {
		t.Errorf("%v does not say who loaned it", err)
	}
	b.Bytes()[0] = 1 // the memory is still there
	b.Return()
	for range 2 {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := a.Loan(); err != ErrExhausted {
		t.Errorf("%v from a closed arena", err)
	}
}

func TestReturnMangles(t *testing.T) {
	if !invariant.Enabled {
		t.Skip("this build does not check itself")
	}
	a := newTestArena(t, 1)
	b := loan(t, a)
	view := b.Bytes()
	b.Return()
	for i, got := range view {
		if got != 0xDB {
			t.Fatalf("byte %d is %#x", i, got)
		}
	}
}

func TestConfig(t *testing.T) {
	for _, c := range []Config{
		{BlockBytes: 2048}, {BlockBytes: 32 << 20}, {BlockBytes: 5000}, {Blocks: -1},
		{BlockBytes: 16 << 20, Blocks: MaxBytes/(16<<20) + 1}, {Blocks: 1 << 30},
		{BlockBytes: -4096},
	} {
		if a, err := New(c); err == nil {
			t.Errorf("%+v is accepted", c)
			_ = a.Close()
		}
	}
	c, err := Config{}.withDefaults()
	if err != nil || c.BlockBytes != 256<<10 || c.Blocks != 256 {
		t.Errorf("%+v, %v", c, err)
	}
}

func TestStressLoans(t *testing.T) {
	a := newTestArena(t, 4)
	rounds := 20_000
	if testing.Short() {
		rounds = 2_000
	}
	var wg sync.WaitGroup
	for i := range byte(8) {
		wg.Go(func() {
			for range rounds {
				b, err := a.Loan()
				if errors.Is(err, ErrExhausted) {
					continue
				}
				b.Bytes()[0] = i
				b.Retain()
				b.Return()
				if b.Bytes()[0] != i {
					t.Error("somebody else has the same block")
				}
				b.Return()
			}
		})
	}
	wg.Wait()
	if a.OnLoan() != 0 {
		t.Errorf("%d on loan", a.OnLoan())
	}
}
