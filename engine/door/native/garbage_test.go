package native

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/fantail-io/fantail/engine"
	"github.com/fantail-io/fantail/netio/wire/native"
	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/ringtest"
)

// validSession is what an ordinary client might say, as frames.
func validSession(random *rand.Rand) (frames [][]byte) {
	frames = append(frames, native.AppendHello(nil, &native.Hello{Version: native.Version, Name: "fuzz"}))
	for range random.IntN(12) {
		name := fmt.Appendf(nil, "garbage.%d", random.IntN(20))
		var f []byte
		switch random.IntN(7) {
		case 0:
			f = native.AppendTopic(nil, &native.Topic{ID: 1 + random.Uint32N(8), Name: name})
		case 1:
			f = native.AppendSubscribe(nil, &native.Subscribe{Request: 1, Pattern: []byte("garbage.>"),
				Policy: ring.Policy{Kind: ring.PolicyKind(random.IntN(9)), MaxLag: random.Uint32N(1000),
					For: time.Duration(random.IntN(20)) * time.Millisecond}})
		case 2:
			f = native.AppendUnsubscribe(nil, &native.Unsubscribe{Pattern: []byte("garbage.>")})
		case 3:
			f = native.AppendHeartbeat(nil, native.Heartbeat{Sequence: random.Uint64N(3)})
		case 4:
			f = native.AppendGoodbye(nil, native.Goodbye{})
		default:
			f = native.AppendPublish(nil, &native.Publish{Alias: 1 + random.Uint32N(8), Payload: make([]byte, random.IntN(3000))})
		}
		frames = append(frames, f)
	}
	return frames
}

// mutate spoils a session: bits flipped, bytes cut out or put in, frames in another order,
// lengths that lie, the end missing.
func mutate(random *rand.Rand, frames [][]byte) (b []byte) {
	if random.IntN(4) == 0 {
		random.Shuffle(len(frames), func(i, j int) { frames[i], frames[j] = frames[j], frames[i] })
	}
	for _, f := range frames {
		b = append(b, f...)
	}
	for range random.IntN(4) {
		if len(b) == 0 {
			break
		}
		at := random.IntN(len(b))
		switch random.IntN(5) {
		case 0:
			b[at] ^= 1 << random.IntN(8)
		case 1:
			b = append(b[:at:at], b[min(len(b), at+1+random.IntN(64)):]...)
		case 2:
			rubbish := make([]byte, 1+random.IntN(64))
			for i := range rubbish {
				rubbish[i] = byte(random.Uint32())
			}
			b = append(b[:at:at], append(rubbish, b[at:]...)...)
		case 3:
			b = b[:at]
		default:
			copy(b[at&^7:], []byte{0xFF, 0xFF, 0xFF, byte(random.Uint32())})
		}
	}
	return b
}

// Spoiled sessions by the hundred, in pieces of any size, ended in any way, disturb nobody.
func TestGarbageDisturbsNobody(t *testing.T) {
	l := listen(t, testEngine(t), Config{HandshakeTimeout: 200 * time.Millisecond,
		HeartbeatEvery: 100 * time.Millisecond, IdleTimeout: time.Second, MaxFrameBytes: 8 << 10})
	p := startPair(t, l, 1)
	seed := ringtest.Seed(t)
	before := takeBase(t)
	var attackers sync.WaitGroup
	for worker := range 4 {
		attackers.Go(func() {
			random := rand.New(rand.NewPCG(uint64(seed), uint64(worker)))
			for range full(150, 20) {
				if err := spoil(l.Addr().String(), random); err != nil {
					t.Error(err)
					return
				}
			}
		})
	}
	attackers.Wait()
	openConnections(t, l, 2)
	before.restored(4 << 20)
	if p.finish() == 0 {
		t.Error("the innocents published nothing")
	}
	t.Log(l.Snapshot().Rejected)
}

func spoil(address string, random *rand.Rand) error {
	nc, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer nc.Close()
	_ = nc.SetDeadline(time.Now().Add(5 * time.Second))
	for b := mutate(random, validSession(random)); len(b) > 0; {
		n := 1 + random.IntN(len(b))
		if _, err := nc.Write(b[:n]); err != nil {
			return nil // cut, as it may be
		}
		b = b[n:]
	}
	switch random.IntN(3) {
	case 0:
		_ = nc.(*net.TCPConn).SetLinger(0)
	case 1:
		_ = nc.(*net.TCPConn).CloseWrite()
		_, _ = io.Copy(io.Discard, nc)
	}
	return nil
}

// FuzzSession gives a session any bytes, in two pieces, through a pipe instead of a socket.
func FuzzSession(f *testing.F) {
	random := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		f.Add(mutate(random, validSession(random)), 40)
	}
	for _, n := range []int{0, 7, 8, 31, 32, 40} {
		f.Add(native.AppendHello(nil, &native.Hello{Version: native.Version}), n)
	}
	e, err := engine.New(engine.Config{StreamBytes: 1 << 20, BlockBytes: 64 << 10})
	if err != nil {
		f.Fatal(err)
	}
	l, err := Listen(e, "tcp", "127.0.0.1:0", Config{Sender: "portable", MaxTopics: 50, MaxSubscriptions: 10})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		ctx, cancel := soon()
		defer cancel()
		_ = e.Close(ctx)
	})
	f.Fuzz(func(t *testing.T, b []byte, cut int) {
		mine, theirs := net.Pipe()
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		if err := l.admit(theirs, l.shards[0]); err != nil {
			t.Fatal(err)
		}
		var drained sync.WaitGroup
		drained.Go(func() { _, _ = io.Copy(io.Discard, mine) })
		cut = min(max(cut, 0), len(b))
		if _, err := mine.Write(b[:cut]); err == nil {
			_, _ = mine.Write(b[cut:])
		}
		mine.Close()
		drained.Wait()
		for l.Snapshot().Open > 0 { // each Snapshot waits for a turn of the shard
			if ctx.Err() != nil {
				t.Fatal("the session does not end")
			}
		}
	})
}
