package proc

import (
	"encoding/gob"
	"io"
	"os/exec"
	"syscall"
	"testing"
	"testing/synctest"
	"time"
)

const manySilences = 10

// A helper that hears from its server does not end anything.
func TestHelperThatHearsItsServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		k := &keeper{
			enc:     gob.NewEncoder(io.Discard),
			silence: defaultSilence,
			orders:  make(chan order),
			empty:   make(chan struct{}),
		}
		ended := make(chan int)
		go func() { ended <- k.run() }()
		for range manySilences * beatsPerSilence {
			time.Sleep(defaultSilence / beatsPerSilence)
			k.orders <- order{Beat: true}
		}
		close(k.empty)
		if code := <-ended; code != 0 || k.phase != running {
			t.Errorf("the helper ends the command of a server that lives: phase %d, code %d", k.phase, code)
		}
	})
}

// A server is heard, and leaves a helper alone that answers.
func TestServerBeats(t *testing.T) {
	helper := exec.Command("sleep", "600")
	if err := helper.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = helper.Process.Kill() }()
	near, theirs, err := socketPair()
	if err != nil {
		t.Fatal(err)
	}
	defer near.Close()
	defer theirs.Close()
	synctest.Test(t, func(t *testing.T) {
		s := &tree{
			beat:    defaultSilence / beatsPerSilence,
			conn:    near,
			enc:     gob.NewEncoder(near),
			gone:    make(chan struct{}),
			ending:  make(chan struct{}),
			taken:   make(chan struct{}),
			started: make(chan struct{}),
		}
		s.self, _ = look(helper.Process.Pid)
		watched := make(chan struct{})
		go func() { s.watch(); close(watched) }()
		heard := gob.NewDecoder(theirs)
		for range manySilences * beatsPerSilence {
			time.Sleep(s.beat)
			synctest.Wait()
			var o order
			if err := heard.Decode(&o); err != nil || !o.Beat {
				t.Fatalf("the helper hears %+v, %v", o, err)
			}
			s.answers.Add(1)
		}
		if now, ok := look(helper.Process.Pid); s.takes.Load() || !ok || now.stopped {
			t.Error("a helper that answers was killed")
		}
		for range beatsPerSilence + 1 { // which it does not answer
			time.Sleep(s.beat)
			synctest.Wait()
		}
		if !s.takes.Load() {
			t.Error("a helper that does not answer was left alone")
		}
		close(s.gone)
		<-watched
	})
	if state, err := helper.Process.Wait(); err != nil ||
		state.Sys().(syscall.WaitStatus).Signal() != syscall.SIGKILL {
		t.Errorf("the helper that does not answer ended with %v, %v", state, err)
	}
}
