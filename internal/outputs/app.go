package outputs

import (
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
)

// AppType is the MimeType of an [App].
const AppType = "application/vnd.webchat.app+json"

// maxApp is how many bytes an [App] has at most.
const maxApp = 8 << 20

// App is what a page of an MCP server draws (MCP Apps). It is kept as an output of its own, which
// Meta.App of the result's names.
type App struct {
	Server    string          `json:"server"`
	Tool      string          `json:"tool"` // as its server calls it
	Arguments json.RawMessage `json:"arguments"`
	Result    json.RawMessage `json:"result"` // whole, as the server sent it
	Hosts     AppHosts        `json:"hosts"`
	HTML      string          `json:"html,omitempty"`
}

// AppHosts are the origins that a page asks to reach.
type AppHosts struct {
	Connect []string `json:"connect"` // by requests
	Load    []string `json:"load"`    // pictures, scripts, style sheets and fonts
}

// appOrigin is an origin that a page may be allowed: of a name, by TLS. It has no character that
// ends a part of a policy.
var appOrigin = regexp.MustCompile(
	`^(?:https|wss)://(?:\*\.)?(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z][a-z0-9-]*(?::[0-9]{1,5})?$`)

// mostOrigins is how many origins a page may ask for, each way.
const mostOrigins = 20

// NewAppHosts returns what may be allowed of what a page asks for; the rest stays out of reach.
func NewAppHosts(connect, load []string) AppHosts {
	of := func(list []string) []string {
		kept := []string{}
		for _, origin := range list {
			if len(origin) <= 260 && len(kept) < mostOrigins && appOrigin.MatchString(origin) &&
				!slices.Contains(kept, origin) {
				kept = append(kept, origin)
			}
		}
		return kept
	}
	return AppHosts{Connect: of(connect), Load: of(load)}
}

// PutApp keeps what a page draws, of the session and the call that m names.
func (s *Store) PutApp(m Meta, a App) (ID, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return "", err
	}
	if len(text) > maxApp {
		return "", fmt.Errorf("put a page of %d bytes: %w", len(text), ErrBudget)
	}
	return s.Put(Meta{Type: File, SessionID: m.SessionID, ToolCallID: m.ToolCallID, Called: m.Called,
		Path: m.Path, MimeType: AppType, Binary: true, Earlier: true}, text)
}

// App returns what was kept by [Store.PutApp]. It fails with [ErrExpired], also for an output of
// another kind.
func (s *Store) App(id ID) (a App, err error) {
	o, err := s.Get(id)
	if err != nil {
		return a, err
	}
	if m := o.Meta(); m.MimeType != AppType || !m.Earlier || m.Gap != nil {
		return a, ErrExpired
	}
	text, err := io.ReadAll(o.Reader())
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	if err != nil {
		return a, fmt.Errorf("read a page: %w", err)
	}
	return a, nil
}
