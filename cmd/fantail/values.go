package main

import (
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/fantail-io/fantail/ring"
	"github.com/fantail-io/fantail/ring/wait"
)

// defaultAddress is where serve listens, and where the others look for it.
const defaultAddress = "127.0.0.1:7400"

// withPort completes an address that has only a host.
func withPort(address string) string {
	if _, _, err := net.SplitHostPort(address); err == nil {
		return address
	}
	_, port, _ := net.SplitHostPort(defaultAddress)
	return net.JoinHostPort(strings.Trim(address, "[]"), port)
}

// byteSize is a number of bytes, written with or without a unit: 65536, 64KiB, 1GiB.
type byteSize int

var byteUnits = []struct {
	name  string
	bytes int
}{{"GiB", 1 << 30}, {"MiB", 1 << 20}, {"KiB", 1 << 10}, {"B", 1}}

// String is b in the largest unit that leaves a whole number.
func (b *byteSize) String() string {
	for _, u := range byteUnits {
		if n := int(*b); n != 0 && n%u.bytes == 0 {
			return strconv.Itoa(n/u.bytes) + u.name
		}
	}
	return "0"
}

// Set reads what was given on the command line.
func (b *byteSize) Set(s string) error {
	number, scale := s, 1
	for _, u := range byteUnits {
		if n, ok := strings.CutSuffix(s, u.name); ok {
			number, scale = n, u.bytes
			break
		}
	}
	n, err := strconv.Atoi(strings.TrimSpace(number))
	if err != nil || n < 0 || n > math.MaxInt/scale {
		return fmt.Errorf("write bytes, or a number with KiB, MiB or GiB, such as 64MiB")
	}
	*b = byteSize(n * scale)
	return nil
}

// policyValue is a slow-consumer policy with its bound: wait, wait-for:50ms,
// drop-oldest:65536.
type policyValue struct{ ring.Policy }

func (p *policyValue) String() string { return policyText(p.Policy) }

// policyText writes a policy as flags and reports do.
func policyText(p ring.Policy) string {
	switch p.Kind {
	case ring.PolicyDefault:
		return ""
	case ring.PolicyWaitFor:
		return p.Kind.String() + ":" + p.For.String()
	case ring.PolicyWait, ring.PolicyConflate, ring.PolicySpill:
		return p.Kind.String()
	}
	if p.MaxLag == 0 {
		return p.Kind.String()
	}
	return p.Kind.String() + ":" + strconv.FormatUint(uint64(p.MaxLag), 10)
}

// policyHelp is how flags explain policies; the command's own text comes before it.
const policyHelp = "wait, wait-for:50ms, drop-oldest:65536, drop-newest:65536, conflate or " +
	"disconnect:65536, where the number is how many messages may queue"

// Set reads what was given on the command line.
func (p *policyValue) Set(s string) error {
	name, bound, bounded := strings.Cut(s, ":")
	kind, err := ring.ParsePolicyKind(name)
	if err != nil || kind == ring.PolicyDefault {
		return errors.New("choose " + policyHelp)
	}
	policy := ring.Policy{Kind: kind}
	switch {
	case kind == ring.PolicyWaitFor:
		if policy.For, err = time.ParseDuration(bound); err != nil {
			return errors.New("wait-for needs a time, such as wait-for:50ms")
		}
	case bounded && (kind == ring.PolicyWait || kind == ring.PolicyConflate ||
		kind == ring.PolicySpill):
		return fmt.Errorf("%v takes no number", kind)
	case bounded:
		n, err := strconv.ParseUint(bound, 10, 32)
		if err != nil || n == 0 {
			return fmt.Errorf("%v needs a number of messages, such as %v:65536", kind, kind)
		}
		policy.MaxLag = uint32(n)
	}
	if err := policy.Check(); err != nil {
		return err
	}
	p.Policy = policy
	return nil
}

// policyKinds is a list of policies' names.
type policyKinds []ring.PolicyKind

func (k *policyKinds) String() string {
	var words []string
	for _, kind := range *k {
		words = append(words, kind.String())
	}
	return strings.Join(words, ",")
}

// Set reads what was given on the command line.
func (k *policyKinds) Set(s string) error {
	*k = nil
	for _, word := range strings.Split(s, ",") {
		kind, err := ring.ParsePolicyKind(word)
		if err != nil || kind == ring.PolicyDefault || kind == ring.PolicySpill {
			return fmt.Errorf("%q is not a policy that could be allowed", word)
		}
		*k = append(*k, kind)
	}
	return nil
}

// waitValue is what an idle shard does.
type waitValue struct{ wait.Strategy }

// Set reads what was given on the command line.
func (w *waitValue) Set(s string) (err error) {
	if w.Strategy, err = wait.ParseStrategy(s); err != nil {
		return errors.New("choose adaptive, busy, yield or park")
	}
	return nil
}

// cpuList is a list of cores: 2, or 2,3,8-11.
type cpuList []int

// maxCPU bounds a core's number, and so the length of a list.
const maxCPU = 1023

func (c *cpuList) String() string {
	var words []string
	for _, n := range *c {
		words = append(words, strconv.Itoa(n))
	}
	return strings.Join(words, ",")
}

// Set reads what was given on the command line.
func (c *cpuList) Set(s string) error {
	*c = nil
	for _, word := range strings.Split(s, ",") {
		from, to, isRange := strings.Cut(word, "-")
		if !isRange {
			to = from
		}
		first, err := strconv.Atoi(from)
		last, err2 := strconv.Atoi(to)
		if err != nil || err2 != nil || first < 0 || last < first || last > maxCPU {
			return errors.New("write cores as 2 or as 2,3,8-11, counting from 0")
		}
		for n := first; n <= last; n++ {
			*c = append(*c, n)
		}
	}
	return nil
}
