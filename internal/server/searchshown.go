package server

import (
	"context"
	"strconv"
	"time"

	"webchat/internal/eventlog"
	"webchat/internal/grep"
	"webchat/internal/outputs"
	"webchat/internal/policy"
	"webchat/internal/sessions"
)

// Bounds of the search of what all sessions showed, which runs while one types.
const (
	mostShown    = 8                      // outputs that are found
	mostSearched = 256 << 20              // bytes of outputs
	shownTime    = 250 * time.Millisecond // for all of it
	shownExcerpt = 160                    // bytes of the line that matches
	leastText    = 2                      // bytes of a text that is searched
)

// shownHit is an output in which a text was found.
type shownHit struct {
	Session   eventlog.ID  `json:"session"`
	Title     string       `json:"title"`
	Workspace string       `json:"workspace"` // absolute path
	Output    outputs.ID   `json:"output"`
	Type      outputs.Type `json:"type"`
	Name      string       `json:"name"` // the path, or the command
	// the first that matches; missing: it was found by its name, since it may hold secrets
	Line *grep.Line `json:"line,omitempty"`
	URL  string     `json:"url"` // of the page, at that line
}

// shownSearch finds text in what all sessions showed.
type shownSearch struct {
	sessions  *sessions.Manager
	outputs   *outputs.Store
	sensitive policy.SensitiveNames
}

// find finds a text, whatever its case, in the outputs of all sessions of ctx's user that
// are in memory, the newest first. Of several with the same name in one session it looks at the
// newest.
func (s *shownSearch) find(ctx context.Context, text string, f sessions.Filter) []shownHit {
	hits := []shownHit{}
	e, err := grep.Query{Text: text}.Parse()
	if err != nil || len(text) < leastText || len(text) > longestPattern || f.State != "" {
		return hits
	}
	ctx, cancel := context.WithTimeout(ctx, shownTime)
	defer cancel()
	type place struct{ session, name string }
	seen, left := map[place]bool{}, int64(mostSearched)
	for _, l := range s.outputs.Live() {
		at := place{l.Meta.SessionID, l.Meta.Path + l.Meta.Command}
		if at.session == "" || seen[at] || !searched(l) ||
			s.sessions.Sees(ctx, eventlog.ID(at.session)) != nil {
			continue // the outputs of other users do not slow this search
		}
		if left -= l.Size; left < 0 || len(hits) == mostShown || ctx.Err() != nil {
			break
		}
		hit := shownHit{Session: eventlog.ID(at.session), Output: l.ID, Type: l.Meta.Type, Name: at.name}
		if s.byName(l) {
			if !e.Match([]byte(at.name)) {
				continue
			}
		} else if hit.Line = s.firstLine(ctx, l.ID, e); hit.Line == nil {
			continue
		}
		sum, looks, err := s.sessions.Shown(ctx, hit.Session, f)
		if err != nil || looks(string(l.ID)) {
			continue
		}
		seen[at] = true
		hit.Title, hit.Workspace, hit.URL = sum.Title, sum.Workspace, "/sessions/"+at.session+"#out/"+
			string(l.ID)
		if hit.Line != nil {
			hit.URL += ":" + strconv.Itoa(hit.Line.Line)
		}
		hits = append(hits, hit)
	}
	return hits
}

// firstLine is the first line of an output that matches, as it is seen; nil if there is none.
func (s *shownSearch) firstLine(ctx context.Context, id outputs.ID, e *grep.Expression) *grep.Line {
	o, err := s.outputs.Get(id)
	if err != nil {
		return nil // its life has ended since
	}
	line, ok := o.Veiled().First(ctx, e, shownExcerpt)
	if !ok {
		return nil
	}
	lines := []grep.Line{line}
	dotted(lines)
	return &lines[0]
}

// searched reports whether an output is one to search: text that has a tab of its own.
func searched(l outputs.Listed) bool {
	return !l.Meta.Earlier && l.Meta.Review == nil && l.Meta.Type != outputs.Image && !l.Meta.Binary
}

// byName reports whether an output is found by its name only, since its file may hold secrets.
func (s *shownSearch) byName(l outputs.Listed) bool {
	return l.Meta.Type == outputs.File && s.sensitive.Sensitive(l.Meta.Path)
}
