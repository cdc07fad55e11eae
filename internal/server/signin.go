package server

import "net/http"

// signInRequest has the token of a link, with the public key of the browser if it
// has one; or the signature by which it gets another secret from a later process.
type signInRequest struct {
	Token     string `json:"token,omitempty"`
	Key       []byte `json:"key,omitempty"`
	Signature []byte `json:"signature,omitempty"`
}

type challengeReply struct {
	Challenge string `json:"challenge"`
}

type signInReply struct {
	Secret string `json:"secret"`
}

func (s *Server) signIn(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[signInRequest](r)
	if err != nil {
		return err
	}
	var secret string
	if len(in.Signature) > 0 {
		secret, err = s.Guard.Renew(r, in.Signature)
	} else {
		secret, err = s.Guard.SignIn(w, r, in.Token, in.Key)
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, signInReply{secret})
}

func (s *Server) challenge(w http.ResponseWriter, _ *http.Request) error {
	return reply(w, http.StatusOK, challengeReply{s.Guard.Challenge()})
}

func (s *Server) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := s.Guard.SignOut(w, r); err != nil {
		return err
	}
	return reply(w, http.StatusOK, empty{})
}
