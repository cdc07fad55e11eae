package page

import (
	"cmp"
	"encoding/json"

	"webchat/internal/event"
	"webchat/internal/wording"
)

// Given is the prompt's attachments, as one sends them again; empty: it has none.
func (t *turn) Given() string {
	if len(t.Attachments) == 0 {
		return ""
	}
	b, err := json.Marshal(t.Attachments)
	if err != nil {
		return ""
	}
	return string(b)
}

// nameKnown notes that the agent can go back to before the prompt of the running turn.
func (f *State) nameKnown(d event.AssistantTurnStart) {
	if n := f.current; n != nil && d.PromptID != "" && n.Turn.Message != "" {
		n.Turn.Rewinds = true
		f.touch(n)
		f.batch.attr(n, n.ID, "data-rewinds", ptr(""))
	}
}

// rewound folds the turns that the agent forgot.
func (f *State) rewound(d event.SessionRewound) {
	for _, n := range f.root.Kids {
		if n.Turn.from > d.After && !n.Turn.Look {
			f.leave(n)
		}
	}
	f.batch.announce("say", "The conversation goes on from before that prompt. Files stay as they are")
}

func (f *State) leave(n *node) {
	n.Turn.Left = true
	f.touch(n)
	f.batch.attr(n, n.ID, "data-left", ptr(""))
	f.batch.part(n, n.ID+".q", "turn.queued", n)
}

// branched says where the beginning of the session comes from.
func (f *State) branched(d event.SessionBranched) {
	from := cmp.Or(wording.FirstLine(d.Title, 80), "another session")
	t := f.addTurn(&turn{At: f.now, State: string(event.Completed), Look: true}, elementID("t-", "branch-"+d.From))
	f.noteIn(t, "", "split", "Branched from “"+from+"”. The agent is given what was said so far with your next prompt")
}
