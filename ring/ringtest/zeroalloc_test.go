//go:build !race

package ringtest

import "testing"

func TestZeroAllocPayload(t *testing.T) {
	p := somePayload(500)
	b := AppendPayload(nil, p)
	if n := testing.AllocsPerRun(100, func() { b = AppendPayload(b[:0], p) }); n != 0 {
		t.Errorf("AppendPayload allocates %v times", n)
	}
	var err error
	if n := testing.AllocsPerRun(100, func() { _, err = CheckPayload(b) }); n != 0 || err != nil {
		t.Errorf("CheckPayload allocates %v times, %v", n, err)
	}
	var h History
	if err := h.Observe(Payload{Publisher: 1, Sequence: 1}); err != nil {
		t.Fatal(err)
	}
	next := Payload{Publisher: 1, Sequence: 1}
	n := testing.AllocsPerRun(100, func() {
		next.Sequence++
		err = h.Observe(next)
	})
	if n != 0 || err != nil {
		t.Errorf("History.Observe allocates %v times, %v", n, err)
	}
}
