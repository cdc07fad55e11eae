package looking

import (
	"cmp"
	"fmt"
	"io"
	"strconv"
	"strings"

	"webchat/internal/wording"
)

// Sentence says how much of the bill was looking.
func (b *Bill) Sentence() string {
	if b.Calls == 0 {
		return "No session was found in which a model was called"
	}
	return "Looking was " + percent(b.Share) + " of your bill"
}

// percent is a share as it is: 1 is "1 %".
func percent(share float64) string {
	if 0 < share && share < 0.05 {
		return "less than 0.1 %"
	}
	return strings.TrimSuffix(strconv.FormatFloat(share, 'f', 1, 64), ".0") + " %"
}

// amount is an amount of the bill in words.
func (b *Bill) amount(n float64) string {
	if b.Unit == "dollars" {
		return "$" + strconv.FormatFloat(n, 'f', 2, 64)
	}
	return wording.Short(int64(n))
}

// Lead says of how many sessions the bill is.
func (b *Bill) Lead() string {
	if b.Calls == 0 {
		return "Nothing was read in the folders of Claude Code, Codex and the Copilot CLI."
	}
	from, to := b.From.Local(), b.To.Local()
	when := to.Format("2 January 2006")
	switch {
	case from.Format("2 January 2006") == when:
	case from.Year() != to.Year():
		when = from.Format("2 January 2006") + " to " + when
	case from.Month() != to.Month():
		when = from.Format("2 January") + " to " + when
	default:
		when = from.Format("2") + " to " + when
	}
	unit := " paid"
	if b.Unit != "dollars" {
		unit = " tokens"
	}
	return fmt.Sprintf("%s, %s, %s: %s%s, %s of it for looking.",
		wording.Plural(len(b.Sessions), "session"), when, wording.Plural(b.Calls, "call"),
		b.amount(b.Paid), unit, b.amount(b.Looking))
}

// Parts are what looking was, in words.
func (b *Bill) Parts() []row {
	var all []row
	for _, p := range []struct {
		name string
		Part
	}{
		{"Commands run only to be seen", b.Commands},
		{"Files shown, and answered with nothing else", b.Files},
		{"Large results not needed again, a guess", b.Large},
	} {
		all = append(all, b.row(p.name, p.Results, 0, p.Cost, b.Paid))
	}
	return all
}

// row is a line of the page's tables.
type row struct {
	Name, Class          string
	Looks                string
	Paid, Looking, Share string
	Width                string // of its bar, of 120
}

func (b *Bill) row(name string, looks int, paid, looking, of float64) row {
	r := row{Name: name, Looks: wording.Count(looks), Paid: b.amount(paid),
		Looking: b.amount(looking), Share: "0 %", Width: "0"}
	if of > 0 {
		r.Share = percent(looking / of * 100)
		r.Width = strconv.FormatFloat(min(1, looking/of)*120, 'f', 1, 64)
	}
	return r
}

// mostRows is how many sessions have a row of their own.
const mostRows = 3

// Rows are the sessions: those with the most looking, the others, and all.
func (b *Bill) Rows() []row {
	var all []row
	var more, none Session
	count := [2]int{}
	sum := 0
	for i, s := range b.Sessions {
		sum += s.Looks
		switch {
		case s.Looks == 0:
			count[1]++
			none.Paid += s.Paid
		case i < mostRows:
			all = append(all, b.row(cmp.Or(s.Title, "Untitled session"), s.Looks, s.Paid, s.Looking, s.Paid))
		default:
			count[0]++
			more.Paid, more.Looks, more.Looking = more.Paid+s.Paid, more.Looks+s.Looks, more.Looking+
				s.Looking
		}
	}
	if count[0] > 0 {
		all = append(all, b.row(wording.Plural(count[0], "session")+" more", more.Looks, more.Paid,
			more.Looking, more.Paid))
	}
	if count[1] > 0 {
		r := b.row(wording.Plural(count[1], "session")+" without a look", 0, none.Paid, 0, none.Paid)
		r.Class = "zero"
		all = append(all, r)
	}
	r := b.row("All "+wording.Count(len(b.Sessions)), sum, b.Paid, b.Looking, b.Paid)
	r.Class = "sum"
	return append(all, r)
}

// Notes are what holds of the figures, and where they come from.
func (b *Bill) Notes() (all []string) {
	all = append(all,
		"A look is a command or a file after which its turn has only an answer of at most "+
			"200 tokens. A result counts in each call that held it until a compaction, what came from a "+
			"cache as cached.")
	switch {
	case b.Calls == 0:
	case b.Unit == "dollars":
		all = append(all, "Prices are those of config.yaml.")
	default:
		all = append(all, "All is in tokens of input, of which other tokens are worth as many as by the "+
			"price lists of Anthropic, OpenAI and Google: config.yaml has no prices of "+
			some(b.Unpriced)+".")
	}
	if len(b.Strange) > 0 {
		all = append(all, "All tokens of "+some(b.Strange)+
			" count the same, since its provider is not known.")
	}
	for _, s := range b.Sources {
		all = append(all, "From "+s.Agent+", "+wording.Plain(s.Path)+": "+wording.Plural(s.Files, "file")+
			".")
		if s.Lines > 0 {
			all = append(all, "Left out: "+wording.Plural(s.Lines, "line")+" that could not be read.")
		}
		for _, l := range s.LeftOut {
			all = append(all, "Left out: "+wording.Plural(l.Files, "file")+": "+l.Why+".")
		}
	}
	return append(all, "Nothing was sent.")
}

// some names the first of several.
func some(names []string) string {
	var all []string
	for i, n := range names {
		if i == mostRows {
			return strings.Join(all, ", ") + " and " + wording.Count(len(names)-i) + " more"
		}
		all = append(all, cutPlain(n))
	}
	return strings.Join(all, ", ")
}

// WriteText writes the bill for a terminal.
func (b *Bill) WriteText(w io.Writer) error {
	lines := []string{b.Sentence(), b.Lead()}
	if b.Calls > 0 {
		for _, p := range b.Parts() {
			lines = append(lines, fmt.Sprintf("  %-44s %6s  %10s  %6s", p.Name, p.Looks, p.Looking, p.Share))
		}
	}
	_, err := fmt.Fprintln(w, strings.Join(append(lines, b.Notes()...), "\n"))
	return err
}
