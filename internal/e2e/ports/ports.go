// Package ports gives tests addresses that they have to know before something listens
// there, or to which it comes back. It is for tests only.
package ports

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
)

// Systems give ports above these to those that ask for any, and to connections: Linux
// from 32768 on, others from 49152 on. A port of one's own is not to be given away
// while nothing listens.
const first, count = 15_000, 17_000

// Free returns a port on which nothing listens and which the system does not give away by itself.
func Free() string {
	for range 100 {
		port := strconv.Itoa(first + rand.IntN(count))
		l, err := net.Listen("tcp", "127.0.0.1:"+port)
		if err != nil {
			continue
		}
		if l.Close() == nil {
			return port
		}
	}
	panic(fmt.Sprintf("no port from %d to %d is free", first, first+count-1))
}
