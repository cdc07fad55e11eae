package server

import "net/http"

type signInRequest struct {
	Token string `json:"token"`
}

type signInReply struct {
	Secret string `json:"secret"`
}

func (s *Server) signIn(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[signInRequest](r)
	if err != nil {
		return err
	}
	secret, err := s.Guard.SignIn(w, r, in.Token)
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, signInReply{secret})
}

func (s *Server) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := s.Guard.SignOut(w, r); err != nil {
		return err
	}
	return reply(w, http.StatusOK, empty{})
}
