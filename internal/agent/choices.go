package agent

import "context"

// Choices is what a conversation lets its user choose beside what they say. What an agent has no
// choice of is empty.
type Choices struct {
	Models   []Model   `json:"models"`
	Modes    []Mode    `json:"modes"`
	Efforts  []Effort  `json:"efforts"` // of the model that is chosen
	Commands []Command `json:"commands"`
	Can      []Ability `json:"can"`
	// What is chosen, by its id; empty if it is not known.
	Model  string `json:"model"`
	Mode   string `json:"mode"`
	Effort string `json:"effort"`
}

// Mode is a way an agent works.
type Mode struct {
	ID    string `json:"id"`
	Name  string `json:"name"`
	About string `json:"about,omitempty"` // a sentence
	// Unasked says that the agent acts in it without asking the user.
	Unasked bool `json:"unasked,omitempty"`
}

// Effort is how hard a model thinks.
type Effort struct {
	ID   string `json:"id"`
	Name string `json:"name"`
}

// Command is something the agent does for a prompt that begins with "/" and its name.
type Command struct {
	Name  string `json:"name"`           // without the "/"
	About string `json:"about"`          // a sentence
	Hint  string `json:"hint,omitempty"` // what may follow the name
}

// Chooser is a Conn whose agent lets its user choose. A change the agent makes by itself is
// reported, as session.mode_changed or session.model_change; one that is asked for here is not.
type Chooser interface {
	// Choices returns what there is now. It waits for nothing.
	Choices() Choices
	// SetMode changes the mode from the next turn on, or at once where the agent can. It returns
	// [ErrUnsupported] for a mode that is not among the choices.
	SetMode(ctx context.Context, id string) error
	// SetEffort changes how hard the model thinks from the next turn on; empty means as hard as it
	// does by itself. It returns [ErrUnsupported] for an effort that is not among the choices.
	SetEffort(ctx context.Context, id string) error
}

// Offerer is a Backend that knows without a conversation what one would let its user choose, for
// example since it remembers the last one.
type Offerer interface {
	// Offers starts nothing; what is not known is empty.
	Offers(ctx context.Context) Choices
}

// Ability is something a user may have an agent do with its conversation, or see of it.
type Ability string

// The abilities. All but the first two are parts of what [Describer] returns.
const (
	CanCompact      Ability = "compact" // [Compacter]
	CanClear        Ability = "clear"   // [Clearer]
	CanContext      Ability = "context"
	CanInstructions Ability = "instructions"
	CanHelpers      Ability = "helpers"
	CanSkills       Ability = "skills"
)

// Compacter is a Conn whose agent can replace the conversation by a summary of it.
type Compacter interface {
	// Compact reports session.compaction_start and, if it succeeded, session.compaction_complete.
	// focus says what the summary must not lose; it may be empty. No turn runs meanwhile. When ctx
	// ends the conversation stays as it was. An error is one a person should read.
	Compact(ctx context.Context, focus string) error
}

// Clearer is a Conn whose agent can forget the whole conversation.
type Clearer interface {
	// Clear has the agent begin anew, with the same model, mode and effort. No turn runs meanwhile,
	// and no task. Files stay as they are.
	Clear(ctx context.Context) error
}

// Describer is a Conn that can report what its agent works with.
type Describer interface {
	// Describe returns the parts that are among the abilities of the conversation's [Choices], and
	// no others.
	Describe(ctx context.Context) (Inside, error)
}

// Inside is what an agent works with in a conversation. A part that is null is one that the agent
// does not report; an empty one says that there is nothing.
type Inside struct {
	Context      *Context      `json:"context"`
	Instructions []Instruction `json:"instructions"`
	Helpers      []Helper      `json:"helpers"`
	Skills       []Skill       `json:"skills"`
}

// Context is what fills the context of the agent's model, in tokens, as the agent counts them.
type Context struct {
	Model string `json:"model"`
	Used  int64  `json:"used"`
	Limit int64  `json:"limit"` // 0: it is not known
	Parts []Part `json:"parts"` // they add up to Used
}

// Part is one of the things that fill a context.
type Part struct {
	Name   string `json:"name"`
	Tokens int64  `json:"tokens"`
}

// Instruction is a file that instructs the agent.
type Instruction struct {
	Path   string `json:"path"` // of a file of the workspace: relative to it
	Tokens int64  `json:"tokens,omitempty"`
}

// Helper is an agent that the agent may have work for it.
type Helper struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
}

// Skill is a text that the agent reads when it needs it.
type Skill struct {
	Name  string `json:"name"`
	About string `json:"about,omitempty"`
}

// Rewinder is a Conn whose agent can forget the end of its conversation. At the first
// assistant.turn_start of a prompt it can go back to, it reports its own name of that prompt; a
// prompt without one it cannot go back to.
type Rewinder interface {
	// Rewind has the agent forget a prompt and all that came after it, by its own name of the
	// prompt. Files stay as they are. It is called while no turn runs, also for a prompt of an
	// earlier process. [ErrUnsupported]: the agent no longer knows that prompt.
	Rewind(ctx context.Context, promptID string) error
}

// Keeper is a Host that keeps the whole of a result which is too large for a model.
type Keeper interface {
	// Keep makes the call, which has to be a running one of the agent's own tools, a display of
	// w.Data, which it owns then, if that is large. It returns what the model gets in its place;
	// empty means that w.Data is not large. An error says that nothing was kept.
	Keep(ctx context.Context, w Whole) (short string, err error)
}

// Whole is all that a tool returned.
type Whole struct {
	ToolCallID string
	Name       string // the command, else the name of the tool
	Cwd        string // where a command ran
	ExitCode   *int   // of a command that ended by itself
	Data       []byte
}
