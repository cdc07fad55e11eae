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

	// SessionRewound says that the agent forgot a prompt and all that came after it. Files stay as
	// they are, and so does the log. It forgot the turns after a place, with their prompts: one that
	// waited while an earlier turn ran was logged in the midst of that.
	SessionRewound struct {
		ToMessageID string `json:"toMessageId"`
		After       int64  `json:"after"` // the sequence before the turn of that prompt
		// the sequences of the prompts that waited for their turns then
		Waited []int64 `json:"waited,omitempty"`
		Extra  `json:"-"`
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
