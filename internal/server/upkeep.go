package server

import "net/http"

// compactRequest may say what a summary must not lose.
type compactRequest struct {
	Focus string `json:"focus,omitempty"`
}

// compact has the agent sum up its conversation.
func (s *Server) compact(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	in, err := decode[compactRequest](r)
	if err != nil {
		return err
	}
	if err := one.Compact(r.Context(), in.Focus); err != nil {
		return err
	}
	return reply(w, http.StatusAccepted, empty{})
}

// clear has the agent forget its conversation.
func (s *Server) clear(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	if err := one.Clear(r.Context()); err != nil {
		return err
	}
	return reply(w, http.StatusOK, empty{})
}

// inside asks the agent what it works with.
func (s *Server) inside(w http.ResponseWriter, r *http.Request) error {
	one, err := s.session(r)
	if err != nil {
		return err
	}
	all, err := one.Inside(r.Context())
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, all)
}
