package outputs

import (
	"math"
	"net/url"
	"strconv"
	"time"

	"webchat/internal/wording"
)

// query is what was asked for; from and to are 0 where open.
type query struct {
	format   string
	grep     string
	ranged   bool
	ranges   [][2]int // all that lines names
	from, to int      // the first of them
	follow   bool
	offset   int64

	count   string
	density int // parts; 0: not asked for
	at      int // a line, 0: none
	within  time.Duration
	tokens  bool

	view string
	ask  Ask
	with ID

	veil   bool
	lifted [][2]int // lines that are shown all the same
}

// Bounds of what is asked for.
const (
	maxParts  = 10_000
	maxRanged = 1000 // ranges of lines
	maxAsked  = 4000 // bytes of one value
)

// parseQuery returns the query or a sentence that says what is wrong with it.
func parseQuery(v url.Values) (q query, bad string) {
	q.format, q.grep = v.Get("format"), v.Get("grep")
	if q.format != "" && q.format != "json" && q.format != "html" && q.format != "raw" {
		return q, "The format is unknown: use json, html or raw."
	}
	if v.Has("grep") && (q.grep == "" || q.format == "html") {
		return q, "Give grep a regular expression, as text or with format=json."
	}
	for _, parse := range []func(url.Values) string{q.parseFind, q.parseView, q.parseRange,
		q.parseFollow, q.parseVeil} {
		if bad := parse(v); bad != "" {
			return q, bad
		}
	}
	return q, ""
}

func (q *query) parseRange(v url.Values) string {
	if !v.Has("lines") {
		return ""
	}
	if q.ranged = true; q.format == "json" && q.grep == "" {
		return "Lines come as text or with format=html."
	}
	var err error
	q.ranges, err = wording.Ranges(v.Get("lines"))
	if err != nil || len(q.ranges) > 1 && !q.tokens || len(q.ranges) > maxRanged {
		return "Give lines as A-B, A- or A, counting from 1, with A not above B."
	}
	q.from, q.to = q.ranges[0][0], q.ranges[0][1]
	return ""
}

// parseVeil reads whether what looks like a secret is covered: in HTML it is, unless veil=0.
func (q *query) parseVeil(v url.Values) string {
	switch q.veil = q.format == "html"; v.Get("veil") {
	case "":
	case "0":
		q.veil = false
	case "1":
		if q.veil = true; q.follow || !q.ranged && !q.tokens && q.grep == "" && q.count == "" &&
			q.density == 0 && q.format != "html" {
			return "Lines, searches, prices and views can be veiled: give lines=A-B, for example."
		}
	default:
		return "Give veil as 0 or 1."
	}
	if !v.Has("lifted") {
		return ""
	}
	var err error
	if q.lifted, err = wording.Ranges(v.Get("lifted")); err != nil || !wording.Ascend(q.lifted) ||
		len(q.lifted) > maxRanged || !q.ranged || q.format == "html" {
		return "Give lifted as A-B,C-D in ascending order, with lines and veil=1."
	}
	return ""
}

func (q *query) parseFollow(v url.Values) string {
	switch v.Get("follow") {
	case "", "0", "false":
	case "1", "true":
		q.follow = true
		if q.format == "json" || q.format == "html" || q.ranged || q.grep != "" {
			return "Only the bytes themselves can be followed."
		}
	default:
		return "Give follow as 1."
	}
	if v.Has("offset") {
		var err error
		if q.offset, err = strconv.ParseInt(v.Get("offset"), 10, 64); err != nil || q.offset < 0 ||
			!q.follow {
			return "Give offset as a number of bytes, with follow=1."
		}
	}
	return ""
}

func (q *query) parseFind(v url.Values) string {
	q.count, q.tokens, q.within = v.Get("count"), v.Has("tokens"), grepTime
	if v.Has("count") && q.count == "" {
		return "Give count a regular expression."
	}
	ms := 0
	if !numbered(v, "density", &q.density, maxParts) {
		return "Give density as a number of parts from 1 to " + strconv.Itoa(maxParts) + "."
	}
	if q.count != "" && !numbered(v, "at", &q.at, math.MaxInt) {
		return "Give at as the number of a line."
	}
	if !numbered(v, "within", &ms, int(grepTime.Milliseconds())) {
		return "Give within as milliseconds from 1 to " + strconv.FormatInt(grepTime.Milliseconds(), 10) +
			"."
	}
	if ms > 0 {
		q.within = time.Duration(ms) * time.Millisecond
	}
	return ""
}

// numbered reads a number from 1 to most, if there is one of that name.
func numbered(v url.Values, name string, n *int, most int) bool {
	if !v.Has(name) {
		return true
	}
	var err error
	*n, err = wording.LineNumber(v.Get(name))
	return err == nil && *n <= most
}

func (q *query) parseView(v url.Values) string {
	q.view = v.Get("view")
	if q.view == "" {
		return ""
	}
	if q.format != "html" || v.Has("lines") {
		return "A view comes with format=html, and its rows by from and rows."
	}
	q.ask = Ask{
		View:   q.view,
		From:   1,
		Rows:   defaultLines,
		Filter: v["filter"],
		Sort:   v.Get("sort"),
		At:     v.Get("at"),
	}
	q.with = ID(v.Get("with"))
	if !numbered(v, "from", &q.ask.From, math.MaxInt) {
		return "Give from as the number of a row, counting from 1."
	}
	if !numbered(v, "rows", &q.ask.Rows, MaxHTMLLines) {
		return "Ask for 1 to " + strconv.Itoa(MaxHTMLLines) + " rows at once."
	}
	if len(q.ask.Filter) > maxFilters {
		return "Give at most " + strconv.Itoa(maxFilters) + " filters."
	}
	for _, text := range append(q.ask.Filter, q.ask.Sort, q.ask.At) {
		if len(text) > maxAsked {
			return "A value of the query is too long."
		}
	}
	return ""
}

// maxFilters is how many filters a view takes at once.
const maxFilters = 20
