//go:build linux || darwin

package proc

import (
	"os"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// identity distinguishes a process from a later one with the same number.
type identity struct {
	pid   int
	start uint64 // when it began, in the system's own unit
}

type process struct {
	identity
	parent, session int
	zombie          bool
	stopped         bool // by a signal
}

// signal sends sig to p and to no other: between the list and now its number may
// have been given away. Failures show as p staying alive.
func (p process) signal(sig syscall.Signal) {
	handle, err := os.FindProcess(p.pid) // from here on a fixed process, where the kernel can
	if err != nil {
		return
	}
	defer handle.Release()
	if now, ok := look(p.pid); ok && now.start == p.start {
		_ = handle.Signal(sig)
	}
}

// family knows which processes belong to a helper's tree: its descendants, and
// where there is no subreaper also the command's session and what was seen to
// belong before.
type family struct {
	helper  int
	command int
	// foreign says that the command is another program's, so that no helper adopts
	// its orphans.
	foreign bool
	// excluded is the processes that are children of helper without belonging to the
	// tree; nil means none.
	excluded func(process) bool

	mu   sync.Mutex
	seen map[identity]bool // guarded by mu
	// held says that the number of the command's session cannot have been given
	// to another one, because the command is there. Guarded by mu.
	held bool
}

func newFamily(helper, command int) *family {
	return &family{helper: helper, command: command, seen: map[identity]bool{}, held: command > 0}
}

// commandEnded notes the orphans of a command that ended this moment.
func (f *family) commandEnded() {
	if subreaper {
		return
	}
	f.alive()
	f.mu.Lock()
	f.held = false
	f.mu.Unlock()
}

// strays lists what belongs to the tree without descending from the helper.
// f.mu is held.
func (f *family) strays(all []process) (pids []int) {
	if subreaper && !f.foreign {
		return nil
	}
	session := f.held
	for _, p := range all {
		session = session || f.seen[p.identity] && p.session == f.command
	}
	for _, p := range all {
		if f.seen[p.identity] || session && p.session == f.command {
			pids = append(pids, p.pid)
		}
	}
	return pids
}

// alive lists the tree without the helper and without the dead.
func (f *family) alive() []process {
	all, err := processes()
	if err != nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	children := map[int][]int{}
	byID := make(map[int]process, len(all))
	now := map[identity]bool{}
	for _, p := range all {
		byID[p.pid] = p
		if p.parent != f.helper || f.excluded == nil || !f.excluded(p) {
			children[p.parent] = append(children[p.parent], p.pid)
		}
	}
	todo := append(f.strays(all), children[f.helper]...)
	var list []process
	for len(todo) > 0 {
		p := byID[todo[0]]
		todo = todo[1:]
		if now[p.identity] {
			continue
		}
		now[p.identity] = true
		todo = append(todo, children[p.pid]...)
		if !p.zombie {
			list = append(list, p)
		}
	}
	f.seen = now // the dead are forgotten
	return list
}

// kill stops everything first, so that nothing forks while it goes through the
// list, then kills it. What it found is added to hit. It returns what was there.
func (f *family) kill(hit map[identity]bool) []process {
	stopped := map[identity]bool{}
	list := f.alive()
	for range 100 {
		fresh := false
		for _, p := range list {
			if !stopped[p.identity] {
				stopped[p.identity], hit[p.identity], fresh = true, true, true
				p.signal(unix.SIGSTOP)
			}
		}
		if !fresh {
			break
		}
		list = f.alive()
	}
	for _, p := range list {
		p.signal(unix.SIGKILL)
	}
	return list
}

// end kills until nothing is left, at most for killPatience, and returns what is
// left. tidy, which may be nil, is called in between.
func (f *family) end(hit map[identity]bool, tidy func()) []process {
	until := time.Now().Add(killPatience)
	for {
		left := f.kill(hit)
		if tidy != nil {
			tidy()
		}
		if len(left) == 0 || time.Now().After(until) {
			return left
		}
		time.Sleep(killInterval)
	}
}

func (f *family) list() []Process { return describe(f.alive()) }

func describe(list []process) (l []Process) {
	for _, p := range list {
		l = append(l, Process{PID: p.pid, Command: commandOf(p.pid)})
	}
	return l
}
