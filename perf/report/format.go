package report

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

const dash = "–"

// Rate shows a number of things a second, in at most four digits: "11.8 M", "950".
func Rate(v float64) string {
	switch {
	case v == 0:
		return "0"
	case math.Abs(v) >= 999.5e6:
		return digits(v/1e9) + " G"
	case math.Abs(v) >= 999.5e3:
		return digits(v/1e6) + " M"
	case math.Abs(v) >= 9_999.5:
		return digits(v/1e3) + " K"
	default:
		return digits(v)
	}
}

// digits shows three significant digits, and never an exponent.
func digits(v float64) string {
	a := math.Abs(v)
	switch {
	case a >= 99.95:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case a >= 9.995:
		return strconv.FormatFloat(v, 'f', 1, 64)
	case a >= 0.9995:
		return strconv.FormatFloat(v, 'f', 2, 64)
	case a == 0:
		return "0"
	default:
		places := 2 - int(math.Floor(math.Log10(a)))
		s := strconv.FormatFloat(v, 'f', min(places, 12), 64)
		return strings.TrimRight(s, "0")
	}
}

// short shows a round figure without zeros at its end, as axes have them.
func short(v float64) string { return strconv.FormatFloat(v, 'g', 6, 64) }

// shortRate is Rate of a round figure.
func shortRate(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, " G"}, {1e6, " M"}, {1e3, " K"}} {
		if v >= unit.size {
			return short(v/unit.size) + unit.name
		}
	}
	return short(v)
}

// shortSpan is Span of a round figure.
func shortSpan(v float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1e9, " s"}, {1e6, " ms"}, {1e3, " µs"}} {
		if v >= unit.size {
			return short(v/unit.size) + unit.name
		}
	}
	return short(v) + " ns"
}

// Count shows a whole number with its thousands apart: "1,234,567".
func Count(n uint64) string {
	s := strconv.FormatUint(n, 10)
	var b strings.Builder
	for i, c := range s {
		if i > 0 && (len(s)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(c)
	}
	return b.String()
}

// whole is Count of a rounded figure.
func whole(v float64) string {
	if v < 0 {
		return "-" + whole(-v)
	}
	return Count(uint64(v + 0.5))
}

// Bytes shows a size in binary units: "64 KiB".
func Bytes(n float64) string {
	for _, unit := range []struct {
		size float64
		name string
	}{{1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}} {
		if n >= unit.size {
			return digits(n/unit.size) + " " + unit.name
		}
	}
	return strconv.FormatFloat(n, 'f', 0, 64) + " B"
}

// Span shows a time in nanoseconds in its own unit: "230 µs".
func Span(ns int64) string {
	v := float64(ns)
	switch {
	case ns >= int64(time.Second):
		return digits(v/1e9) + " s"
	case ns >= int64(time.Millisecond):
		return digits(v/1e6) + " ms"
	case ns >= int64(time.Microsecond):
		return digits(v/1e3) + " µs"
	default:
		return fmt.Sprintf("%d ns", ns)
	}
}

// Percent shows a share.
func Percent(share float64) string { return fmt.Sprintf("%.1f %%", 100*share) }

// MbpsSeed is megabits a second as the AMS benchmark counted them, in units of 1024² bits;
// Mbit is what it means today.
func MbpsSeed(perSecond float64, size int) float64 {
	return perSecond * float64(size) * 8 / (1024 * 1024)
}

// Mbit is megabits of payload a second.
func Mbit(perSecond float64, size int) float64 { return perSecond * float64(size) * 8 / 1e6 }
