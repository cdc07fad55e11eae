package event

// VoidsFill reports whether after d the model's context is not as full as the agent reported
// before: it forgot something, or another model answers.
func VoidsFill(d Data) bool {
	switch d := d.(type) {
	case SessionRewound:
		return !d.FilesOnly
	case SessionBranched, SessionModelChange:
		return true
	case SessionError:
		return d.ErrorType == ErrorForgotten
	}
	return false
}
