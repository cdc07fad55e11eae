package agent

import "context"

// Ability is something a user may have an agent do with its conversation, or see of it.
type Ability string

// The abilities. All but the first two are parts of what [Describer] returns.
const (
	CanCompact      Ability = "compact" // [Compacter]
	CanClear        Ability = "clear"   // [Clearer]
	CanContext      Ability = "context"
	CanInstructions Ability = "instructions"
	CanServers      Ability = "servers"
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
	Servers      []Server      `json:"servers"`
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

// Server is a server of the Model Context Protocol as the agent sees it.
type Server struct {
	Name  string      `json:"name"`
	State ServerState `json:"state"`
	Error string      `json:"error,omitempty"`
	Tools []string    `json:"tools"`
}

// ServerState is how far an agent is with a [Server].
type ServerState string

// The states of a server.
const (
	ServerReady    ServerState = "ready"
	ServerStarting ServerState = "starting"
	ServerFailed   ServerState = "failed"
	ServerOff      ServerState = "off"
)

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
