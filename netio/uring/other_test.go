package uring

import (
	"errors"
	"testing"

	"github.com/fantail-io/fantail/ring"
)

// Where there is no io_uring everything says so in one way, and nothing panics.
func TestUnsupportedIsTyped(t *testing.T) {
	err := Probe()
	if err == nil {
		t.Skip("io_uring is to be had here")
	}
	var typed *UnsupportedError
	if !errors.As(err, &typed) || !errors.Is(err, ring.ErrNotSupported) {
		t.Fatalf("Probe = %v", err)
	}
	if _, err := New(Config{}); !errors.Is(err, ring.ErrNotSupported) {
		t.Errorf("New = %v", err)
	}
	if _, err := NewSender(Config{}); !errors.Is(err, ring.ErrNotSupported) {
		t.Errorf("NewSender = %v", err)
	}
}

func TestConfigLimits(t *testing.T) {
	for _, c := range []Config{
		{Entries: -1}, {Entries: MaxEntries + 1}, {Files: -1}, {Files: MaxFiles + 1},
		{SQIdle: 1}, {SQIdle: 1 << 40},
	} {
		if _, err := New(c); err == nil || errors.Is(err, ring.ErrNotSupported) {
			t.Errorf("New(%+v) = %v", c, err)
		}
	}
}
