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
	// What is chosen, by its id; empty: it is not known.
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
	// SetEffort changes how hard the model thinks from the next turn on; empty: as hard as it does
	// by itself. It returns [ErrUnsupported] for an effort that is not among the choices.
	SetEffort(ctx context.Context, id string) error
}

// Offerer is a Backend that knows without a conversation what one would let its user choose, for
// example since it remembers the last one.
type Offerer interface {
	// Offers starts nothing; what is not known is empty.
	Offers(ctx context.Context) Choices
}
