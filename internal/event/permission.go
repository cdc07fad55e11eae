package event

// KindLater is the kind of a [PermissionRequested] about what was made already, and is held:
// allowed, it is put back, and denied, deleted. It is of no turn, waits as long as it takes, and
// outlives restarts.
const KindLater = "later"

// KindHost is the kind of a [PermissionRequested] about a host that something confined waits for.
const KindHost = "host"

// KindMCP is the kind of a [PermissionRequested] about a tool of an MCP server.
const KindMCP = "mcp"

// IsHeld reports whether data asks about what is held.
func IsHeld(d Data) bool {
	p, ok := d.(PermissionRequested)
	return ok && p.Kind == KindLater
}

type (
	// PermissionRequested asks the user to decide about an act.
	PermissionRequested struct {
		RequestID  string `json:"requestId"`
		ToolCallID string `json:"toolCallId,omitempty"`
		ToolName   string `json:"toolName"`
		// shell, write, read, mcp, url, tool, host, budget; later: [KindLater]
		Kind     string `json:"kind"`
		Action   string `json:"action"`   // a verb phrase: "run a command"
		Resource string `json:"resource"` // the exact command, path or address, as it was asked for
		// Target is where the links of a path lead: absolute, also for a file that does not exist
		// yet.
		Target string `json:"target,omitempty"`
		// Resources are all the act is about, the first included, where that is more than one; it
		// is allowed or denied as a whole.
		Resources []Resource `json:"resources,omitempty"`
		Cwd       string     `json:"cwd,omitempty"`
		Why       string     `json:"why,omitempty"` // why it is asked
		Diff      string     `json:"diff,omitempty"`
		// Edits are what Diff says, all of its lines.
		Edits  []Edit `json:"-"`
		Digest string `json:"digest"` // SHA-256, hex, of what will be done
		// a yes counts once: keys, what leads outside, what runs later by itself
		Sensitive bool `json:"sensitive,omitempty"`
		// Secret is the first file that may hold keys or passwords among those the act names or may
		// show.
		Secret *Secret `json:"secret,omitempty"`
		// Page is the MCP server whose page asks, and no agent; of KindMCP.
		Page string `json:"page,omitempty"`
		// Withheld are the names of the variables the command does not inherit.
		Withheld []string `json:"withheld,omitempty"`
		// Grants are what the user may allow beyond this act, the narrowest first.
		Grants []Grant `json:"grants"`
		// Held are the files and folders that it is about, of [KindLater], in the order of Resources.
		Held      []Held `json:"held,omitempty"`
		ExpiresAt Time   `json:"expiresAt,omitzero"` // none: it waits
		Extra     `json:"-"`
	}

	// Resource is one of several things an act is about, as [PermissionRequested] says it of the
	// first.
	Resource struct {
		Kind     string `json:"kind"`
		Action   string `json:"action"`
		Resource string `json:"resource"`
		Target   string `json:"target,omitempty"`
	}

	// Held is a file or folder that a call made, that takes effect later by itself, and that was moved
	// aside.
	Held struct {
		ID     string `json:"id"`               // of what is kept of it
		Folder bool   `json:"folder,omitempty"` // with files in it
		Files  int    `json:"files"`
		Bytes  int64  `json:"bytes"`
		// StoodMs is how long it was where it was made, at most, if that was longer than a moment.
		StoodMs int64 `json:"stoodMs,omitempty"`
		// Beside is its path in the workspace, under another name, where it could not be moved out.
		Beside string `json:"beside,omitempty"`
	}

	// Secret is a file that may hold keys or passwords.
	Secret struct {
		// relative to the workspace; absolute if it is elsewhere; as the command has it where only
		// running it tells
		File  string `json:"file"`
		Looks string `json:"looks"` // what is behind its name in a sentence: "looks like a private key"
	}

	// Grant is something the user may allow beyond one act. Equal ids mean equal grants, in every
	// session of a workspace.
	Grant struct {
		ID   string `json:"id"`
		Text string `json:"text"` // what it covers, in words
		// Covers is an example of that while it is offered, in words; commands stand between
		// backquotes.
		Covers string `json:"covers,omitempty"`
		// Scope is set once it was given: [ForSession] or [ForWorkspace]. While it is offered, it is
		// the only one that the grant may be given for; empty: both.
		Scope Scope `json:"scope,omitempty"`
	}

	// PermissionCompleted is the decision about a request; nothing acts before it is in the log.
	PermissionCompleted struct {
		RequestID string   `json:"requestId"`
		Decision  Decision `json:"decision"`
		Scope     Scope    `json:"scope,omitempty"`
		Grant     *Grant   `json:"grant,omitempty"`  // what was given, or what allows it
		Rule      *Rule    `json:"rule,omitempty"`   // of [DecidedByRule]: which
		Reason    string   `json:"reason,omitempty"` // of [DecidedByUser]: in the user's words
		By        Decider  `json:"by"`
		// of [KindLater]: the paths that what was allowed has now
		Kept  []string `json:"kept,omitempty"`
		Extra `json:"-"`
	}

	// Rule is one of the user's configuration, by its number from 1, or one that webchat brings
	// itself.
	Rule struct {
		Number  int    `json:"number,omitempty"`
		BuiltIn bool   `json:"builtIn,omitempty"`
		Covers  string `json:"covers,omitempty"` // of a built-in one: what it allows, in words
	}

	// PermissionRevoked says that the user took back a grant of this session.
	PermissionRevoked struct {
		Grant Grant `json:"grant"`
		Extra `json:"-"`
	}

	// UserInputRequested is an agent's question to the user.
	UserInputRequested struct {
		RequestID     string   `json:"requestId"`
		ToolCallID    string   `json:"toolCallId,omitempty"`
		Question      string   `json:"question"`
		Detail        string   `json:"detail,omitempty"` // Markdown: what it is about, such as a plan
		Choices       []string `json:"choices,omitempty"`
		AllowFreeform bool     `json:"allowFreeform"`
		Extra         `json:"-"`
	}

	// UserInputCompleted is the user's answer; By says when there was none.
	UserInputCompleted struct {
		RequestID   string  `json:"requestId"`
		Answer      string  `json:"answer"`
		WasFreeform bool    `json:"wasFreeform,omitempty"`
		By          Decider `json:"by,omitempty"`
		Extra       `json:"-"`
	}
)
