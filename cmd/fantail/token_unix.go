//go:build unix

package main

import "io/fs"

// openToOthers reports whether more than a file's owner may use it.
func openToOthers(info fs.FileInfo) bool { return info.Mode().IsRegular() && info.Mode()&0o077 != 0 }
