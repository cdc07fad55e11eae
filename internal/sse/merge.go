package sse

import (
	"bytes"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// Merged is one response made of several streams, its parts. Each part has a name that the event
// line of its frames carries, and a place of its own: the id of a frame has the places of all named
// parts, "a:12,b:7", so that a client which resumes with the last id it saw lacks nothing of any.
//
// Parts are written from goroutines of their own. The client's connection is one, so a part waits
// while another one writes, and a client that is too slow for one is cut for all. Only the part
// without a name speaks for the connection: its comments and retry times are passed on.
type Merged struct {
	w  http.ResponseWriter
	r  *http.Request
	rc *http.ResponseController

	mu     sync.Mutex // guards what follows; held while writing
	begun  bool
	places []Place

	deadline sync.Mutex    // guards what follows, and setting the deadline; never held while writing
	grace    time.Duration // what a part gives a write
	late     bool          // a part cut the client
}

// Place is where in a named part a client goes on: after the event of that number. What was asked
// for and cannot be a place is [NoPlace].
type Place struct{ Name, After string }

// NoPlace is refused by [ParseLastEventID].
const NoPlace = "-"

// Merge prepares a merged answer to r. Nothing is written before [Merged.Begin].
func Merge(w http.ResponseWriter, r *http.Request, places []Place) *Merged {
	return &Merged{w: w, r: r, rc: http.NewResponseController(w), places: slices.Clone(places)}
}

// ParsePlaces reads "a:12,b": names, each with the place after which its part goes on, if it has
// one. A name that comes twice counts once, the first time; one that could be no id is left out.
func ParsePlaces(text string) (list []Place) {
	for part := range strings.SplitSeq(text, ",") {
		name, after, _ := strings.Cut(part, ":")
		if !plainName(name) || slices.ContainsFunc(list, func(p Place) bool { return p.Name == name }) {
			continue
		}
		if _, ok := parseID([]string{after}); !ok && after != "" {
			after = NoPlace
		}
		list = append(list, Place{name, after})
	}
	return list
}

// plainName reports whether a name can stand in a frame.
func plainName(name string) bool {
	return name != "" && !strings.ContainsFunc(name, func(c rune) bool {
		return c != '-' && c != '_' && (c < '0' || c > '9') && (c < 'A' || c > 'Z') &&
			(c < 'a' || c > 'z')
	})
}

// Begin writes the header.
func (m *Merged) Begin() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.begin()
}

// begin writes the header once. m.mu is held.
func (m *Merged) begin() {
	if !m.begun {
		m.begun = true
		setHeader(m.w, m.r)
		m.w.WriteHeader(http.StatusOK)
	}
}

// Part returns what the stream of a part is written to, by [Topic.Serve] or by a handler that
// answers with a stream. The caller waits for that before its own handler returns.
func (m *Merged) Part(name string) *Part {
	return &Part{
		merged: m,
		name:   name,
		header: http.Header{},
	}
}

// Part is the [http.ResponseWriter] of one part. One goroutine at a time writes to it.
type Part struct {
	merged *Merged
	name   string
	header http.Header
	status int
	rest   []byte // of a frame that has not come whole
}

// Status is what the part was answered; 0 if nothing yet.
func (p *Part) Status() int { return p.status }

// Header is of the part alone.
func (p *Part) Header() http.Header { return p.header }

// WriteHeader notes the part's status. What a refusal says is dropped.
func (p *Part) WriteHeader(status int) {
	if p.status == 0 {
		p.status = status
	}
}

// Write passes whole frames on, with the part's name and all places.
func (p *Part) Write(b []byte) (int, error) {
	p.WriteHeader(http.StatusOK)
	if p.status != http.StatusOK {
		return len(b), nil
	}
	p.rest = append(p.rest, b...)
	whole := bytes.LastIndex(p.rest, []byte("\n\n")) + 2
	if whole < 2 {
		return len(b), nil
	}
	m := p.merged
	m.mu.Lock()
	defer m.mu.Unlock()
	var out []byte
	for frame := range bytes.SplitSeq(p.rest[:whole-2], []byte("\n\n")) {
		out = m.appendFrame(out, p.name, frame)
	}
	if p.rest = p.rest[:copy(p.rest, p.rest[whole:])]; cap(p.rest) > chunk {
		p.rest = slices.Clone(p.rest)
	}
	return len(b), m.write(out)
}

// Send writes a frame of the part that its stream does not have.
func (p *Part) Send(f Frame) error {
	m := p.merged
	m.mu.Lock()
	defer m.mu.Unlock()
	if err := m.write(m.appendFrame(nil, p.name, bytes.TrimSuffix(appendFrame(nil, f),
		[]byte("\n\n")))); err != nil {
		return err
	}
	return m.rc.Flush()
}

// appendFrame appends a frame of a part, given without its blank line. m.mu is held.
func (m *Merged) appendFrame(out []byte, name string, frame []byte) []byte {
	if name == "" {
		return append(append(out, frame...), "\n\n"...)
	}
	moved := false
	start := len(out)
	for line := range bytes.SplitSeq(frame, []byte("\n")) {
		field, value, _ := bytes.Cut(line, []byte(": "))
		switch string(field) {
		case "id":
			moved = m.move(name, string(value)) || moved
		case "data":
			out = append(append(out, line...), '\n')
		}
	}
	if len(out) > start {
		out = append(out, "event: "...)
		out = append(append(out, name...), '\n')
	}
	if moved {
		out = append(out, "id: "...)
		for i, p := range m.places {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, p.Name...)
			if p.After != "" {
				out = append(append(out, ':'), p.After...)
			}
		}
		out = append(out, '\n')
	}
	if len(out) == start {
		return out // a comment, or when to come back
	}
	return append(out, '\n')
}

// move notes a part's place, and reports whether it is another one. m.mu is held.
func (m *Merged) move(name, after string) bool {
	for i := range m.places {
		if p := &m.places[i]; p.Name == name && p.After != after {
			p.After = after
			return true
		}
	}
	return false
}

// write writes at once. m.mu is held.
func (m *Merged) write(out []byte) error {
	m.begin()
	for len(out) > 0 {
		n := min(len(out), chunk)
		if err := m.arm(); err != nil {
			return err
		}
		if _, err := m.w.Write(out[:n]); err != nil {
			return err
		}
		out = out[n:]
	}
	return nil
}

// arm gives the next write its time.
func (m *Merged) arm() error {
	m.deadline.Lock()
	defer m.deadline.Unlock()
	if m.late {
		return os.ErrDeadlineExceeded
	}
	if m.grace == 0 {
		return nil
	}
	return m.rc.SetWriteDeadline(time.Now().Add(m.grace))
}

// SetWriteDeadline gives the writes of all parts as much time from when they begin; one that is
// over cuts the client. Serves [http.ResponseController].
func (p *Part) SetWriteDeadline(at time.Time) error {
	m := p.merged
	m.deadline.Lock()
	defer m.deadline.Unlock()
	grace := time.Until(at)
	switch {
	case at.IsZero(): // the connection ends with the response
		return nil
	case grace <= 0:
		m.late = true
		return m.rc.SetWriteDeadline(at)
	case m.late:
		return os.ErrDeadlineExceeded
	}
	m.grace = grace
	return m.rc.SetWriteDeadline(at)
}

// SetReadDeadline serves [http.ResponseController].
func (p *Part) SetReadDeadline(at time.Time) error { return p.merged.rc.SetReadDeadline(at) }

// FlushError serves [http.ResponseController].
func (p *Part) FlushError() error {
	p.merged.mu.Lock()
	defer p.merged.mu.Unlock()
	if !p.merged.begun {
		return nil
	}
	return p.merged.rc.Flush()
}
