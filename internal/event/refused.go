package event

// SandboxRefused says what a confined call reached for and was not given. It is logged behind the
// end of the call, once for each path or host and turn.
type SandboxRefused struct {
	ToolCallID string `json:"toolCallId"`
	// an absolute path; a host, with its port where that is known; a command
	What  string      `json:"what"`
	Kind  RefusedKind `json:"kind"`
	Write bool        `json:"write,omitempty"` // it was to be written; else read
	// Offers are what the user may do about it beside leaving it.
	Offers []Offer `json:"offers"`
	// Folder is what [OfferFolder] opens.
	Folder string `json:"folder,omitempty"`
	// Probably says that it is a guess: the error's text would be the same for another reason.
	Probably bool `json:"probably,omitempty"`
	// Inside says that the call could see that the path is there.
	Inside bool `json:"-"`
	Extra  `json:"-"`
}

// RefusedKind is what kind of thing was refused.
type RefusedKind string

// The kinds of what is refused.
const (
	RefusedPath RefusedKind = "path"
	RefusedHost RefusedKind = "host"
	// RefusedCommand is of a command that a rule has run outside, and that its agent would run inside.
	RefusedCommand RefusedKind = "command"
)

// Offer is what the user may do about a refusal.
type Offer string

// The offers.
const (
	OfferFile    Offer = "file"    // open that path
	OfferFolder  Offer = "folder"  // open a folder
	OfferHost    Offer = "host"    // open that host
	OfferOutside Offer = "outside" // run the command once, not confined
)
