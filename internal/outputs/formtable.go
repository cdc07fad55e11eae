package outputs

import (
	"net/http"
	"net/url"
)

// Form is a form in which outputs are served, at an address of its own below the output's.
type Form struct {
	Name  string // the rest of the address
	Query string // names of its parameters
	Needs string // the one without which it is refused; empty: none
	Type  string // of the reply; for JSON, Reply is a value of its type
	Reply any
	About string

	is    url.Values // what asks for it at the output's own address, with Query
	serve serving
}

type serving = func(h *Handler, w http.ResponseWriter, r *http.Request, o *Output, q query)

// Forms are all but the bytes themselves, which have the output's own address.
func Forms() []Form {
	const text, html, object = "text/plain", "text/html", "application/json"
	return []Form{
		{"follow", "offset", "", "*/*", nil,
			"The bytes of an output from a true offset on, as they come; it ends when the output is " +
				"complete",
			url.Values{"follow": {"1"}}, (*Handler).follow},
		{"json", "", "", object, Whole{}, "An output as one object", url.Values{"format": {"json"}},
			(*Handler).json},
		{"lines", "lines veil lifted", "lines", text, nil, "Lines of an output, exactly: A-B, A- or A",
			nil, ofText((*Handler).lines)},
		{"html", "lines veil", "", html, nil,
			"Lines of an output as HTML, highlighted: the first 500 without lines, 5,000 at most",
			url.Values{"format": {"html"}}, ofText((*Handler).highlighted)},
		{"views/{view}", "from rows filter sort at with veil", "", html, nil,
			"Rows of a view of an output as HTML; the header Webchat-Views lists the views it has",
			url.Values{"format": {"html"}}, (*Handler).view},
		{"grep", "grep lines veil lifted", "grep", text, nil,
			"Lines of an output that match an expression (RE2), 1,000 at most, each as N:line",
			nil, ofText((*Handler).grep)},
		{"matches", "grep lines veil lifted", "grep", object, Matches{},
			"Lines of an output that match, likewise, and where in each they do",
			url.Values{"format": {"json"}}, ofText((*Handler).grep)},
		{"count", "count at within veil", "count", object, Count{},
			"How many lines of an output match an expression, within so many milliseconds, and where the " +
				"next ones are around a line",
			nil, ofText((*Handler).count)},
		{"density", "density count within veil", "density", object, Density{},
			"How many lines match in each of so many parts of an output; without an expression, those " +
				"that look like errors and warnings",
			nil, ofText((*Handler).density)},
		{"price", "lines veil lifted", "", object, Price{}, "What lines of an output cost a model",
			url.Values{"tokens": {""}}, ofText((*Handler).price)},
		{"media", "", "", "*/*", nil,
			"A file that is audio or video which browsers play, for the elements that play it: its type " +
				"by its first bytes, in parts (Range). 400 for anything else",
			nil, (*Handler).media},
	}
}

// ofText serves a form that is about the lines of a text.
func ofText(f serving) serving {
	return func(h *Handler, w http.ResponseWriter, r *http.Request, o *Output, q query) {
		f(h, w, r, o.Text(), q)
	}
}

// formOf is the form that a query asks for.
func formOf(v url.Values) serving {
	switch format := v.Get("format"); {
	case v.Get("grep") != "":
		return ofText((*Handler).grep)
	case v.Get("density") != "":
		return ofText((*Handler).density)
	case v.Get("count") != "":
		return ofText((*Handler).count)
	case v.Has("tokens"):
		return ofText((*Handler).price)
	case format == "json":
		return (*Handler).json
	case format == "html" && v.Get("view") != "":
		return (*Handler).view
	case format == "html":
		return ofText((*Handler).highlighted)
	case v.Has("lines"):
		return ofText((*Handler).lines)
	case v.Get("follow") == "1" || v.Get("follow") == "true":
		return (*Handler).follow
	}
	return (*Handler).bytes
}
