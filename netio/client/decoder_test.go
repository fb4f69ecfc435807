package client

import (
	"bytes"
	"errors"
	"fmt"
	"reflect"
	"testing"

	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/frame"
)

// sample is what a server may send: every kind of frame of a subscription, and messages of
// several sizes.
func sample() (stream []byte, want []got) {
	stream = append(stream, topicFrame(1, "eu.sap")...)
	for i, size := range []int{0, 1, 7, 8, 9, 500} {
		payload := string(bytes.Repeat([]byte{'a' + byte(i)}, size))
		stream = append(stream, data(uint64(i+1), payload)...)
		want = append(want, got{uint64(i + 1), "eu.sap", payload, Gap{}})
	}
	g := Gap{First: 7, Last: 9, Count: 2, Reason: ring.GapDropOldest}
	stream = native.AppendGap(stream, g)
	want = append(want, got{7, "", "", g})
	stream = native.AppendHeartbeat(stream, native.Heartbeat{Sequence: 5})
	stream = native.AppendHeartbeat(stream, native.Heartbeat{})
	stream = native.AppendTopic(stream, &native.Topic{ID: 2, Name: []byte("us.ibm")})
	stream = native.AppendData(stream, &native.Data{Topic: 2, Sequence: 10, Payload: []byte("x")})
	want = append(want, got{10, "us.ibm", "x", Gap{}})
	return stream, want
}

func fresh(maxFrameBytes int) *decoder {
	d := newDecoder(maxFrameBytes)
	d.connect(true, false, 1)
	return &d
}

// feed decodes pieces as a connection would deliver them.
func feed(d *decoder, pieces ...[]byte) (all []got) {
	var buf []byte
	for _, p := range pieces {
		buf = append(append([]byte(nil), d.rest...), p...)
		d.rest = buf
		for d.next() {
			all = append(all, keep(&d.message))
		}
	}
	return all
}

func TestDecoderPartialFramesAtEverySplit(t *testing.T) {
	stream, want := sample()
	for i := range len(stream) + 1 {
		d := fresh(1024)
		if all := feed(d, stream[:i], stream[i:]); !reflect.DeepEqual(all, want) || d.end != nil {
			t.Fatalf("split at %d: %v\n%v", i, all, d.end)
		}
		if len(d.rest) != 0 || d.last != 10 || d.seen != 7 {
			t.Fatalf("split at %d: %d bytes left, last %d, seen %d", i, len(d.rest), d.last, d.seen)
		}
		echo := native.AppendHeartbeat(nil, native.Heartbeat{Sequence: 5, Reply: true})
		if !bytes.Equal(d.out, echo) {
			t.Fatalf("split at %d: answers %x", i, d.out)
		}
	}
	d := fresh(1024)
	var bytewise [][]byte
	for i := range stream {
		bytewise = append(bytewise, stream[i:i+1])
	}
	if all := feed(d, bytewise...); !reflect.DeepEqual(all, want) {
		t.Fatalf("byte by byte: %v", all)
	}
}

func TestDecoderMalformed(t *testing.T) {
	edit := func(b []byte, at int, v byte) []byte {
		b[at] = v
		return b
	}
	for name, c := range map[string]struct {
		b    []byte
		code native.Code
	}{
		"length 0xFFFFFFFF": {[]byte{0xff, 0xff, 0xff, 0xff, 1, 0, 0, 0}, native.CodeFrameTooLarge},
		"too large":         {data(1, string(make([]byte, 1024)))[:8], native.CodeFrameTooLarge},
		"too short":         {[]byte{31, 0, 0, 0, 1, 0, 0, 0}, native.CodeBadFrame},
		"flags":             {edit(data(1, "x"), 5, 1), native.CodeBadFrame},
		"reserved":          {edit(data(1, "x"), 7, 1), native.CodeBadFrame},
		"topic 0":           {edit(data(1, "x"), 8, 0), native.CodeBadFrame},
		"topic too large":   {edit(data(1, "x"), 11, 1), native.CodeBadFrame},
		"unknown kind":      {edit(data(1, "x"), 4, 200), native.CodeUnknownKind},
		"PUBLISH":           {edit(data(1, "x"), 4, 2), native.CodeUnknownKind},
		"second name":       {append(topicFrame(1, "a"), topicFrame(1, "b")...), native.CodeBadFrame},
		"bad GAP":           {native.AppendGap(nil, Gap{First: 2, Last: 1, Reason: 1}), native.CodeBadFrame},
		"ERROR":             {native.AppendError(nil, native.ErrSlowConsumer), native.CodeSlowConsumer},
		"GOODBYE":           {native.AppendGoodbye(nil, native.Goodbye{Reason: native.CodeShuttingDown}), native.CodeShuttingDown},
	} {
		d := fresh(1024)
		all := feed(d, append(data(1, "first"), c.b...), data(9, "never"))
		var e *native.Error
		if !errors.As(d.end, &e) || e.Code != c.code {
			t.Errorf("%s: %v", name, d.end)
		}
		if len(all) != 1 || all[0].Payload != "first" {
			t.Errorf("%s: delivered %v", name, all)
		}
	}
}

func TestDecoderReconnect(t *testing.T) {
	for _, c := range []struct {
		name string
		same bool
		next uint64
		gap  Gap
		send []uint64
		want []uint64
	}{
		{"nothing missed", true, 11, Gap{}, []uint64{11, 12}, []uint64{11, 12}},
		{"some missed", true, 21, Gap{First: 11, Last: 20, Count: 10, Reason: ring.GapReconnect},
			[]uint64{21}, []uint64{21}},
		{"behind what was seen", true, 8, Gap{}, []uint64{8, 9, 10, 11}, []uint64{11}},
		{"another stream", false, 3, Gap{Reason: ring.GapReconnect}, []uint64{3, 4}, []uint64{3, 4}},
	} {
		d := fresh(1024)
		feed(d, topicFrame(1, "old"), data(10, "x"))
		d.connect(false, c.same, c.next)
		pieces := [][]byte{nil, topicFrame(1, "new")}
		for _, s := range c.send {
			pieces = append(pieces, data(s, "x"))
		}
		all := feed(d, pieces...)
		if c.gap.Reason != 0 {
			if len(all) == 0 || all[0].Gap != c.gap || all[0].Sequence != c.gap.First {
				t.Errorf("%s: %v", c.name, all)
				continue
			}
			all = all[1:]
		}
		var sequences []uint64
		for _, m := range all {
			sequences = append(sequences, m.Sequence)
			if m.Topic != "new" || m.Gap != (Gap{}) {
				t.Errorf("%s: %+v", c.name, m)
			}
		}
		if !reflect.DeepEqual(sequences, c.want) || d.end != nil {
			t.Errorf("%s: %v, %v", c.name, sequences, d.end)
		}
	}
}

// A gap counts as one even where nobody knows how large it is.
func TestIsGap(t *testing.T) {
	d := fresh(1024)
	d.connect(false, false, 1)
	if !d.next() || !d.message.IsGap() || d.message.Gap.Count != 0 || d.message.Topic() != "" {
		t.Errorf("%+v", d.message)
	}
	var zero Message
	if zero.IsGap() || zero.Topic() != "" {
		t.Error("the zero Message")
	}
}

func TestTopicTable(t *testing.T) {
	var table topicTable
	for _, number := range []uint32{1, 63, 64, 65, native.MaxTopicID} {
		name := fmt.Sprint("t", number)
		first, other := table.set(number, []byte(name)), table.set(number, []byte("other"))
		again := table.set(number, []byte(name))
		if !first || other || !again || table.name(number) != name {
			t.Errorf("topic %d is %q", number, table.name(number))
		}
	}
	if table.name(2) != "" || table.name(1000) != "" {
		t.Error("unknown numbers have names")
	}
}

func FuzzDecoder(f *testing.F) {
	stream, _ := sample()
	f.Add(stream, 10)
	f.Add(data(1, "x"), 3)
	f.Fuzz(func(t *testing.T, b []byte, split int) {
		whole, parts := fresh(1024), fresh(1024)
		split = min(max(split, 0), len(b))
		a, z := feed(whole, b), feed(parts, b[:split], b[split:])
		if !reflect.DeepEqual(a, z) || fmt.Sprint(whole.end) != fmt.Sprint(parts.end) {
			t.Fatalf("%v, %v\n%v, %v", a, whole.end, z, parts.end)
		}
		if len(whole.out) > slackBytes+frame.HeaderBytes {
			t.Fatalf("%d bytes of answers", len(whole.out))
		}
	})
}

func BenchmarkDecode(b *testing.B) {
	for _, size := range []int{64, 500} {
		b.Run(fmt.Sprint("size=", size), func(b *testing.B) {
			message := data(1, string(make([]byte, size)))
			stream := bytes.Repeat(message, 256<<10/len(message))
			d := fresh(frame.MaxBytes)
			sum := uint64(0)
			fn := func(m *Message) { sum += m.Sequence + uint64(len(m.Payload)) }
			b.ReportAllocs()
			for b.Loop() {
				d.rest = stream
				for d.next() {
					fn(&d.message)
				}
			}
			messages := float64(b.N) * float64(len(stream)/len(message))
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/messages, "ns/msg")
		})
	}
}
