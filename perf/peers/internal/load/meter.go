package load

import (
	"encoding/binary"
	"time"
)

// Meter checks and counts the messages of one subscriber.
type Meter struct {
	payloadBytes int
	next         uint32 // the sequence that comes next
	done         func() // called once, with the last message; then nil
	latencies    *Latencies
	reading      Reading
	_            [128]byte // another goroutine's meter may be next in memory
}

// Reading is what a meter says in the end.
type Reading struct {
	Received uint64 `json:"received"`
	// Disorder counts messages whose sequence was not the one after the last: a hole, a
	// repetition, or a change of order.
	Disorder uint64 `json:"disorder"`
	// Torn counts payloads of the wrong size or with the wrong end.
	Torn uint64 `json:"torn"`
	// FirstNanos and LastNanos are when the first and last message came, on the wall clock.
	FirstNanos int64 `json:"first_ns"`
	LastNanos  int64 `json:"last_ns"`
}

// NewMeter makes the meter of one subscriber to w; done is called with its last message.
func NewMeter(w Workload, done func()) *Meter {
	m := &Meter{payloadBytes: w.Bytes, next: 1, done: done}
	if w.Latencies() {
		m.latencies = NewLatencies()
	}
	return m
}

// Take looks at a message. With Latencies it reads the clock each time, otherwise at the
// first and the last only.
func (m *Meter) Take(b []byte) {
	if len(b) != m.payloadBytes {
		m.reading.Torn++
		return
	}
	m.reading.Received++
	sequence := binary.BigEndian.Uint32(b[4:])
	if sequence != m.next {
		m.reading.Disorder++
	}
	m.next = sequence + 1
	if binary.BigEndian.Uint32(b[len(b)-4:]) != sequence {
		m.reading.Torn++
	}
	if m.latencies != nil {
		if due := int64(binary.BigEndian.Uint64(b[8:])); due != 0 {
			m.latencies.Record(time.Now().UnixNano() - due)
		}
	}
	if m.reading.FirstNanos == 0 {
		m.reading.FirstNanos = time.Now().UnixNano()
	}
	if binary.BigEndian.Uint32(b) == 1 {
		m.last()
	}
}

func (m *Meter) last() {
	m.reading.LastNanos = time.Now().UnixNano()
	if m.done != nil {
		m.done()
		m.done = nil
	}
}

// Reading is what the meter has counted. It is for after done, or for when the messages are
// known to have stopped.
func (m *Meter) Reading() Reading { return m.reading }

// Latencies are what the meter has recorded, or nil; for the same times as Reading.
func (m *Meter) Latencies() *Latencies { return m.latencies }
