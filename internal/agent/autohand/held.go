package autohand

import (
	"cmp"
	"errors"
	"io/fs"
	"os"
	"slices"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/agent/convo"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
	"webchat/internal/wording"
)

// held is what the CLI holds back until the end of a turn. It belongs to the loop, but for accept.
type held struct {
	c    *convo.Conversation
	note string // the file that names it for the process after this one, which may be killed

	batch   string // its id; empty: nothing is held back
	changes []change
}

// begin reports, before a turn, what an earlier process of webchat left.
func (h *held) begin() {
	h.batch, h.changes = "", nil
	if names, err := os.ReadFile(h.note); err == nil {
		h.lost(strings.Split(string(names), "\n"), "webchat ended before")
	}
}

// take takes what a notice says of it; wrote gets each change. It reports whether there is
// something to accept.
func (h *held) take(b batch, wrote func(change)) (accept bool) {
	h.batch = cmp.Or(b.BatchID, h.batch)
	switch {
	case wrote != nil:
		h.keep(append(h.changes, b.Change))
		wrote(b.Change)
	case b.ChangeCount == 0:
		h.keep(nil)
	}
	return wrote == nil && b.ChangeCount > 0
}

// accept has the CLI write what it held back: each write was allowed before.
func (h *held) accept(p *jsonrpc.Program) {
	id := ""
	h.c.Do(func() { id = h.batch })
	var got decided
	err := p.Call(h.c.Life(), "autohand.changesDecision",
		object{"batchId": id, "action": "accept_all"}, &got)
	h.c.Do(func() {
		switch {
		case err != nil: // end reports what was lost
		case got.Success:
			h.keep(nil)
		default:
			why, failed := "the CLI does not say why", map[string]bool{}
			for _, e := range got.Errors {
				failed[e.ChangeID], why = true, plain(e.Error)
			}
			lost := slices.DeleteFunc(h.changes, func(ch change) bool {
				return got.AppliedCount > 0 && !failed[ch.ID]
			})
			h.lost(files(lost), why)
		}
	})
}

// end reports, after a turn, what was not written.
func (h *held) end() {
	if len(h.changes) > 0 {
		h.lost(files(h.changes), "the turn ended before")
	}
}

// lost warns of files that were not written.
func (h *held) lost(files []string, why string) {
	h.keep(nil)
	h.c.Warn(event.KindProvider, "Autohand CLI did not write %s: %s. Ask for it again.",
		wording.Cut(strings.Join(files, ", "), 200), why)
}

func files(changes []change) (names []string) {
	for _, ch := range changes {
		names = append(names, ch.FilePath)
	}
	return names
}

// keep notes what is held back now.
func (h *held) keep(changes []change) {
	var err error
	if h.changes = changes; len(changes) > 0 {
		err = os.WriteFile(h.note, []byte(strings.Join(files(changes), "\n")), 0o600)
	} else if err = os.Remove(h.note); errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	if err != nil {
		h.c.Logger.Warn("which files are held back could not be noted", "agent", Name, "error", err)
	}
}

// wrote gives a change to the call that made it, which the CLI does not name.
func (c *conn) wrote(ch change) {
	k := c.run.Last(func(k *call) bool {
		return k.ran && !k.Done && acts[k.Tool].kind == agent.KindWrite &&
			c.workspace.about(k, ch.FilePath)
	})
	if k != nil {
		k.wrote = append(k.wrote, ch)
	}
}
