package outputs

import (
	"encoding/json"
	"fmt"
	"net/http"

	"webchat/internal/grep"
)

// Count answers ?count=RE: how many lines match. It ends when within is over, at most two seconds;
// asked again, it goes on. With at=N it also says where hits are around line N, 0 being none.
type Count struct {
	Total    int  `json:"total"`
	Complete bool `json:"complete"`
	// LeftOut is how many bytes are not kept, so that only what was kept was searched.
	LeftOut int64 `json:"leftOut,omitempty"`
	*Around
}

// Around is where hits are, by numbers of lines.
type Around struct {
	Before   int `json:"before"`   // how many hits are above line at
	Previous int `json:"previous"` // the last of these
	Next     int `json:"next"`     // the first one from line at on
	First    int `json:"first"`
	Last     int `json:"last"`
}

// Density answers ?density=N: hits in N parts of equal length of all lines. With count=RE these are
// Parts; without, lines that look like errors, and like warnings.
type Density struct {
	Total    int   `json:"total"`
	Complete bool  `json:"complete"`
	LeftOut  int64 `json:"leftOut,omitempty"`
	Parts    []int `json:"parts,omitempty"`
	Errors   []int `json:"errors,omitempty"`
	Warnings []int `json:"warnings,omitempty"`
}

// Price answers ?tokens: what lines cost a model, to the token up to 1 MiB and estimated above.
type Price struct {
	Tokens int  `json:"tokens"`
	Exact  bool `json:"exact"`
}

// expression parses what a client searches for; nil if it was refused.
func expression(w http.ResponseWriter, r *http.Request, text string) *grep.Expression {
	if len(text) > maxPattern {
		refuse(w, r, http.StatusBadRequest, "bad_grep", "The regular expression is too long.")
		return nil
	}
	e, err := grep.Parse(text)
	if err != nil {
		refuse(w, r, http.StatusBadRequest, "bad_grep",
			fmt.Sprintf("The regular expression (RE2) cannot be used: %v.", err))
		return nil
	}
	return e
}

func (h *Handler) count(w http.ResponseWriter, r *http.Request, o *Output, q query) {
	e := expression(w, r, q.count)
	if e == nil || !h.enter(r) {
		return
	}
	hits, err := o.Find(r.Context(), e, q.within)
	h.exit()
	if err != nil {
		return // the client left
	}
	c := Count{Total: len(hits.Lines), Complete: hits.Complete, LeftOut: hits.LeftOut}
	if q.at > 0 {
		c.Around = around(hits, q.at)
	}
	h.reply(w, r, c)
}

func around(h Hits, line int) *Around {
	a := &Around{Before: h.Before(line)}
	if n := len(h.Lines); n > 0 {
		a.First, a.Last = h.Lines[0], h.Lines[n-1]
	}
	if a.Before > 0 {
		a.Previous = h.Lines[a.Before-1]
	}
	if a.Before < len(h.Lines) {
		a.Next = h.Lines[a.Before]
	}
	return a
}

func (h *Handler) density(w http.ResponseWriter, r *http.Request, o *Output, q query) {
	text, also := q.count, ""
	if text == "" {
		text, also = grep.ErrorLines, grep.WarningLines
	}
	e, warnings := expression(w, r, text), expression(w, r, also)
	if e == nil || !h.enter(r) {
		return
	}
	defer h.exit()
	m := o.Meta()
	first := m.First()
	last := first + max(o.TotalLines(), 1) - 1
	hits, err := o.Find(r.Context(), e, q.within)
	if err != nil {
		return // the client left
	}
	d := Density{
		Total:    len(hits.Lines),
		Complete: hits.Complete,
		LeftOut:  hits.LeftOut,
		Parts:    hits.Parts(q.density, first, last),
	}
	if q.count == "" {
		more, err := o.Find(r.Context(), warnings, q.within)
		if err != nil {
			return
		}
		d.Errors, d.Parts, d.Warnings = d.Parts, nil, more.Parts(q.density, first, last)
		d.Total += len(more.Lines)
		d.Complete = d.Complete && more.Complete
	}
	h.reply(w, r, d)
}

func (h *Handler) price(w http.ResponseWriter, r *http.Request, o *Output, q query) {
	if !h.enter(r) {
		return
	}
	defer h.exit()
	if len(q.ranges) == 0 {
		q.ranges = [][2]int{{}}
	}
	var p Price
	var err error
	if p.Tokens, p.Exact, err = h.views.Price(r.Context(), o, q.ranges, q.lifted); err != nil {
		if r.Context().Err() == nil {
			h.log.Error("lines not counted", "error", err)
		}
		refuse(w, r, http.StatusInternalServerError, "internal",
			"The price of these lines cannot be counted.")
		return
	}
	h.reply(w, r, p)
}

// reply answers with a small object.
func (h *Handler) reply(w http.ResponseWriter, r *http.Request, v any) {
	b, err := json.Marshal(v)
	if err != nil {
		h.log.Error("reply not marshalled", "error", err)
		refuse(w, r, http.StatusInternalServerError, "internal", "The answer cannot be written.")
		return
	}
	reply(w, r, http.StatusOK, string(b))
}
