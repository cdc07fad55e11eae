package looking

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/maphash"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"webchat/internal/tokens"
	"webchat/internal/wording"
)

// unknown is why a file is left out.
type unknown string

func (u unknown) Error() string { return string(u) }

const (
	unreadable = "they cannot be read"
	irregular  = "links, and what else is not a regular file"
	unversion  = "no version is named in them"
)

// mostReasons is how many reasons to leave files out are listed.
const mostReasons = 20

// tally is what was read so far.
type tally struct {
	prices  func(string) tokens.Prices
	billed  map[uint64]bool
	entries map[string]*entry
	sources []Source
}

// entry is a session.
type entry struct {
	Session
	amounts
	models      map[string]bool
	first, last time.Time
}

// folder reads the sessions of a program.
func (t *tally) folder(ctx context.Context, p program, home string) (err error) {
	dir := filepath.Join(p.folder, p.under)
	root, err := os.OpenRoot(dir)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read the sessions of %s: %w", p.agent, err)
	}
	defer func() { err = errors.Join(err, root.Close()) }()
	s := Source{Agent: p.agent, Path: wording.Tilde(dir, home)}
	err = fs.WalkDir(root.FS(), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case err != nil:
			s.leave(unreadable)
		case d.IsDir() || !p.is(name):
		case !d.Type().IsRegular():
			s.leave(irregular)
		default:
			return t.read(ctx, root, name, p, &s)
		}
		return nil
	})
	t.sources = append(t.sources, s)
	return err
}

func (s *Source) leave(why string) {
	for i := range s.LeftOut {
		if s.LeftOut[i].Why == why || i == mostReasons {
			s.LeftOut[i].Files++
			return
		}
	}
	if len(s.LeftOut) == mostReasons {
		why = "other reasons"
	}
	s.LeftOut = append(s.LeftOut, LeftOut{1, why})
}

// read reads a file. The error is that of ctx: another one leaves the file out.
func (t *tally) read(ctx context.Context, root *os.Root, name string, p program, s *Source) error {
	f, err := root.OpenFile(name, os.O_RDONLY|nonblock, 0)
	if err != nil {
		s.leave(unreadable)
		return nil
	}
	defer f.Close() // it was only read
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		s.leave(irregular)
		return nil
	}
	r := &reading{
		tally: t,
		entry: entry{Session: Session{Agent: p.agent, ID: name}, models: map[string]bool{}},
		mine:  map[uint64]bool{},
		talks: map[string]*talk{},
	}
	take, all, bad := p.take(r), newLines(f), 0
	for l, ok := all.next(); ok; l, ok = all.next() {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		if len(l.text) == 0 && l.text != nil {
			continue
		}
		err := error(&json.SyntaxError{})
		if l.text != nil {
			err = take(l.text, l.cut)
		}
		if errors.As(err, new(unknown)) {
			s.leave(err.Error())
			return nil
		}
		if err != nil {
			bad++
		}
	}
	if all.Err() != nil {
		s.leave(unreadable)
		return nil
	}
	for _, talk := range r.talks {
		talk.compacted()
	}
	switch {
	case r.version == "" && len(r.talks) > 0:
		s.leave(unversion)
		return nil
	case r.calls == 0 && r.free > 0:
		s.leave("they do not say what a call of the model took, as those of older versions")
		return nil
	}
	s.Files, s.Lines = s.Files+1, s.Lines+bad
	t.commit(r)
	return nil
}

// commit adds what a file holds to its session.
func (t *tally) commit(r *reading) {
	for id := range r.mine {
		t.billed[id] = true
	}
	key := r.Agent + "\x00" + r.ID
	e := t.entries[key]
	if e == nil {
		t.entries[key] = &r.entry
		return
	}
	e.amounts.add(r.amounts)
	for m := range r.models {
		e.models[m] = true
	}
	if e.Title == "" {
		e.Title = r.Title
	}
	e.at(r.first)
	e.at(r.last)
}

// at notes when something of the session was.
func (e *entry) at(when time.Time) {
	if when.IsZero() {
		return
	}
	if e.first.IsZero() || when.Before(e.first) {
		e.first = when
	}
	if when.After(e.last) {
		e.last = when
	}
}

// reading is a file that is being read.
type reading struct {
	*tally
	entry
	version string
	free    int // calls without a usage record
	mine    map[uint64]bool
	talks   map[string]*talk
}

// talk is a conversation in the file: main, or that of a helper.
func (r *reading) talk(helper string) *talk {
	t := r.talks[helper]
	if t == nil {
		if len(r.talks) >= 1000 { // those of one name are one
			helper = "more"
			if t = r.talks[helper]; t != nil {
				return t
			}
		}
		t = &talk{file: r, side: helper != ""}
		r.talks[helper] = t
	}
	return t
}

// billedElsewhere reports whether another file has the call.
func (r *reading) billedElsewhere(id string) bool {
	h := maphash.String(seed, r.Agent+"\x00"+id)
	r.mine[h] = true
	return r.billed[h]
}

// titled takes how the first prompt of a person begins.
func (r *reading) titled(prompt string) {
	if r.Title == "" {
		r.Title = wording.Plain(wording.FirstLine(prompt, 80))
	}
}

// rates are those of a model in dollars, which are 0 if they are not known, and in tokens of input.
func (r *reading) rates(model string) [2]rates {
	in, _ := ofFamily(model)
	if r.prices == nil {
		return [2]rates{{}, in}
	}
	return [2]rates{priced(model, r.prices(model)), in}
}
