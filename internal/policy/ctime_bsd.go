//go:build unix && !linux

package policy

import "syscall"

func ctime(s *syscall.Stat_t) (seconds, nanoseconds int64) { return s.Ctimespec.Unix() }
