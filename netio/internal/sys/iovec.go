package sys

import "unsafe"

// MaxIovecs is the most vectors of one Sendmsg or Writev: the kernel's UIO_MAXIOV.
const MaxIovecs = 1024

// Iovec is the kernel's struct iovec: where bytes are, and how many. Arrays of them are
// made once and set again and again. An Iovec keeps its bytes alive.
type Iovec struct {
	base *byte
	size uintptr // size_t
}

// Safety: struct iovec is two words on every Linux; a change must not compile.
var _ [2 * unsafe.Sizeof(uintptr(0))]byte = [unsafe.Sizeof(Iovec{})]byte{}

// Set makes v speak of b.
func (v *Iovec) Set(b []byte) {
	// Safety: only the address is taken, of memory that the Iovec then keeps alive; nil is
	// right where b has no array, and the kernel reads nothing where the length is 0.
	v.base = unsafe.SliceData(b)
	v.size = uintptr(len(b))
}

// Len is the number of bytes that v speaks of.
func (v *Iovec) Len() int { return int(v.size) }
