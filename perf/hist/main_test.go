package hist

import (
	"testing"

	"github.com/fantail-io/fantail/ring/ringtest"
)

func TestMain(m *testing.M) { ringtest.Main(m) }
