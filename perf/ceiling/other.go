//go:build !linux

package ceiling

import (
	"context"
	"fmt"

	"github.com/fantail-io/fantail/perf/worker"
	"github.com/fantail-io/fantail/ring"
)

var errOther = fmt.Errorf("ceiling: %w: it needs Linux's epoll", ring.ErrNotSupported)

// Run is not supported here.
func Run(context.Context, Config) (Result, error) { return Result{}, errOther }

// Read is not supported here.
func Read(*worker.Session) (any, error) { return nil, errOther }
