//go:build !linux && !darwin

package render

import "time"

func threadTime() (time.Duration, bool) { return 0, false }
