//go:build !race && (linux || darwin)

package proc

// helperPath names the program that keeps a tree: this one.
func helperPath() (string, error) { return selfPath() }
