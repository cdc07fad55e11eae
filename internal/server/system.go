package server

import (
	"cmp"
	"io"
	"net/http"
	"strconv"

	"webchat/internal/agent"
	"webchat/internal/guard"
	"webchat/internal/sessions"
)

func healthz(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	_, _ = io.WriteString(w, "ok\n") // a client that has gone needs no answer
	return nil
}

// health says whether prompts are taken.
type health struct {
	sessions *sessions.Manager
	peers    Peers           // nil: there are no others
	stopping <-chan struct{} // nil: it is not known
}

// readyz is for what sends requests here: it says whether a prompt would be taken now.
func (h *health) readyz(w http.ResponseWriter, _ *http.Request) error {
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	if h.peers != nil { // whose address is another's finds out by this
		w.Header().Set(ReplicaHeader, strconv.FormatInt(h.peers.Self().Number, 10))
	}
	why := h.sessions.Unready()
	select {
	case <-h.stopping:
		why = "stopping"
	default:
	}
	if why != "" {
		w.WriteHeader(http.StatusServiceUnavailable)
	}
	_, _ = io.WriteString(w, cmp.Or(why, "ready")+"\n") // a client that has gone needs no answer
	return nil
}

// served is what a row does of h, which answers every request itself.
func served(h http.Handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		h.ServeHTTP(w, r)
		return nil
	}
}

// streaming is the same of one that answers by a stream more often than not.
func streaming(h http.Handler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if err := guard.Streaming(r, 1); err != nil {
			return err
		}
		h.ServeHTTP(w, r)
		return nil
	}
}

type systemShape struct {
	Version string  `json:"version"`
	Sandbox Sandbox `json:"sandbox"`
}

// system says what this webchat is.
type system struct {
	version   string
	sandboxes Sandboxes
}

func (s *system) show(*http.Request, empty) (systemShape, error) {
	return systemShape{s.version, s.sandboxes.Any}, nil
}

// backendShape is a backend as it is listed.
type backendShape struct {
	Name      string          `json:"name"`
	Available bool            `json:"available"`
	Version   string          `json:"version"`
	Reason    string          `json:"reason"`
	Intercept agent.Intercept `json:"intercept"`
	Account   string          `json:"account,omitempty"` // who is signed in, once it was asked
	// what a user should know before they choose it
	Lacks []string `json:"lacks,omitempty"`
}

// agents lists the backends, and their models.
type agents struct {
	sessions *sessions.Manager
}

func (a *agents) backends(r *http.Request, _ empty) ([]backendShape, error) {
	list := []backendShape{}
	for _, b := range a.sessions.Backends(r.Context()) {
		list = append(list, backendShape{b.Name, b.Available, b.Version, b.Reason, b.Intercept, b.Account,
			b.Lacks})
	}
	return list, nil
}

func (a *agents) models(r *http.Request, _ empty) ([]agent.Model, error) {
	list, err := a.sessions.Models(r.Context(), r.URL.Query().Get("backend"))
	return listed(list), err
}

// signInRequest has the token of a link, with the public key of the browser if it has one; or the
// signature by which it gets another secret from a later process.
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

// signIns begins and ends sign-ins.
type signIns struct {
	guard *guard.Guard
	pages *Pages
}

func (si *signIns) signIn(w http.ResponseWriter, r *http.Request) error {
	in, err := decode[signInRequest](r)
	if err != nil {
		return err
	}
	var secret string
	if len(in.Signature) > 0 {
		secret, err = si.guard.Renew(r, in.Signature)
	} else {
		secret, err = si.guard.SignIn(w, r, in.Token, in.Key)
	}
	if err != nil {
		return err
	}
	return reply(w, http.StatusOK, signInReply{secret})
}

func (si *signIns) challenge(*http.Request, empty) (challengeReply, error) {
	return challengeReply{si.guard.Challenge()}, nil
}

func (si *signIns) signOut(w http.ResponseWriter, r *http.Request) error {
	if err := si.guard.SignOut(w, r); err != nil {
		return err
	}
	return reply(w, http.StatusOK, empty{})
}
