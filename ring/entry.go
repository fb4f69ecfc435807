package ring

import "github.com/fantail-io/fantail/ring/frame"

// An index entry is one 64-bit word, written once by Commit, Abort or Sweep:
//
//	63         40 39        23 22           2 1   0
//	+------------+------------+--------------+-----+
//	|  topic 24  | offset/8 17|  length 21   |state|
//	+------------+------------+--------------+-----+
//
// It says where the message is without touching the message. Zero is a claim that is
// still open, or no claim at all.
type entry uint64

const (
	stateBits    = 2
	lengthBits   = 21
	offsetBits   = 17
	lengthShift  = stateBits
	offsetShift  = lengthShift + lengthBits
	topicShift   = offsetShift + offsetBits
	lengthMask   = 1<<lengthBits - 1
	offsetMask   = 1<<offsetBits - 1
	stateMask    = 1<<stateBits - 1
	stateOpen    = 0
	stateCommit  = 1
	stateAbort   = 2
	stateExpired = 3
)

// A block's offsets and a frame's length fit their fields, or this does not compile.
var (
	_ [offsetMask - (MaxBlockBytes-frame.Align)/frame.Align]struct{}
	_ [lengthMask - MaxBlockBytes]struct{}
	_ [1<<(64-topicShift) - MaxTopics]struct{}
)

func makeEntry(topic, offset, length uint32) entry {
	return stateCommit | entry(length)<<lengthShift |
		entry(offset/frame.Align)<<offsetShift | entry(topic)<<topicShift
}

func (e entry) state() uint32  { return uint32(e) & stateMask }
func (e entry) length() uint32 { return uint32(e>>lengthShift) & lengthMask }
func (e entry) offset() uint32 { return uint32(e>>offsetShift) & offsetMask * frame.Align }
func (e entry) topic() uint32  { return uint32(e >> topicShift) }
