//go:build linux || darwin

package proc

import (
	"errors"
	"fmt"
	"time"

	"golang.org/x/sys/unix"
)

const (
	// beatsPerSilence is how many beats are sent in that time. As many without
	// an answer are a helper that does not react.
	beatsPerSilence = 4
	// startPatience is for a machine under load. A helper starts in milliseconds.
	startPatience = 20 * time.Second
	// reactPatience is how long a helper may take to answer while its server waits
	// for the end of its tree.
	reactPatience = time.Second
	// lookInterval is how often the helper is looked at meanwhile.
	lookInterval = 50 * time.Millisecond
)

// awaitStart waits until the command runs. If the helper was stopped or killed
// before it said so, the command may have run and may have done it: that is its
// end, not an error of its start.
func (t *tree) awaitStart() error {
	tick, late := time.NewTicker(lookInterval), time.NewTimer(startPatience)
	defer tick.Stop()
	defer late.Stop()
	for {
		select {
		case <-t.started:
			return nil
		case <-t.gone:
			return t.startErr
		case <-tick.C:
			if t.helperStopped() {
				t.takeOver()
			}
		case <-late.C:
			t.takeOver()
			<-t.gone
			return fmt.Errorf("its watching process did not react for %v and was killed", startPatience)
		}
	}
}

// watch returns when the tree is gone. A helper that is stopped or does not
// answer is not waited for: its tree is ended without it.
func (t *tree) watch() {
	tick := time.NewTicker(t.beat)
	defer tick.Stop()
	late := time.NewTimer(time.Hour)
	late.Stop()
	defer late.Stop()
	ending, most := t.ending, beatsPerSilence
	// beats without an answer, counted as the helper counts ours
	answers, silent := t.answers.Load(), 0
	for {
		select {
		case <-t.gone:
			return
		case <-ending:
			ending, most, silent = nil, int(reactPatience/lookInterval), 0
			tick.Reset(lookInterval)
			late.Reset(t.grace + killPatience + reactPatience) // it gives up before
		case <-tick.C:
			if n := t.answers.Load(); n != answers {
				answers, silent = n, 0
			}
			if silent >= most || t.helperStopped() {
				t.takeOver()
				continue
			}
			silent++
			t.send(order{Beat: true})
		case <-late.C:
			t.takeOver()
		}
	}
}

func (t *tree) helperStopped() bool {
	now, ok := look(t.self.pid)
	return ok && now.start == t.self.start && now.stopped
}

// takeOver kills the tree and its helper.
func (t *tree) takeOver() {
	t.taking.Do(func() {
		t.takes.Store(true)
		defer close(t.taken)
		command := 0
		select {
		case <-t.started:
			command = t.pid
		default:
		}
		t.self.signal(unix.SIGSTOP) // what it might still do must not be in between
		hit := map[identity]bool{}
		newFamily(t.self.pid, command).end(hit, nil) // what is left is found again by inherit
		t.killed = len(hit)
		t.self.signal(unix.SIGKILL)
		_ = t.conn.SetReadDeadline(time.Now().Add(killPatience)) // should even that not help
	})
}

// endHelper waits for the helper, which has no more to do.
func (t *tree) endHelper() {
	done := make(chan struct{})
	go func() { // longer than us only if the kernel holds a killed process
		defer close(done)
		waitOwn(t.helper)
	}()
	for _, patience := range []time.Duration{reactPatience, killPatience} {
		timer := time.NewTimer(patience)
		select {
		case <-done:
			timer.Stop()
			return
		case <-timer.C:
			_ = t.helper.Kill()
		}
	}
}

// inherit ends what a helper leaves that did not see the end of its tree.
func (t *tree) inherit() {
	hit := map[identity]bool{}
	t.exitErr = errors.New(
		"the process that watched it was killed, and with it all that it had started")
	if t.takes.Load() {
		<-t.taken
		t.ended = t.killed
		t.exitErr = errors.New(
			"the process that watched it did not react and was killed, with all that it had started")
	}
	left, all := t.endOrphans(hit)
	t.ended += len(hit)
	switch {
	case len(left) > 0:
		t.goneErr = fmt.Errorf("could not end %s", names(describe(left)))
	case !all:
		t.goneErr = errors.New(
			"the process that watched the command was killed; what the command had moved to other " +
				"sessions may run on")
	}
}

// endSession kills the command's session, adding its processes to hit. It is all
// that can be found without adopting.
func (t *tree) endSession(hit map[identity]bool) (left []process, all bool) {
	if t.pid == 0 {
		return nil, t.takes.Load()
	}
	for until := time.Now().Add(killPatience); ; time.Sleep(killInterval) {
		left = nil
		list, _ := processes()
		for _, p := range list {
			if p.session == t.pid && !p.zombie {
				left = append(left, p)
				hit[p.identity] = true
				p.signal(unix.SIGKILL)
			}
		}
		if len(left) == 0 || time.Now().After(until) {
			return left, t.takes.Load() // takeOver saw all of them
		}
	}
}
