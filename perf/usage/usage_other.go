//go:build !unix

package usage

func (s *Sample) rusage() {}
