package consent

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// shown is a file that the sandbox does not give, as it was when the user was asked.
type shown struct {
	held  *os.File
	write bool
}

// show holds what a yes to a confined act opens, and says in the request what that is where it is
// not the file itself.
func (q *Requests) show(r *request) (all []shown) {
	cage := q.cfg.Opened.cage
	if cage == nil {
		return nil
	}
	ask := r.ask.(event.PermissionRequested)
	for _, p := range r.parts {
		if !p.rule.Opens {
			continue
		}
		write := p.Kind == agent.KindWrite
		held, err := cage.Hold(p.target)
		dir := p.target
		for write && errors.Is(err, fs.ErrNotExist) && dir != filepath.Dir(dir) {
			dir = filepath.Dir(dir)
			held, err = cage.Hold(dir)
		}
		switch {
		case err != nil:
			ask.Why = also(ask.Why, "The sandbox cannot give it to the agent: "+err.Error()+".")
			continue
		case dir != p.target:
			ask.Why = also(ask.Why, "It is not there yet, so a yes opens its folder "+dir+
				" until the call ends.")
		}
		all = append(all, shown{held, write})
	}
	r.ask = ask
	return all
}

func also(text, more string) string {
	if text == "" {
		return more
	}
	return text + " " + more
}

// openShown opens what an act was allowed, until its call ends; what it was denied is let go.
func (q *Requests) openShown(ctx context.Context, all []shown, p agent.Permission, v agent.Verdict,
	allowed bool) {
	for _, s := range all {
		if !allowed {
			_ = s.held.Close() // it was only looked at
			continue
		}
		if err := q.cfg.Opened.openHeld(ctx, s.held, s.write, p.ToolCallID, v.By); err != nil {
			q.cfg.Opened.logger.Warn(
				"what an act was allowed was not opened in the sandbox, which will refuse it", "session",
				string(q.cfg.Session), "error", err)
		}
	}
}
