package canary

import (
	"bytes"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Table tries which parts of a tool's result an agent hands to its model: an MCP server
// puts a text into each, one after the other, and a model in this program, which wants
// every tool called, keeps what it is sent.
type Table struct {
	// Backend makes the agent, with the model at an address, a folder for its state, and
	// the tools of the MCP server at another address.
	Backend func(model, state, server string) (agent.Backend, error)
	// Whole says that the agent is known to hand its model each result whole, so that
	// webchat puts nothing beside the line for the model.
	Whole bool
}

// Row is what was found of one part.
type Row struct {
	Part    string // as people read it
	Tried   bool   // the agent called the tool that returns it
	Reached bool   // it was sent to the model
	// Lost says that the line for the model did not reach it beside the part.
	Lost bool
	// Relied says that webchat puts into it what is for the user alone.
	Relied bool
}

// Try returns a row for each part. The error wraps [ErrLeaked] if what webchat relies on
// does not hold; any other means that it could not be tried.
func (t Table) Try(ctx context.Context) (rows []Row, err error) {
	p, err := newProbe(ctx, allParts())
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, p.close()) }()
	made := func(model, state string) (agent.Backend, error) { return t.Backend(model, state, p.url) }
	err = sit(ctx, made, &Host{Decision: event.Allow}, func(s sitting) error {
		s.model.Play(p.steps()...)
		if err := s.prompt(ctx); err != nil {
			return err
		}
		rows, err = p.rows(s.model.Requests(), !t.Whole)
		return err
	})
	return rows, err
}

// rows are what the requests say of each part. relies says that webchat relies on some.
func (p *probe) rows(requests [][]byte, relies bool) ([]Row, error) {
	has := func(text string) bool {
		for _, r := range requests {
			if bytes.Contains(r, []byte(text)) {
				return true
			}
		}
		return false
	}
	called := p.calls()
	rows := make([]Row, 0, len(p.parts))
	var leaked error
	for _, part := range p.parts {
		r := Row{Part: part.name, Tried: part.result == nil || called[part.id], Relied: part.relied &&
			relies, Reached: has(part.canary)}
		r.Lost = part.result != nil && r.Tried && !has(p.line(part))
		rows = append(rows, r)
		if r.Relied && r.Reached {
			leaked = errors.Join(leaked,
				fmt.Errorf("%w: it gets %s, which is kept for you", ErrLeaked, part.name))
		}
	}
	switch first := rows[0]; {
	case leaked != nil:
		return rows, leaked
	case !first.Tried || !first.Reached:
		return rows,
			errors.New("nothing was proven: the model did not get the answer of a tool it had called")
	}
	return rows, nil
}

// secret is a text that is nowhere else.
func secret() string {
	b := make([]byte, 12)
	_, _ = rand.Read(b) // it never fails
	return "canary" + hex.EncodeToString(b)
}
