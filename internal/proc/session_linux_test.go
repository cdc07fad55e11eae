package proc

import (
	"os"
	"slices"
	"testing"
)

// A session that another program began ends with what left it; that program stays, and
// so does what is in its own session.
func TestSessionOfAnotherProgram(t *testing.T) {
	const command = `sleep 600 & setsid sh -c 'setsid sleep 600 & sh -c "sleep 600" & sleep 600; sleep 600' & wait`
	c, err := Start(Command{Args: []string{"sh", "-c", command}, Dir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = c.Stop(t.Context()) })
	all := members(t, c, 6) // the last sh may have become its sleep
	leader, apart := 0, func(p process) bool { return p.session != c.PID() }
	for _, p := range all {
		if p.parent == c.PID() && p.session == p.pid {
			leader = p.pid
		}
	}
	theirs := slices.DeleteFunc(slices.Clone(all), func(p process) bool { return !apart(p) })
	if leader == 0 || len(theirs) < 4 {
		t.Fatalf("the tree is %+v", all)
	}
	for name, nothing := range map[string]*Session{
		"the starter itself": SessionOf(c.PID(), c.PID()),
		"not of the starter": SessionOf(os.Getpid(), c.PID()),
		"no process":         SessionOf(0, c.PID()),
		"no starter":         SessionOf(leader, 0),
	} {
		if left := nothing.End(); len(left) > 0 || len(survivors(all)) != len(all) {
			t.Fatalf("%s: %v left, and ended some of %v", name, left, all)
		}
	}
	s := SessionOf(leader, c.PID())
	p, _ := look(leader)
	p.signal(9) // as a program does that ends the leader only
	if left := s.End(); len(left) > 0 || !dead(theirs) {
		t.Errorf("%v left, %v live", left, survivors(theirs))
	}
	for _, p := range all {
		if now, ok := look(p.pid); !apart(p) && (!ok || now.zombie) {
			t.Errorf("%+v ended", p)
		}
	}
}
