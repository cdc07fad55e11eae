package outputs

import (
	"net/url"
	"strconv"
	"strings"
	"time"
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
}

// Bounds of what is asked for.
const (
	maxParts  = 10_000
	maxRanged = 1000 // ranges of lines
	maxAsked  = 4000 // bytes of one value
)

// parseQuery returns the query or a sentence that says what is wrong with it.
func parseQuery(raw string) (q query, bad string) {
	v, err := url.ParseQuery(raw)
	if err != nil {
		return q, "The query cannot be parsed: encode it as key=value pairs."
	}
	q.format, q.grep = v.Get("format"), v.Get("grep")
	if q.format != "" && q.format != "json" && q.format != "html" && q.format != "raw" {
		return q, "The format is unknown: use json, html or raw."
	}
	if v.Has("grep") && (q.grep == "" || q.format == "html") {
		return q, "Give grep a regular expression, as text or with format=json."
	}
	for _, parse := range []func(url.Values) string{q.parseFind, q.parseView, q.parseRange, q.parseFollow} {
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
	for text := range strings.SplitSeq(v.Get("lines"), ",") {
		from, to, err := parseLines(strings.TrimSpace(text))
		if err != nil || len(q.ranges) > 0 && !q.tokens || len(q.ranges) == maxRanged {
			return "Give lines as A-B, A- or A, counting from 1, with A not above B."
		}
		q.ranges = append(q.ranges, [2]int{from, to})
	}
	q.from, q.to = q.ranges[0][0], q.ranges[0][1]
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
		if q.offset, err = strconv.ParseInt(v.Get("offset"), 10, 64); err != nil || q.offset < 0 || !q.follow {
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
	var err error
	if v.Has("density") {
		if q.density, err = number(v.Get("density")); err != nil || q.density > maxParts {
			return "Give density as a number of parts from 1 to " + strconv.Itoa(maxParts) + "."
		}
	}
	if v.Has("at") && q.count != "" {
		if q.at, err = number(v.Get("at")); err != nil {
			return "Give at as the number of a line."
		}
	}
	if v.Has("within") {
		ms, err := number(v.Get("within"))
		if err != nil || time.Duration(ms)*time.Millisecond > grepTime {
			return "Give within as milliseconds from 1 to " + strconv.FormatInt(grepTime.Milliseconds(), 10) + "."
		}
		q.within = time.Duration(ms) * time.Millisecond
	}
	return ""
}

func (q *query) parseView(v url.Values) string {
	q.view = v.Get("view")
	if q.view == "" {
		return ""
	}
	if q.format != "html" || v.Has("lines") {
		return "A view comes with format=html, and its rows by from and rows."
	}
	q.ask = Ask{View: q.view, From: 1, Rows: defaultLines, Filter: v["filter"], Sort: v.Get("sort"), At: v.Get("at")}
	q.with = ID(v.Get("with"))
	var err error
	if v.Has("from") {
		if q.ask.From, err = number(v.Get("from")); err != nil {
			return "Give from as the number of a row, counting from 1."
		}
	}
	if v.Has("rows") {
		if q.ask.Rows, err = number(v.Get("rows")); err != nil || q.ask.Rows > MaxHTMLLines {
			return "Ask for 1 to " + strconv.Itoa(MaxHTMLLines) + " rows at once."
		}
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

func parseLines(s string) (from, to int, err error) {
	a, b, open := strings.Cut(s, "-")
	if from, err = number(a); err != nil {
		return 0, 0, err
	}
	switch {
	case !open:
		return from, from, nil
	case b == "":
		return from, 0, nil
	}
	if to, err = number(b); err == nil && to < from {
		err = strconv.ErrRange
	}
	return from, to, err
}

// number takes digits only: no sign, no space.
func number(s string) (int, error) {
	n, err := strconv.ParseUint(s, 10, 31)
	if err == nil && n == 0 {
		err = strconv.ErrRange
	}
	return int(n), err
}
