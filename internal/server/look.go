package server

import "net/http"

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

func (s *Server) looks(r *http.Request, _ empty) (out lookShape, err error) {
	out.Looks = []Look{}
	in, err := s.workspace(r)
	if err != nil || s.Looks == nil {
		return out, err
	}
	found, err := s.Looks(r.Context(), in.Path, r.URL.Query().Get("text"))
	if found != nil {
		out.Looks = found
	}
	return out, err
}
