//go:build !unix

package main

import "io/fs"

// openToOthers is not known here: a file's mode does not say.
func openToOthers(fs.FileInfo) bool { return false }
