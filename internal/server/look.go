package server

import (
	"context"
	"net/http"
)

// Look is a display that a text in the composer asks for. It is posted to the display route as it
// is.
type Look struct {
	Path      string `json:"path"`
	Tool      string `json:"tool"`
	Arguments any    `json:"arguments"`
}

// lookShape is what a text asks to see, if it asks for nothing else.
type lookShape struct {
	Looks []Look `json:"looks"` // none: it is for an agent; several: the name fits all of them
}

// lookParser finds out whether a text asks to see something, and nothing else.
type lookParser struct {
	find  finder
	parse func(ctx context.Context, workspace, text string) ([]Look, error) // nil: no text does
}

func (lp *lookParser) looks(r *http.Request, _ empty) (out lookShape, err error) {
	out.Looks = []Look{}
	in, err := lp.find.workspace(r)
	if err != nil || lp.parse == nil {
		return out, err
	}
	found, err := lp.parse(r.Context(), in.Path, r.URL.Query().Get("text"))
	if found != nil {
		out.Looks = found
	}
	return out, err
}
