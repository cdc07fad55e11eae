//go:build linux || darwin

package proc

import (
	"encoding/gob"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"runtime"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// beHelper does not return if this process was started as a helper.
func beHelper() {
	if len(os.Args) != 1 && len(os.Args) != 3 || os.Args[0] != helperName {
		return
	}
	var st unix.Stat_t
	if unix.Fstat(3, &st) != nil || st.Mode&unix.S_IFMT != unix.S_IFSOCK {
		return
	}
	// Not os.Exit: a race-detecting build would wait a second there.
	syscall.Exit(help(os.NewFile(3, "parent"), os.Args[1:]))
}

// keeper is the helper's work: one command and its tree.
type keeper struct {
	conn    *os.File
	enc     *gob.Encoder
	grace   time.Duration
	silence time.Duration
	family  *family
	inside  *confined // what the tree of a confined command may touch

	exited chan Exit     // the command's end, once
	empty  chan struct{} // closed when nothing is left
	orders chan order    // closed when our parent is gone
	timer  <-chan time.Time
	phase  phase
	until  time.Time         // asking: when to kill; killing: when to give up
	hit    map[identity]bool // what was signalled
	silent int               // ticks since the last order
}

type phase int

const (
	// askInterval is how often new processes are looked for during the grace.
	askInterval  = 50 * time.Millisecond
	killInterval = 10 * time.Millisecond

	// silenceTicks is how many ticks without an order make a silence. They are
	// counted instead of measured, because a helper that did not run itself,
	// in a container that was paused, has missed nothing. Go's timers stand still
	// while the machine sleeps: their clock is CLOCK_MONOTONIC on Linux and that
	// of CLOCK_UPTIME_RAW on macOS.
	silenceTicks = 20
)

const (
	running phase = iota
	asking        // SIGTERM was sent
	killing
)

// help is given the user and group of a helper in namespaces of its own.
func help(conn *os.File, user []string) int {
	// The command dies with the thread that made it, if the kernel can do that:
	// this one, which lives as long as the process.
	runtime.LockOSThread()
	// Handled and dropped, not ignored: what is ignored stays ignored in the
	// command.
	signal.Notify(make(chan os.Signal, 1))
	closeOnExec()
	var err error
	if len(user) == 2 {
		err = takeUser(user[0], user[1])
	}
	_ = conceal() // its connection is not for the command to take
	if err == nil {
		err = becomeReaper()
	}
	if err != nil {
		gob.NewEncoder(conn).Encode(report{Failed: fmt.Sprintf("keep its processes together: %v", err)})
		return 1
	}
	k := &keeper{conn: conn, enc: gob.NewEncoder(conn), hit: map[identity]bool{},
		exited: make(chan Exit, 1), empty: make(chan struct{}), orders: make(chan order)}
	dec := gob.NewDecoder(conn)
	var req request
	if dec.Decode(&req) != nil {
		return 1
	}
	k.grace, k.silence = req.Grace, req.Silence
	pid, err := k.start(req)
	if err != nil {
		k.tell(report{Failed: err.Error()})
		return 1
	}
	if req.Only {
		k.tell(report{Started: os.Getpid()})
		k.tell(report{Over: true})
		return 0
	}
	dropFiles()
	k.family = newFamily(os.Getpid(), pid)
	k.tell(report{Started: pid})
	go k.reap(pid)
	go k.listen(dec)
	return k.run()
}

// start starts the command, confined if it is to be.
func (k *keeper) start(req request) (pid int, err error) {
	if req.Confine == nil {
		return forkExec(req)
	}
	if k.inside, err = enter(req.Confine); err != nil {
		return 0, fmt.Errorf("confine it: %w", err)
	}
	return k.inside.start(req)
}

// forkExec starts the command of a request from the calling thread.
func forkExec(req request) (int, error) {
	pid, err := syscall.ForkExec(req.Path, req.Args, &syscall.ProcAttr{
		Dir: req.Dir, Env: req.Env, Files: []uintptr{0, 1, 2}, Sys: commandAttr(),
	})
	if err != nil {
		return 0, errors.New(execError(req.Path, err))
	}
	return pid, nil
}

func execError(path string, err error) string {
	switch {
	case errors.Is(err, syscall.ENOENT):
		return path + " or the interpreter its first line names is not there"
	case errors.Is(err, syscall.ENOEXEC):
		return path + " is not a program of this system"
	case errors.Is(err, syscall.E2BIG):
		return "its arguments and environment are too long"
	}
	return err.Error()
}

func (k *keeper) tell(r report) { _ = k.enc.Encode(r) } // a dead parent is seen by listen

// reap collects every process of the tree as it ends.
func (k *keeper) reap(command int) {
	for {
		var ws unix.WaitStatus
		pid, err := unix.Wait4(-1, &ws, 0, nil)
		switch {
		case err == unix.EINTR:
		case err != nil: // no children
			k.family.awaitStrays()
			close(k.empty)
			return
		case pid != command:
		case ws.Signaled():
			k.family.commandEnded()
			k.exited <- Exit{Code: 128 + int(ws.Signal()), Signal: unix.SignalName(ws.Signal())}
		case ws.Exited():
			k.family.commandEnded()
			k.exited <- Exit{Code: ws.ExitStatus()}
		}
	}
}

func (k *keeper) listen(dec *gob.Decoder) {
	for {
		var o order
		if dec.Decode(&o) != nil {
			close(k.orders)
			return
		}
		k.orders <- o
	}
}

func (k *keeper) run() int {
	var look <-chan time.Time
	if lookEvery > 0 {
		look = time.Tick(lookEvery)
	}
	pulse := time.NewTicker(k.silence / silenceTicks)
	for {
		select {
		case <-look:
			k.family.alive()
		case <-pulse.C:
			if k.silent++; k.silent == silenceTicks {
				k.abandon()
			}
		case e := <-k.exited:
			k.tell(report{Exited: true, Exit: e})
		case <-k.empty:
			select {
			case e := <-k.exited:
				k.tell(report{Exited: true, Exit: e})
			default:
			}
			k.tell(report{Over: true, Ended: len(k.hit)})
			return 0
		case o, ok := <-k.orders:
			k.silent = 0
			k.obey(o, ok)
		case <-k.timer:
			late := time.Now().After(k.until)
			switch {
			case k.phase == asking && !late:
				k.askAll()
			case k.phase == killing && late:
				k.tell(report{Over: true, Ended: len(k.hit), List: k.family.list()})
				return 1
			default:
				k.kill()
			}
		}
	}
}

func (k *keeper) obey(o order, ok bool) {
	switch {
	case !ok:
		k.orders = nil
		k.abandon()
	case o.Open != nil || o.Shut > 0:
		a := k.inside.turn(o)
		k.tell(report{Turned: &a})
	case o.Beat:
		k.tell(report{Beat: true})
	case o.List:
		k.tell(report{Listed: true, List: k.family.list()})
	case o.Stop:
		k.ask()
	case o.Kill && k.phase != killing:
		k.kill()
	}
}

// abandon ends the tree because its server no longer waits for it.
func (k *keeper) abandon() {
	k.grace = min(k.grace, orphanGrace)
	if k.phase == asking {
		k.until = time.Now().Add(k.grace)
		return
	}
	k.ask()
}

// ask begins to end the tree.
func (k *keeper) ask() {
	if k.phase != running {
		return
	}
	k.phase, k.until = asking, time.Now().Add(k.grace)
	k.askAll()
}

// askAll sends SIGTERM to what has not had it, and wakes what is stopped to hear
// it. It is repeated for what a shell starts because its child was ended.
func (k *keeper) askAll() {
	for _, p := range k.family.alive() {
		if !k.hit[p.identity] {
			k.hit[p.identity] = true
			p.signal(unix.SIGTERM)
			p.signal(unix.SIGCONT)
		}
	}
	k.timer = time.After(min(askInterval, time.Until(k.until)))
}

// kill is repeated until the tree is empty.
func (k *keeper) kill() {
	if k.phase != killing {
		k.phase = killing
		k.until = time.Now().Add(killPatience)
	}
	k.family.kill(k.hit)
	k.timer = time.After(killInterval)
}

// dropFiles closes the command's files: its output must end with it.
func dropFiles() {
	null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0)
	if err != nil {
		for fd := range 3 {
			unix.Close(fd)
		}
		return
	}
	for fd := range 3 {
		_ = unix.Dup2(int(null.Fd()), fd)
	}
	null.Close()
}
