package main

import (
	"flag"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// messageCount is a number, or auto, which is 0.
type messageCount uint64

func (m *messageCount) String() string {
	if *m == 0 {
		return "auto"
	}
	return strconv.FormatUint(uint64(*m), 10)
}

// Set reads what was given on the command line.
func (m *messageCount) Set(s string) error {
	if s == "auto" {
		*m = 0
		return nil
	}
	n, err := strconv.ParseUint(s, 10, 63)
	if err != nil {
		return fmt.Errorf("%q is neither a number nor auto", s)
	}
	*m = messageCount(n)
	return nil
}

// seconds is a time: a number of seconds, or with a unit, as 300ms.
type seconds time.Duration

func (v *seconds) String() string { return time.Duration(*v).String() }

// Set reads what was given on the command line.
func (v *seconds) Set(s string) error {
	if f, err := strconv.ParseFloat(s, 64); err == nil && f >= 0 && f < 1e6 {
		*v = seconds(f * float64(time.Second))
		return nil
	}
	d, err := time.ParseDuration(s)
	if err != nil || d < 0 {
		return fmt.Errorf("%q is no time", s)
	}
	*v = seconds(d)
	return nil
}

// span adds a flag for a time.
func span(fs *flag.FlagSet, v *time.Duration, name string, def time.Duration, usage string) {
	*v = def
	fs.Var((*seconds)(v), name, usage)
}

// numbers is a list of whole numbers, with commas between them.
type numbers []int

func (n *numbers) String() string {
	return strings.Trim(strings.ReplaceAll(fmt.Sprint([]int(*n)), " ", ","), "[]")
}

// Set reads what was given on the command line.
func (n *numbers) Set(s string) error {
	*n = nil
	for _, word := range strings.Split(s, ",") {
		v, err := strconv.Atoi(strings.TrimSpace(word))
		if err != nil || v < 1 {
			return fmt.Errorf("%q is no list of numbers", s)
		}
		*n = append(*n, v)
	}
	slices.Sort(*n)
	*n = slices.Compact(*n)
	return nil
}
