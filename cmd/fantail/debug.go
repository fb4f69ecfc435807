package main

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"
)

// debugServer is the HTTP server of --debug-addr.
type debugServer struct {
	http    http.Server
	address string
	done    chan struct{}
}

// openDebug starts the debug server where one is asked for.
func (s *server) openDebug() error {
	if s.flags.debugAddr == "" {
		return nil
	}
	host, port, err := net.SplitHostPort(s.flags.debugAddr)
	if err != nil {
		return fmt.Errorf("--debug-addr: %w: write host:port, such as 127.0.0.1:6060", err)
	}
	if host == "" {
		host = "127.0.0.1"
	}
	// What is checked is what is listened at: a name is resolved once.
	address, err := net.ResolveTCPAddr("tcp", net.JoinHostPort(host, port))
	if err != nil {
		return fmt.Errorf("--debug-addr: %w", err)
	}
	if !address.IP.IsLoopback() && !s.flags.debugAnywhere {
		return fmt.Errorf("--debug-addr %s is not loopback: whoever reaches it can profile this "+
			"server and read its figures; choose 127.0.0.1:%s, or add --debug-anywhere if that is "+
			"what you want", s.flags.debugAddr, port)
	}
	ln, err := net.ListenTCP("tcp", address)
	if err != nil {
		return fmt.Errorf("--debug-addr: %w", err)
	}
	d := &debugServer{address: ln.Addr().String(), done: make(chan struct{})}
	d.http.Handler = s.debugHandler()
	d.http.ReadHeaderTimeout = 5 * time.Second
	s.debug = d
	go func() {
		defer close(d.done)
		_ = d.http.Serve(ln)
	}()
	return nil
}

func (s *server) closeDebug() {
	if s.debug != nil {
		_ = s.debug.http.Close()
		<-s.debug.done
	}
}

// debugHandler serves the figures and the profiles.
func (s *server) debugHandler() http.Handler {
	mux := http.NewServeMux()
	mux.HandleFunc("GET /debug/stats", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		out := json.NewEncoder(w)
		out.SetIndent("", "  ")
		_ = out.Encode(s.view()) // an error is the peer's: it has gone
	})
	mux.HandleFunc("/debug/pprof/", pprof.Index)
	mux.HandleFunc("/debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("/debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("/debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("/debug/pprof/trace", pprof.Trace)
	if s.flags.debugAnywhere {
		return mux
	}
	return loopbackOnly(mux)
}

// loopbackOnly refuses requests for other hosts: a web page whose name its owner has made
// an address of this machine must not read the answers.
func loopbackOnly(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		host, _, err := net.SplitHostPort(r.Host)
		if err != nil {
			host = r.Host
		}
		if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
			http.Error(w, "ask for localhost or 127.0.0.1", http.StatusForbidden)
			return
		}
		next.ServeHTTP(w, r)
	})
}
