package main

import (
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"
)

func get(t *testing.T, url, host string) (status int, body []byte) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	if host != "" {
		request.Host = host
	}
	transport := &http.Transport{DisableKeepAlives: true}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err = io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, body
}

func TestDebugStats(t *testing.T) {
	p, address := serve(t, "--debug-addr", "127.0.0.1:0")
	url := p.out.find(t, "debug (http://.*)/stats")
	s := subscribe(t, address, "md.>", "--policy", "drop-oldest:100")
	publish(t, address, "md.AAPL", "x")
	s.out.find(t, "(md.AAPL)")
	status, body := get(t, url+"/stats", "")
	var v struct {
		Engine struct {
			Topics int
			Stream struct{ Blocks int }
		}
		Door struct {
			Address           string
			Open, Published   int
			Rejected          map[string]int
			Shards            []struct{ Conns []struct{ Policy string } }
			PublishedBytes    int
			AcceptRetries     int
			Accepted, Refused int
		}
	}
	if err := json.Unmarshal(body, &v); status != http.StatusOK || err != nil {
		t.Fatalf("status %d, %v: %s", status, err, body)
	}
	if v.Engine.Topics != 1 || v.Engine.Stream.Blocks != 256 || v.Door.Address != address ||
		v.Door.Published != 1 || v.Door.PublishedBytes != 1 {
		t.Errorf("%s", body)
	}
	if !strings.Contains(string(body), `"Policy": "drop-oldest:100"`) {
		t.Errorf("no policy by name: %s", body)
	}
	if status, _ := get(t, url+"/pprof/goroutine?debug=1", ""); status != http.StatusOK {
		t.Errorf("pprof: status %d", status)
	}
	if status, _ := get(t, url+"/stats", "fantail.example:6060"); status != http.StatusForbidden {
		t.Errorf("asked for another host: status %d", status)
	}
}

func TestStatsLines(t *testing.T) {
	p, address := serve(t, "--stats", "10ms")
	s := subscribe(t, address, ">", "--stats", "10ms", "--format", "none")
	publish(t, address, "a", "--size", "10", "--count", "1000")
	p.out.find(t, `stats: in ([1-9][0-9,]*/s), out`)
	p.out.find(t, `(connections 2)`)
	s.log.find(t, `(in all 1,000 messages), 0 gaps`)
}
