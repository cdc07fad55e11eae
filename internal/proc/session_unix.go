//go:build linux || darwin

package proc

// Session is what a command is made of that another program, the starter, began in
// a session apart from its own. It may be used concurrently.
type Session struct{ family *family }

// SessionOf returns the session that process pid is in. It is one of nothing unless
// pid descends from starter and is in another session. The starter must hold its
// leader until [Session.End] is called: a number that was given to another process
// is taken for the command.
func SessionOf(pid, starter int) *Session {
	s := &Session{newFamily(noProcess, apart(pid, starter))}
	s.family.foreign = true
	s.Look()
	return s
}

// apart returns the number of the session of pid, or noProcess.
func apart(pid, starter int) int {
	p, ok := look(pid)
	session := p.session
	for ok && p.pid > 1 && p.pid != starter {
		p, ok = look(p.parent)
	}
	if !ok || p.pid != starter || p.session == session {
		return noProcess
	}
	return session
}

// Look notes the processes of the session and what descends from them: these are
// ended even if they leave both before the end.
func (s *Session) Look() { s.family.alive() }

// End kills what was noted, what is in the session now and what descends from
// them. It returns what could not be ended.
func (s *Session) End() []Process { return describe(s.family.end(map[identity]bool{}, nil)) }
