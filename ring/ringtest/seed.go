package ringtest

import (
	"flag"
	"math/rand/v2"
	"testing"
)

var seedFlag = flag.Int64("seed", 0, "seed of randomised tests; 0: another one each time")

// Seed is the seed of a randomised test: the flag -seed, or where that is 0 a random one.
// It logs it, so that a failure can be had again with -run and -seed.
func Seed(t testing.TB) int64 {
	t.Helper()
	seed := *seedFlag
	for seed == 0 {
		seed = rand.Int64()
	}
	t.Logf("-seed=%d", seed)
	return seed
}
