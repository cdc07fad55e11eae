//go:build (linux || darwin) && shortlease

package proc

import "time"

// defaultSilence fits the short lease of tests.
const defaultSilence = 2 * time.Second
