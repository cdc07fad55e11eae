package policy

import "syscall"

func ctime(s *syscall.Stat_t) (seconds, nanoseconds int64) { return s.Ctim.Unix() }
