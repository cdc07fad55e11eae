package page

import (
	"cmp"
	"html/template"
	"io"
	"net/url"
	"slices"
	"strconv"
	"time"

	"webchat/internal/eventlog"
	"webchat/internal/wording"
)

const (
	replayTabs = 6
	leastSteps = 3 // events of a session that a film is drawn of
)

// replay is the page of a session at a moment of it.
type replay struct {
	layout
	Film  *drawnFilm
	State *State
	Held  []*node // what the model held: looks were none of it
	Saw   *saw    // what the user had before their eyes last; nil: nothing yet
	Tabs  []sightTab
	Costs costWords
	Shown int64  // how many outputs were shown
	Go    string // the prompt before which a branch goes on from here; empty: this is the end
	Leave string // the address of the session

	Reading int64 // events that have to be read before there is a film; 0: it is there
}

// costWords are the two figures of a replay; no figures where no model was called.
type costWords struct {
	Sofar, Read string
	Sent        bool // something was, whose size is not known
}

func wordsOf(x eventlog.Summary) (w costWords) {
	if u := x.Usage; u.Calls+u.Turns > 0 {
		sofar, read := costOf(u)
		w.Sofar, w.Read = wording.Count(sofar), wording.Count(read)
	}
	return w
}

// saw is an output, or an edit, as it was seen at a moment: the data of the Desk's pane of it.
type saw struct {
	*card
	Key     string        // of the tab
	Edited  template.HTML // what an edit changed; empty: it is an output
	Printed string        // what the log has of an output that is gone
	Earlier int64         // the moment to go to for what was seen in a turn that is not loaded; else 0
}

// Rereadable is false: a replay reads nothing again.
func (s *saw) Rereadable() bool { return false }

// sightTab is a link to something that was seen up to a moment.
type sightTab struct {
	Key, Name, Icon, Href string
	Front                 bool
}

// at is the film at a moment, with what was sent by then.
func (w *costWords) at(d *drawnFilm) *drawnFilm {
	w.Sent = w.Read == "" && d.Sent > 0 && d.Sent <= d.At
	return d
}

// ForReplay returns a projector for one moment of a session, for [Pages.Replay].
func (p *Pages) ForReplay(sessionID string) *Projector { return p.replays.Projector(sessionID) }

// Replay writes a session as it was after event at, which pr has been fed up to: what the model
// held beside what the user saw, which is what tab names, or the last of it.
func (p *Pages) Replay(w io.Writer, m *Film, at int64, tab string, pr *Projector) error {
	return p.replays.moment(w, "replay", m, at, tab, pr)
}

// ReplayMoment writes of [Pages.Replay] only what changes from one moment to the next.
func (p *Pages) ReplayMoment(w io.Writer, m *Film, at int64, tab string, pr *Projector) error {
	return p.replays.moment(w, "replay.step", m, at, tab, pr)
}

// moment executes a template for a moment of a session.
func (p *Pages) moment(w io.Writer, template string, m *Film, at int64, tab string,
	pr *Projector) error {
	pr.mu.Lock()
	defer pr.mu.Unlock()
	f := pr.fold
	r := p.replay(f.cards.ID, f.ledger.sum)
	r.State, r.Shown = f, int64(f.ledger.sum.Open.Outputs)
	r.Film = r.Costs.at(p.draw(m, at, r.Leave+"/replay"))
	for _, n := range f.root.Kids {
		if !n.Turn.Look {
			r.Held = append(r.Held, n)
		}
	}
	if next, ok := m.nextPrompt(at); ok {
		r.Go = next.id
	}
	r.see(m, at, tab)
	return p.write(w, template, r)
}

func (p *Pages) replay(sessionID string, sum eventlog.Summary) *replay {
	title := cmp.Or(sum.Title, "New session")
	r := &replay{
		layout: p.layout("replay", "Replay of "+title+" · webchat"),
		Costs:  wordsOf(sum),
		Leave:  p.Base + "/sessions/" + sessionID,
	}
	r.Session = sessionID
	return r
}

// ReplayBegun writes the page of a replay before its film: it says how many events are read, and
// asks for [Pages.ReplayFilm], then for moments.
func (p *Pages) ReplayBegun(w io.Writer, sessionID string, sum eventlog.Summary,
	events int64) error {
	p = p.replays
	r := p.replay(sessionID, sum)
	r.State, r.Reading = newState(p, sessionID), events
	return p.write(w, "replay", r)
}

// ReplayFilm writes what stands above the panes of a replay after event at; sum is what the session
// came to by then.
func (p *Pages) ReplayFilm(w io.Writer, m *Film, sessionID string, at int64,
	sum eventlog.Summary) error {
	p = p.replays
	r := p.replay(sessionID, sum)
	r.Film = r.Costs.at(p.draw(m, at, r.Leave+"/replay"))
	return p.write(w, "replay.top", r)
}

// Steps reports whether there is something to step through.
func (r *replay) Steps() bool { return r.Film.Last >= leastSteps }

// see chooses what stands on the right: what tab names, or what came last; and the tabs beside it.
func (r *replay) see(m *Film, at int64, tab string) {
	subjects := map[string]bool{}
	for _, s := range slices.Backward(m.seenUpTo(at)) {
		key := cmp.Or(s.output, "c-"+s.call)
		asked := r.Saw == nil && (tab == "" || tab == key)
		if len(r.Tabs) >= replayTabs && !asked {
			if r.Saw != nil {
				break
			}
			continue
		}
		c := r.State.shownAs(s.output)
		if s.call != "" {
			c = nil
			if n := r.State.nodes["c-"+s.call]; n != nil {
				c = n.Call
			}
		}
		if c == nil || c.Gone {
			if asked {
				r.Saw = &saw{Earlier: s.seq}
			}
			continue
		}
		subject := c.subject()
		if subjects[subject] && !asked {
			continue
		}
		subjects[subject] = true
		row := sightTab{
			Key:   key,
			Name:  wording.Plain(c.Name()),
			Icon:  kindIcon(c.Kind, c.Name()),
			Front: asked,
			Href:  r.Film.Base + "?" + url.Values{"at": {strconv.FormatInt(at, 10)}, "out": {key}}.Encode(),
		}
		if s.call != "" {
			row.Icon = "diff"
		}
		if !c.Is().Plain {
			_, row.Name = splitPath(row.Name)
		}
		if asked {
			r.Saw = r.State.saw(c, key)
		}
		r.Tabs = append(r.Tabs, row)
	}
	slices.Reverse(r.Tabs)
}

// saw is what a call showed, as far as it is there to be seen.
func (f *shelf) saw(c *Call, key string) *saw {
	s := &saw{card: c.card(false), Key: key}
	if d := c.Diff(); d != nil {
		s.Edited = d.Columns()
	}
	if s.Edited != "" && c.Output == "" {
		s.State, s.card.Kind, s.Say = "edited", "change", nil
		return s
	}
	s.Edited = ""
	if s.State == "expired" && toolOf(c.Tool).Logged {
		if id, _ := c.arguments()["toolCallId"].(string); f.nodes["c-"+id] != nil {
			s.Printed = f.nodes["c-"+id].Call.Result()
		}
	}
	return s
}

// At is when it was shown.
func (s *saw) At() time.Time {
	if s.ShownAt.IsZero() {
		return s.EndedAt
	}
	return s.ShownAt
}

func msTime(ms int64) time.Time { return time.UnixMilli(ms) }

// second is a moment as a clock with seconds shows it.
func (c *Config) second(ms int64) string { return msTime(ms).In(c.Location).Format("15:04:05") }
