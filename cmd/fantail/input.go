package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strconv"
)

// source answers one payload after another, valid until the next call, and then io.EOF.
type source func() ([]byte, error)

// repeat answers payloads, so many times over.
func repeat(payloads []string, times uint64) source {
	at := 0
	return func() ([]byte, error) {
		if at == len(payloads) {
			at, times = 0, times-1
		}
		if times == 0 {
			return nil, io.EOF
		}
		at++
		return []byte(payloads[at-1]), nil
	}
}

// madeUp answers so many messages of size bytes: the message's number, and dots.
func madeUp(size int, times uint64) source {
	payload := bytes.Repeat([]byte{'.'}, size)
	number := make([]byte, 0, 20)
	n := uint64(0)
	return func() ([]byte, error) {
		if n == times {
			return nil, io.EOF
		}
		n++
		number = strconv.AppendUint(number[:0], n, 10)
		copy(payload, number)
		return payload, nil
	}
}

// chunkBytes is how much of the input is read at once.
const chunkBytes = 64 << 10

// startLines answers the input's lines, without their ends. A goroutine reads ahead, so
// that ctx can end a wait for a terminal; it ends with the input, or with the process.
func startLines(ctx context.Context, in io.Reader, maxBytes int) source {
	chunks, back := make(chan []byte), make(chan []byte, 2)
	back <- make([]byte, chunkBytes)
	back <- make([]byte, chunkBytes)
	var failed error // the reader's, until chunks is closed
	go func() {
		defer close(chunks)
		for b := range back {
			n, err := in.Read(b[:chunkBytes])
			if n > 0 {
				select {
				case chunks <- b[:n]:
				case <-ctx.Done():
					return
				}
			}
			if err != nil {
				if err != io.EOF {
					failed = fmt.Errorf("the input: %w", err)
				}
				return
			}
			if n == 0 {
				back <- b
			}
		}
	}()
	l := lines{ctx: ctx, chunks: chunks, back: back, maxBytes: maxBytes}
	return func() ([]byte, error) {
		line, err := l.next()
		if err == io.EOF && failed != nil {
			return nil, failed
		}
		return line, err
	}
}

// lines cuts chunks into lines.
type lines struct {
	ctx          context.Context
	chunks, back chan []byte
	maxBytes     int
	chunk, rest  []byte // what was read last, and what is left of it
	partial      []byte // a line's part from earlier chunks
	cut          bool   // partial was answered, and may be overwritten
	number       int
}

func (l *lines) next() ([]byte, error) {
	if l.cut {
		l.partial, l.cut = l.partial[:0], false
	}
	for {
		if i := bytes.IndexByte(l.rest, '\n'); i >= 0 {
			line := l.rest[:i]
			l.rest = l.rest[i+1:]
			return l.end(line)
		}
		if len(l.partial)+len(l.rest) > l.maxBytes+1 { // 1: a carriage return
			return nil, fmt.Errorf("line %d is longer than the server's limit of %d bytes",
				l.number+1, l.maxBytes)
		}
		l.partial = append(l.partial, l.rest...)
		if l.chunk != nil {
			l.back <- l.chunk
			l.chunk = nil
		}
		var ok bool
		select {
		case l.chunk, ok = <-l.chunks:
		case <-l.ctx.Done():
			return nil, l.ctx.Err()
		}
		l.rest = l.chunk
		if ok {
			continue
		}
		if len(l.partial) > 0 {
			return l.end(nil) // the last line has no end
		}
		return nil, io.EOF
	}
}

// end answers a line, of which tail is the last part.
func (l *lines) end(tail []byte) ([]byte, error) {
	l.number++
	line := tail
	if len(l.partial) > 0 {
		l.partial = append(l.partial, tail...)
		line, l.cut = l.partial, true
	}
	return bytes.TrimSuffix(line, []byte{'\r'}), nil
}
