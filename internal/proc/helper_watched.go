//go:build race && (linux || darwin)

package proc

import "os"

// helperPath names the program that keeps a tree. Tests below the race detector watch themselves:
// their helpers may be a program built without it, which scripts/test.sh names here, and start 15
// times as fast.
func helperPath() (string, error) {
	if path := os.Getenv("WEBCHAT_STANDIN"); path != "" {
		return path, nil
	}
	return selfPath()
}
