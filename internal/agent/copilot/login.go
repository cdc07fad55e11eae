package copilot

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
)

// modelsLife is how long the list of a login's models is believed, and that there is none.
const (
	modelsLife   = 10 * time.Minute
	noModelsLife = 30 * time.Second
)

// askCLI calls a method of the CLI.
type askCLI func(ctx context.Context, method string, params, result any) error

// login is what is known of the user's GitHub login. The zero value knows nothing; its methods may
// be called concurrently.
type login struct {
	mu      sync.Mutex // guards what follows
	account string
	models  []agent.Model
	efforts map[string][]string // of the models, by their ids
	err     error               // why there are none
	asked   time.Time           // for the models
}

// SignedIn asks whether the user is signed in.
func (l *login) SignedIn(ctx context.Context, ask askCLI) (bool, error) {
	var is struct {
		IsAuthenticated            bool
		Login, Host, StatusMessage string
	}
	if err := ask(ctx, "auth.getStatus", struct{}{}, &is); err != nil {
		return false, err
	}
	account := cmp.Or(is.Login, is.StatusMessage)
	host := strings.TrimPrefix(strings.TrimRight(is.Host, "/"), "https://")
	switch {
	case !is.IsAuthenticated:
		account = ""
	case is.Login != "" && host != "" && host != "github.com":
		account += " at " + host
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if account != l.account {
		l.asked = time.Time{} // others have other models
	}
	l.account = account
	return is.IsAuthenticated, nil
}

// Account is who was signed in when that was asked last; empty if it was not asked, or there is no
// login.
func (l *login) Account() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.account
}

// Known returns the models as they were listed lately, or why there are none; ok says that they
// were.
func (l *login) Known() (all []agent.Model, ok bool, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	age := time.Since(l.asked)
	return slices.Clone(l.models), age < noModelsLife || l.err == nil && age < modelsLife, l.err
}

// Models lists the models. The CLI does not list them without a login.
func (l *login) Models(ctx context.Context, ask askCLI) ([]agent.Model, error) {
	if all, ok, err := l.Known(); ok {
		return all, err
	}
	var list struct {
		Models []struct {
			agent.Model
			SupportedReasoningEfforts []string
		}
	}
	err := ask(ctx, "models.list", struct{}{}, &list)
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.models, l.efforts, l.asked, l.err = nil, map[string][]string{}, time.Now(), err
	for _, m := range list.Models {
		l.models = append(l.models, m.Model)
		l.efforts[m.ID] = m.SupportedReasoningEfforts
	}
	return slices.Clone(l.models), err
}

// Efforts are the reasoning efforts of a model; none: it has none, or they are not known.
func (l *login) Efforts(id string) []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.efforts[id]
}

// Check says whether a model is the user's own or, as far as they were listed, of the login.
func (l *login) Check(own Providers, id string) error {
	all, ok, err := l.Known()
	if own.Has(id) || !ok || err != nil || id == "" ||
		slices.ContainsFunc(all, func(m agent.Model) bool { return m.ID == id }) {
		return nil
	}
	return fmt.Errorf("neither a provider nor your GitHub login has the model %q", id)
}
