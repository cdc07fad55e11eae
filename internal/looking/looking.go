package looking

import (
	"context"
	"path"
	"path/filepath"
	"strings"
	"time"

	"webchat/internal/tokens"
)

// Config says where the programs keep their sessions. Empty: in their folder of Home.
type Config struct {
	Home                   string
	Claude, Codex, Copilot string
	// Prices are those of a model, by the name it has in the files; the zero value: unknown.
	Prices func(model string) tokens.Prices
}

// Bill is what sessions cost, and what of it was looking.
type Bill struct {
	Share    float64   `json:"share"` // of looking, in percent
	Unit     string    `json:"unit"`  // of what follows: dollars, or tokens of input
	Paid     float64   `json:"paid"`
	Looking  float64   `json:"looking"`
	Commands Part      `json:"commands"` // run only to be seen
	Files    Part      `json:"files"`    // shown, and answered with nothing else
	Large    Part      `json:"large"`    // results the model did not need again: a guess
	Calls    int64     `json:"calls"`
	From     time.Time `json:"from,omitzero"`
	To       time.Time `json:"to,omitzero"`
	// Sessions are those in which a model was called, those with the most looking first.
	Sessions []Session `json:"sessions"`
	Sources  []Source  `json:"sources"`
	// Unpriced are the models without prices. Where there are any, all is in tokens of input, of
	// which other tokens are worth as many as by their provider's prices.
	Unpriced []string `json:"unpriced,omitempty"`
	// Strange are the models whose provider is not known either: all their tokens count the same.
	Strange []string `json:"strange,omitempty"`
}

// Part is some of what was looking.
type Part struct {
	Results int     `json:"results"`
	Tokens  int64   `json:"tokens"` // in all calls that held them
	Cost    float64 `json:"cost"`   // in the bill's unit
	Guess   bool    `json:"guess,omitempty"`
}

// Session is one of another program.
type Session struct {
	Agent   string  `json:"agent"`
	ID      string  `json:"id"`
	Title   string  `json:"title"` // how its first prompt begins
	Paid    float64 `json:"paid"`
	Looks   int     `json:"looks"` // with large results
	Looking float64 `json:"looking"`
}

// Source is where the sessions of a program are.
type Source struct {
	Agent string `json:"agent"`
	Path  string `json:"path"`
	Files int    `json:"files"` // that were read
	// Lines are those that are not JSON, or too long.
	Lines   int       `json:"lines,omitempty"`
	LeftOut []LeftOut `json:"leftOut,omitempty"`
}

// LeftOut are files that were not read, and why.
type LeftOut struct {
	Files int    `json:"files"`
	Why   string `json:"why"`
}

// program is one whose session files can be read.
type program struct {
	agent, folder, under string
	is                   func(name string) bool // a session file
	take                 func(*reading) func(line []byte, cut int64) error
}

// Read reads all sessions. A folder that is not there holds none. The error is that of ctx, or says
// that a folder cannot be read.
func Read(ctx context.Context, cfg Config) (*Bill, error) {
	in := func(folder, name string) string {
		if folder == "" {
			folder = filepath.Join(cfg.Home, name)
		}
		return folder
	}
	jsonl := func(name string) bool { return path.Ext(name) == ".jsonl" }
	rollout := func(name string) bool {
		return jsonl(name) && strings.HasPrefix(path.Base(name), "rollout-")
	}
	t := &tally{prices: cfg.Prices, billed: map[uint64]bool{}, entries: map[string]*entry{}}
	for _, p := range []program{
		{"Claude Code", in(cfg.Claude, ".claude"), "projects", jsonl, takeClaude},
		{"Codex", in(cfg.Codex, ".codex"), "sessions", rollout, takeCodex},
		{"Codex", in(cfg.Codex, ".codex"), "archived_sessions", rollout, takeCodex},
		{"Copilot CLI", in(cfg.Copilot, ".copilot"), "session-state", func(name string) bool {
			return path.Base(name) == "events.jsonl" || jsonl(name) && !strings.Contains(name, "/")
		}, takeCopilot},
	} {
		if err := t.folder(ctx, p, cfg.Home); err != nil {
			return nil, err
		}
	}
	return t.sum(), nil
}
