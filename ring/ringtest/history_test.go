package ringtest

import (
	"errors"
	"strings"
	"testing"
)

func TestHistory(t *testing.T) {
	type event struct {
		publisher uint32 // 0: a gap of sequence messages
		sequence  uint64
		wrong     string // what the error says
	}
	for _, c := range []struct {
		name   string
		late   bool
		events []event
		want   map[uint32]uint64
		done   string
	}{
		{name: "nothing"},
		{name: "all", events: []event{{1, 1, ""}, {2, 1, ""}, {1, 2, ""}},
			want: map[uint32]uint64{1: 2, 2: 1}},
		{name: "copy", events: []event{{1, 1, ""}, {1, 1, "copy: sequence 1 of publisher 1 after 1"}},
			want: map[uint32]uint64{1: 1}},
		{name: "old copy", events: []event{{1, 1, ""}, {1, 2, ""}, {1, 1, "copy"}},
			want: map[uint32]uint64{1: 2}},
		{name: "late", events: []event{{0, 2, ""}, {1, 1, ""}, {1, 4, ""}, {1, 3, "out of order"},
			{1, 1, "copy"}}, want: map[uint32]uint64{1: 4}},
		{name: "loss", events: []event{{1, 1, ""},
			{1, 4, "loss: sequences 2 to 3 of publisher 1; 2 missing so far, 0 declared"}, {1, 5, ""}},
			want: map[uint32]uint64{1: 5}, done: "2 are missing, 0 were declared"},
		{name: "loss at the end", events: []event{{1, 1, ""}}, want: map[uint32]uint64{1: 2},
			done: "1 messages came, 1 are missing, 0 were declared"},
		{name: "declared", events: []event{{1, 1, ""}, {0, 2, ""}, {1, 4, ""}, {0, 1, ""}},
			want: map[uint32]uint64{1: 5}},
		{name: "of two publishers", events: []event{{0, 3, ""}, {1, 3, ""}, {2, 2, ""}},
			want: map[uint32]uint64{1: 3, 2: 2}},
		{name: "declared too much", events: []event{{1, 1, ""}, {0, 2, ""}, {1, 3, ""}},
			want: map[uint32]uint64{1: 3}, done: "1 are missing, 2 were declared"},
		{name: "declared after it", events: []event{{1, 2, "loss"}, {0, 1, ""}},
			want: map[uint32]uint64{1: 2}},
		{name: "declared late", late: true, events: []event{{1, 2, ""}, {0, 1, ""}},
			want: map[uint32]uint64{1: 2}},
		{name: "invented", events: []event{{1, 1, ""}, {1, 2, ""}}, want: map[uint32]uint64{1: 1},
			done: "sequence 2 of publisher 1, which sent 1"},
		{name: "unknown", events: []event{{3, 1, ""}}, done: "unknown publisher 3"},
		{name: "silent", want: map[uint32]uint64{8: 2}, done: "2 are missing"},
		{name: "zero", events: []event{{1, 0, "sequence 0"}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := History{LateGaps: c.late}
			for _, e := range c.events {
				if e.publisher == 0 {
					h.Gap(e.sequence)
					continue
				}
				expect(t, h.Observe(Payload{Publisher: e.publisher, Sequence: e.sequence}), e.wrong)
			}
			expect(t, h.Done(c.want), c.done)
		})
	}
}

func expect(t *testing.T, err error, say string) {
	t.Helper()
	switch {
	case say == "" && err != nil:
		t.Error(err)
	case say != "" && (!errors.Is(err, ErrHistory) || !strings.Contains(err.Error(), say)):
		t.Errorf("%v does not say %q", err, say)
	}
}

func TestHistoryCounts(t *testing.T) {
	var h History
	h.Gap(2)
	for _, n := range []uint64{1, 4, 4, 5} {
		h.Observe(Payload{Publisher: 1, Sequence: n})
	}
	if h.Messages() != 3 || h.Lost() != 2 {
		t.Errorf("%d messages, %d lost", h.Messages(), h.Lost())
	}
}
