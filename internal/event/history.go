package event

type (
	// SessionDamaged stands in the place of a logged event that cannot be read any longer. It is
	// never logged itself: readers of the log make it.
	SessionDamaged struct {
		// Copy is the file with what was stored, below the data folder; empty if it could not be
		// copied.
		Copy  string `json:"copy,omitempty"`
		Extra `json:"-"`
	}

	// SessionRewound says that the session goes on from before a prompt: the agent forgets it and all
	// that came after it, files are what they were then, or both. It forgets the turns after a place,
	// with their prompts: one that waited while an earlier turn ran was logged in the midst of that.
	// The log stays as it is. Files alone may also be those of one turn.
	SessionRewound struct {
		ToMessageID string `json:"toMessageId,omitempty"`
		TurnID      string `json:"turnId,omitempty"` // of the one turn that is undone
		After       int64  `json:"after"`            // the sequence before the turn of that prompt
		// the sequences of the prompts that waited for their turns then
		Waited []int64 `json:"waited,omitempty"`
		// Forgets is the agent's own name of the prompt, if it forgets that before its next turn; empty:
		// it has forgotten it.
		Forgets   string        `json:"forgets,omitempty"`
		FilesOnly bool          `json:"filesOnly,omitempty"` // the conversation stays
		Files     *FilesRewound `json:"files,omitempty"`     // absent: files stay
		// Undoes is the sequence of an earlier one that is taken back by this one; 0: none is.
		Undoes int64 `json:"undoes,omitempty"`
		// Given says that the agent had forgotten what is brought back: its next prompt has the text.
		Given bool `json:"given,omitempty"`
		Extra `json:"-"`
	}

	// FilesRewound counts the files that were brought back. The snapshots of before and after are
	// called ID-was and ID-left.
	FilesRewound struct {
		ID      string `json:"id"`
		Written int64  `json:"written"`
		Deleted int64  `json:"deleted"`
		Kept    int64  `json:"kept"` // that somebody else changed, too
	}

	// SessionBranched says that what comes before it in the log was taken over from another
	// session: everything before one of its prompts.
	SessionBranched struct {
		From      string `json:"from"` // the other session
		MessageID string `json:"messageId"`
		Title     string `json:"title,omitempty"` // of the other session
		Extra     `json:"-"`
	}
)
