package outputs

// Ask is which window of a view is wanted.
type Ask struct {
	View       string
	From, Rows int // rows, counted as the view counts them; at most 5,000
	Filter     []string
	Sort, At   string
	With       *Output // nil: not given
}

// Window is a part of a view.
type Window struct {
	HTML     []byte
	View     string
	From, To int // the rows in HTML; To < From: none
	Total    int // rows there are
	Partial  bool
	Header   map[string]string // in ASCII; names without the prefix of ours
}

// Refusal is an error that says what is wrong with what was asked for.
type Refusal struct{ Code, Sentence string }

// Error implements error.
func (r *Refusal) Error() string { return r.Sentence }
