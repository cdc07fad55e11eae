package event

// OpenKind is what is opened of a sandbox.
type OpenKind string

// The kinds of openings.
const (
	OpenPath OpenKind = "path"
	OpenHost OpenKind = "host"
)

// Closer is who or what closed an opening.
type Closer string

// The closers.
const (
	ClosedByUser Closer = "user"
	ClosedByEnd  Closer = "end" // what it was opened for is over
)

type (
	// SandboxOpened says that what is confined in the workspace is given more than its sandbox gives.
	// Every session of the workspace has it, where they share a process.
	SandboxOpened struct {
		ID   string   `json:"id"`
		Kind OpenKind `json:"kind"`
		// What is an absolute path without links, or a host with its port unless it is for 80 and 443.
		What     string  `json:"what"`
		ReadOnly bool    `json:"readOnly,omitempty"` // of a path: it is not written to
		Scope    Scope   `json:"scope"`              // [Once]: until no call that ran then still runs
		By       Decider `json:"by"`
		Extra    `json:"-"`
	}

	// SandboxClosed ends what [SandboxOpened] of that id began.
	SandboxClosed struct {
		ID    string `json:"id"`
		By    Closer `json:"by"`
		Extra `json:"-"`
	}
)
