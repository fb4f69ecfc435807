package ringtest

import (
	"cmp"
	"errors"
	"fmt"
	"maps"
	"slices"
)

// ErrHistory is what every error of a History Is.
var ErrHistory = errors.New("ringtest: wrong history")

// maxHoles bounds what a History remembers of the holes of one publisher: 1 MiB.
const maxHoles = 65_536

// History checks one stream of messages, as one subscriber gets it: each publisher's
// sequences come in order, none twice, and those that do not come were declared lost. The
// zero History is ready. It belongs to one goroutine.
type History struct {
	// LateGaps allows a gap to be declared after messages that follow it; only Done
	// compares then. Otherwise a hole that no Gap has declared yet is an error at once.
	LateGaps bool

	publishers map[uint32]*publisherHistory
	messages   uint64
	missing    uint64 // in holes, so far
	declared   uint64
}

type publisherHistory struct {
	last  uint64
	holes []hole // the first maxHoles of them, ascending
}

type hole struct{ first, last uint64 }

// Observe takes the next message. An error tells a copy from a message that is late, and
// a loss that was not declared; the messages after it can still be observed.
func (h *History) Observe(p Payload) error {
	if p.Sequence == 0 {
		return fmt.Errorf("%w: sequence 0 of publisher %d", ErrHistory, p.Publisher)
	}
	if h.publishers == nil {
		h.publishers = make(map[uint32]*publisherHistory)
	}
	from := h.publishers[p.Publisher]
	if from == nil {
		from = &publisherHistory{}
		h.publishers[p.Publisher] = from
	}
	if p.Sequence <= from.last {
		return fmt.Errorf("%w: %s: sequence %d of publisher %d after %d", ErrHistory,
			from.why(p.Sequence), p.Sequence, p.Publisher, from.last)
	}
	next := from.last + 1
	from.last = p.Sequence
	h.messages++
	if p.Sequence == next {
		return nil
	}
	h.missing += p.Sequence - next
	if len(from.holes) < maxHoles {
		from.holes = append(from.holes, hole{next, p.Sequence - 1})
	}
	if h.missing > h.declared && !h.LateGaps {
		return fmt.Errorf("%w: loss: sequences %d to %d of publisher %d; %d missing so far, "+
			"%d declared", ErrHistory, next, p.Sequence-1, p.Publisher, h.missing, h.declared)
	}
	return nil
}

// why tells what a sequence is that is not beyond the last one.
func (p *publisherHistory) why(sequence uint64) string {
	_, late := slices.BinarySearchFunc(p.holes, sequence, func(g hole, n uint64) int {
		if n >= g.first && n <= g.last {
			return 0
		}
		return cmp.Compare(g.first, n)
	})
	switch {
	case late:
		return "out of order"
	case len(p.holes) == maxHoles:
		return "copy, or out of order"
	}
	return "copy"
}

// Gap takes the news that count messages, of any publishers, will not come.
func (h *History) Gap(count uint64) { h.declared += count }

// Messages is how many messages were observed, without copies and late ones.
func (h *History) Messages() uint64 { return h.messages }

// Lost is how many messages were declared lost.
func (h *History) Lost() uint64 { return h.declared }

// Done checks the whole, given each publisher's last sequence: what did not come is as much
// as was declared, and nothing came that was not sent.
func (h *History) Done(wantPerPublisher map[uint32]uint64) error {
	missing := h.missing
	var wrong []error
	for _, n := range slices.Sorted(maps.Keys(wantPerPublisher)) {
		want, last := wantPerPublisher[n], uint64(0)
		if from := h.publishers[n]; from != nil {
			last = from.last
		}
		if last > want {
			wrong = append(wrong, fmt.Errorf("%w: sequence %d of publisher %d, which sent %d",
				ErrHistory, last, n, want))
			continue
		}
		missing += want - last
	}
	for _, n := range slices.Sorted(maps.Keys(h.publishers)) {
		if _, known := wantPerPublisher[n]; !known {
			wrong = append(wrong, fmt.Errorf("%w: messages of unknown publisher %d", ErrHistory, n))
		}
	}
	if missing != h.declared {
		wrong = append(wrong, fmt.Errorf("%w: %d messages came, %d are missing, %d were declared "+
			"lost", ErrHistory, h.messages, missing, h.declared))
	}
	return errors.Join(wrong...)
}
