package outputs

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
)

// Views shows outputs to people: package views has them. What it returns is safe to insert in a
// page. An error that is not a [*Refusal] is logged, so it must not quote the output.
type Views interface {
	// HTML makes the highlighted lines from to to, by their numbers as shown and both included. The
	// lines exist and are at most MaxHTMLLines.
	HTML(ctx context.Context, o *Output, from, to int) ([]byte, error)
	// Of returns the names of the views o has, the default first.
	Of(o *Output) []string
	// View makes a window of a view.
	View(ctx context.Context, o *Output, a Ask) (Window, error)
	// Price returns what ranges of lines cost a model, and whether that was counted or estimated: of a
	// veiled output, as they are shown when some of them are lifted.
	Price(ctx context.Context, o *Output, ranges, lifted [][2]int) (tokens int, exact bool, err error)
}

// DefaultView is the name by which an output's first view can be asked for.
const DefaultView = "default"

// view serves a window of a view.
func (h *Handler) view(w http.ResponseWriter, r *http.Request, o *Output, q query) {
	if q.with != "" {
		with, err := h.store.Get(q.with)
		if err != nil {
			refuse(w, r, http.StatusBadRequest, "no_other", "The output to compare with has expired.")
			return
		}
		if q.ask.With = with; q.veil {
			q.ask.With = with.Veiled()
		}
	}
	if !h.enter(r) {
		return
	}
	names := h.views.Of(o)
	if q.view == DefaultView {
		q.ask.View = names[0]
	}
	win, err := h.views.View(r.Context(), o, q.ask)
	h.exit()
	head := w.Header()
	head["Webchat-Views"] = []string{strings.Join(names, " ")} // also of a refusal
	if no, ok := errors.AsType[*Refusal](err); ok {
		refuse(w, r, http.StatusBadRequest, no.Code, no.Sentence)
		return
	}
	if err != nil {
		if r.Context().Err() == nil {
			h.log.Error("output not rendered", "view", slices.Contains(names, q.ask.View), "type",
				o.Meta().Type, "error", err)
		}
		refuse(w, r, http.StatusInternalServerError, "render_failed",
			"The output cannot be rendered: ask for its lines as text.")
		return
	}
	for name, value := range win.Head(names) {
		head.Set(name, value)
	}
	send(w, r, valHTML, win.HTML)
}

// Head is what is known of a window of an output that has these views, by the names of headers.
func (w *Window) Head(views []string) map[string]string {
	head := map[string]string{
		"Webchat-Views": strings.Join(views, " "),
		"Webchat-View":  w.View,
		"Webchat-Rows": strconv.Itoa(w.From) + "-" + strconv.Itoa(w.To) + "/" +
			strconv.Itoa(w.Total),
	}
	if w.Partial {
		head["Webchat-Partial"] = "1"
	}
	for name, value := range w.Header {
		head["Webchat-"+name] = value
	}
	return head
}
