package main

import (
	"fmt"
	"strconv"
	"time"
)

// countText writes a number with commas: 1,234,567.
func countText(n uint64) string {
	digits := strconv.FormatUint(n, 10)
	for i := len(digits) - 3; i > 0; i -= 3 {
		digits = digits[:i] + "," + digits[i:]
	}
	return digits
}

// plural writes a count and what it counts: 1 message, 2 messages.
func plural(n uint64, what string) string {
	if n == 1 {
		return "1 " + what
	}
	return countText(n) + " " + what + "s"
}

// bytesText writes an amount of memory or traffic to three digits: 64 MiB, 1.50 KiB.
func bytesText(n uint64) string {
	value, unit := float64(n), 0
	units := []string{"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"}
	for value >= 1024 {
		value, unit = value/1024, unit+1
	}
	switch {
	case value == float64(uint64(value)):
		return fmt.Sprintf("%.0f %s", value, units[unit])
	case value < 10:
		return fmt.Sprintf("%.2f %s", value, units[unit])
	case value < 100:
		return fmt.Sprintf("%.1f %s", value, units[unit])
	}
	return fmt.Sprintf("%.0f %s", value, units[unit])
}

// timeText rounds a time to what people read.
func timeText(d time.Duration) string {
	switch {
	case d < time.Millisecond:
		return d.Round(time.Microsecond).String()
	case d < time.Second:
		return d.Round(100 * time.Microsecond).String()
	}
	return d.Round(10 * time.Millisecond).String()
}

// perSecond is a rate; 0 where no time has passed.
func perSecond(n uint64, d time.Duration) uint64 {
	if d <= 0 {
		return 0
	}
	return uint64(float64(n)/d.Seconds() + 0.5)
}
