package event

// FileAlsoChanged says that a call changes a file that the agent of another session of the same
// user changed in a turn that overlaps this one. It comes before the question about the call, or
// where none is asked, beside the call; once for each file and turn of the other.
type FileAlsoChanged struct {
	ToolCallID string `json:"toolCallId,omitempty"`
	File       string `json:"file"`            // an absolute path
	SessionID  string `json:"sessionId"`       // the other one
	Title      string `json:"title,omitempty"` // what that is called
	TurnID     string `json:"turnId"`          // of the other one
	Extra      `json:"-"`
}
