package agent

// Asking is what was tried of whether an agent asks before it acts.
type Asking struct{ Writes, Runs, Reads Asked }

// Asked says whether it asked before it did one thing.
type Asked string

// What may be known of that.
const (
	NotKnown Asked = "" // also where it neither asked nor did it
	AskedYes Asked = "yes"
	AskedNo  Asked = "no"
)
