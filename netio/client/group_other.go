//go:build !linux

package client

func newBackend(c GroupConfig) (backend, error) { return newPortableGroup(c), nil }
