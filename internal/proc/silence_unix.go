//go:build (linux || darwin) && !shortlease

package proc

import "time"

// defaultSilence is how long a helper lives without a word from us. A server
// that is stopped for as long does not come back soon, and nothing could end
// its commands meanwhile. It is shorter than the lease of a replica, so that the
// commands of one that is frozen have ended before another takes its sessions.
const defaultSilence = 20 * time.Second
