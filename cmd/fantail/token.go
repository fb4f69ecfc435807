package main

import (
	"bytes"
	"fmt"
	"io"
	"os"

	"github.com/fantail-io/fantail/netio/wire/native"
)

// tokenHelp explains --token-file to those who connect.
const tokenHelp = "`FILE` with the secret that the server asks for"

// readToken reads a secret from a file; white space around it does not count. It warns
// where others may read the file too.
func (e *environment) readToken(path string) ([]byte, error) {
	if path == "" {
		return nil, nil
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("the token file: %w", err)
	}
	defer f.Close()
	b, err := io.ReadAll(io.LimitReader(f, 4*native.MaxTokenBytes))
	if err != nil {
		return nil, fmt.Errorf("the token file: %w", err)
	}
	token := bytes.TrimSpace(b)
	switch {
	case len(token) == 0:
		return nil, fmt.Errorf("the token file %s is empty: write a secret into it, such as the "+
			"output of: openssl rand -hex 32", path)
	case len(token) > native.MaxTokenBytes:
		return nil, fmt.Errorf("the token in %s is longer than %d bytes", path,
			native.MaxTokenBytes)
	}
	if info, err := f.Stat(); err == nil && openToOthers(info) {
		e.say("warning: others on this machine may read %s: chmod 600 %s", path, path)
	}
	return token, nil
}
