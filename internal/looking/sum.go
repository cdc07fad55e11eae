package looking

import (
	"cmp"
	"slices"
	"time"
)

// money is an amount in millionths of a dollar, as far as prices are known, and the same in tokens
// of input.
type money [2]float64

func (m *money) add(n money) { m[0], m[1] = m[0]+n[0], m[1]+n[1] }

// share is results that were for looking.
type share struct {
	results int
	tokens  int64
	cost    money
}

func (s *share) add(o share) {
	s.results, s.tokens = s.results+o.results, s.tokens+o.tokens
	s.cost.add(o.cost)
}

// amounts are what a session cost.
type amounts struct {
	paid  money
	calls int64
	of    [3]share // by kind; those of other kinds were large
}

func (a *amounts) add(b amounts) {
	a.paid.add(b.paid)
	a.calls += b.calls
	for i := range a.of {
		a.of[i].add(b.of[i])
	}
}

// looking is what of it was looking.
func (a *amounts) looking() (all share) {
	for _, s := range a.of {
		all.add(s)
	}
	return all
}

// pay bills a call.
func (r *reading) pay(c *call, by [2]rates) {
	r.calls++
	r.models[c.model] = true
	for i := range by {
		r.paid[i] += by[i].cost(c.usage)
	}
}

// settle decides what a result was for that the model no longer holds.
func (r *reading) settle(h *held) {
	if h.total == 0 {
		return
	}
	switch {
	case h.look:
		r.of[h.kind].add(share{1, h.total, h.cost})
	case h.large && !h.named:
		r.of[other].add(share{1, h.total, h.cost})
	}
}

// sum is the bill of all that was read.
func (t *tally) sum() *Bill {
	b := &Bill{Unit: "dollars", Sessions: []Session{}, Sources: t.sources}
	var all amounts
	models := map[string]bool{}
	var when entry
	for _, e := range t.entries {
		if e.calls == 0 {
			continue
		}
		all.add(e.amounts)
		when.at(e.first)
		when.at(e.last)
		for m := range e.models {
			models[m] = true
		}
	}
	for m := range models {
		if _, known := ofFamily(m); !known {
			b.Strange = append(b.Strange, m)
		}
		if t.prices == nil || t.prices(m).Input == 0 {
			b.Unpriced = append(b.Unpriced, m)
		}
	}
	slices.Sort(b.Strange)
	slices.Sort(b.Unpriced)
	amount := func(m money) float64 { return m[0] / 1e6 }
	if len(b.Unpriced) > 0 || len(models) == 0 {
		b.Unit, amount = "tokens", func(m money) float64 { return m[1] }
	}
	part := func(s share) Part {
		return Part{Results: s.results, Tokens: s.tokens, Cost: amount(s.cost)}
	}
	b.Commands, b.Files, b.Large = part(all.of[command]), part(all.of[file]), part(all.of[other])
	b.Large.Guess = true
	b.Calls, b.Paid, b.Looking = all.calls, amount(all.paid), amount(all.looking().cost)
	if b.Paid > 0 {
		b.Share = b.Looking / b.Paid * 100
	}
	b.From, b.To = when.first.Truncate(time.Second), when.last.Truncate(time.Second)
	for _, e := range t.entries {
		if e.calls > 0 {
			looking := e.looking()
			e.Paid, e.Looks, e.Looking = amount(e.paid), looking.results, amount(looking.cost)
			b.Sessions = append(b.Sessions, e.Session)
		}
	}
	slices.SortFunc(b.Sessions, func(x, y Session) int {
		return cmp.Or(cmp.Compare(y.Looking, x.Looking), cmp.Compare(y.Paid, x.Paid),
			cmp.Compare(x.ID, y.ID))
	})
	return b
}
