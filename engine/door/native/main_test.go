package native

import (
	"fmt"
	"os"
	"testing"

	"github.com/fantail-io/fantail/ring/ringtest"
)

// childRole names what a copy of this test binary is, where it is a child of a test.
const childRole = "FANTAIL_TEST_CHILD"

// roles are the children that tests start: processes that can be stopped and killed.
var roles = map[string]func() error{
	"subscriber": childSubscriber,
	"publisher":  childPublisher,
	"server":     childServer,
}

func TestMain(m *testing.M) {
	if role := os.Getenv(childRole); role != "" {
		if err := roles[role](); err != nil {
			fmt.Println("error", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	ringtest.Main(m)
}
