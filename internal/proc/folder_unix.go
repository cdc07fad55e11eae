//go:build unix

package proc

import (
	"fmt"
	"os"
	"syscall"
)

// become makes this process another program. It returns only if it cannot.
func become(path string, args []string) error {
	return fmt.Errorf("start %s: %w", args[0], syscall.Exec(path, args, os.Environ()))
}
