package server

import (
	"context"
	"net/http"

	"github.com/go-chi/chi/v5"

	"webchat/internal/eventlog"
	"webchat/internal/sessions"
	"webchat/internal/wording"
)

// UserServers are the servers of the Model Context Protocol that the user set up for agents. An
// error about a name that none has wraps [eventlog.ErrNotFound].
type UserServers interface {
	List(ctx context.Context, workspace string, session eventlog.ID) (MCPServers, error)
	// Allow says that the user agrees to what the tools of one say now.
	Allow(ctx context.Context, name string) error
	// Switch has agents in a session go without a tool, or with it again; without a session in a
	// workspace.
	Switch(workspace string, session eventlog.ID, name string, s MCPSwitch) error
	// Prompts are the texts that they have for users.
	Prompts(ctx context.Context, workspace string, session eventlog.ID) ([]MCPPrompt, error)
	// Prompt is the text of one.
	Prompt(ctx context.Context, workspace, name string, p MCPPromptRequest) (string, error)
	// Resources are what they let users read.
	Resources(ctx context.Context, workspace string, session eventlog.ID) ([]MCPResource, error)
	// Resource is what one is.
	Resource(ctx context.Context, workspace, name string, r MCPResourceRequest) (MCPTaken, error)
	// Complete is what an argument may be.
	Complete(ctx context.Context, workspace, name string, c MCPCompletion) ([]string, error)
}

// MCPResource is something that a server lets its users read.
type MCPResource struct {
	Server string `json:"server"`
	URI    string `json:"uri"` // a template (RFC 6570) where it asks for something
	Name   string `json:"name"`
	About  string `json:"about,omitempty"`

	Arguments []MCPArgument `json:"arguments"`
}

type resourceList struct {
	Resources []MCPResource `json:"resources"`
}

// MCPResourceRequest asks for what one is.
type MCPResourceRequest struct {
	URI       string            `json:"uri"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

// MCPTaken is what goes with a prompt.
type MCPTaken struct {
	Text     string       `json:"text"`
	Pictures []MCPPicture `json:"pictures"`
}

// MCPPicture is one.
type MCPPicture struct {
	Type string `json:"type"`
	Data []byte `json:"data"`
}

// MCPCompletion asks what an argument may be: of a prompt, or of a resource that is a template.
type MCPCompletion struct {
	Prompt   string `json:"prompt,omitempty"`
	URI      string `json:"uri,omitempty"`
	Argument string `json:"argument"`
	Value    string `json:"value"` // as far as it is typed
	// Arguments are the others, as far as they are known.
	Arguments map[string]string `json:"arguments,omitempty"`
}

type completions struct {
	Values []string `json:"values"`
}

// MCPPrompt is a text that a server has for its users.
type MCPPrompt struct {
	Server    string        `json:"server"`
	Name      string        `json:"name"`
	About     string        `json:"about,omitempty"`
	Arguments []MCPArgument `json:"arguments"`
}

// MCPArgument is what a prompt, or a resource that is a template, asks for.
type MCPArgument struct {
	Name     string `json:"name"`
	About    string `json:"about,omitempty"`
	Required bool   `json:"required,omitempty"`
}

type promptList struct {
	Prompts []MCPPrompt `json:"prompts"`
}

// MCPPromptRequest asks for the text of one.
type MCPPromptRequest struct {
	Name      string            `json:"name"`
	Arguments map[string]string `json:"arguments,omitempty"`
}

type promptText struct {
	Text string `json:"text"`
}

// MCPServers is what was found of them.
type MCPServers struct {
	Servers []MCPServer `json:"servers"`
	// Dear says what their tools cost each call of a model, where that is much; else empty.
	Dear string `json:"dear,omitempty"`
}

// MCPServer is one of them.
type MCPServer struct {
	Name    string    `json:"name"`
	Type    string    `json:"type"`
	Where   string    `json:"where"`
	State   string    `json:"state"` // ready, changed, sign-in or failed
	Tools   []MCPTool `json:"tools"`
	Off     string    `json:"off,omitempty"` // for the session or the workspace
	Failure string    `json:"failure,omitempty"`
	Words   string    `json:"words,omitempty"` // its instructions for models, which get none
	Log     string    `json:"log,omitempty"`   // what it logged last
}

// MCPTool is a tool of one.
type MCPTool struct {
	Name   string `json:"name"`
	Shown  string `json:"shown"`         // the name as people read it
	Tokens int    `json:"tokens"`        // about what it adds to each call of a model
	Off    string `json:"off,omitempty"` // for the session or the workspace
}

// MCPSwitch is what is switched.
type MCPSwitch struct {
	Tool string `json:"tool,omitempty"` // empty: the whole server
	Off  bool   `json:"off"`
}

// mcpServers shows them.
type mcpServers struct {
	find     finder
	sessions *sessions.Manager
	all      UserServers // nil: there are none
}

// in is the workspace that a request names and, if it names a session, that and its workspace.
func (ms *mcpServers) in(r *http.Request) (string, eventlog.ID, error) {
	if id := eventlog.ID(r.URL.Query().Get("session")); id != "" {
		one, err := ms.sessions.Get(r.Context(), id)
		if err != nil {
			return "", "", err
		}
		return one.Summary().Workspace, id, nil
	}
	w, err := ms.find.workspace(r)
	return w.Path, "", err
}

func (ms *mcpServers) list(r *http.Request, _ empty) (list MCPServers, err error) {
	workspace, session, err := ms.in(r)
	if err == nil && ms.all != nil {
		list, err = ms.all.List(r.Context(), workspace, session)
	}
	return list.shown(), err
}

// shown is the list with nothing hidden in it. Names of servers are the user's, and both are what
// is allowed and switched by.
func (list MCPServers) shown() MCPServers {
	list.Servers, list.Dear = listed(list.Servers), wording.Shown(list.Dear)
	for i, one := range list.Servers {
		one.Where, one.Failure, one.Tools = wording.Shown(one.Where), wording.Shown(one.Failure),
			listed(one.Tools)
		one.Words, one.Log = wording.Shown(one.Words), wording.Shown(one.Log)
		for k, t := range one.Tools {
			one.Tools[k].Shown = wording.Shown(t.Name)
		}
		list.Servers[i] = one
	}
	return list
}

func (ms *mcpServers) allow(r *http.Request, _ empty) (empty, error) {
	if ms.all == nil {
		return empty{}, eventlog.ErrNotFound
	}
	return empty{}, ms.all.Allow(r.Context(), chi.URLParam(r, "server"))
}

// turn switches a server or a tool.
func (ms *mcpServers) turn(r *http.Request, in MCPSwitch) (empty, error) {
	workspace, session, err := ms.in(r)
	if err == nil && ms.all == nil {
		err = eventlog.ErrNotFound
	}
	if err != nil {
		return empty{}, err
	}
	return empty{}, ms.all.Switch(workspace, session, chi.URLParam(r, "server"), in)
}

// prompts lists the prompts of servers that are on.
func (ms *mcpServers) prompts(r *http.Request, _ empty) (list promptList, err error) {
	workspace, session, err := ms.in(r)
	if err == nil && ms.all != nil {
		list.Prompts, err = ms.all.Prompts(r.Context(), workspace, session)
	}
	if err != nil {
		return list, err
	}
	list.Prompts = listed(list.Prompts)
	for i, p := range list.Prompts {
		list.Prompts[i].About, list.Prompts[i].Arguments = wording.Shown(p.About), listed(p.Arguments)
	}
	return list, nil
}

// prompt returns the text of a prompt, which the user reads before they send it.
func (ms *mcpServers) prompt(r *http.Request, in MCPPromptRequest) (out promptText, err error) {
	workspace, _, err := ms.in(r)
	if err == nil && ms.all == nil {
		err = eventlog.ErrNotFound
	}
	if err == nil {
		out.Text, err = ms.all.Prompt(r.Context(), workspace, chi.URLParam(r, "server"), in)
	}
	return out, err
}

// resources lists the resources of servers that are on.
func (ms *mcpServers) resources(r *http.Request, _ empty) (list resourceList, err error) {
	workspace, session, err := ms.in(r)
	if err == nil && ms.all != nil {
		list.Resources, err = ms.all.Resources(r.Context(), workspace, session)
	}
	if err != nil {
		return list, err
	}
	list.Resources = listed(list.Resources)
	for i, one := range list.Resources {
		list.Resources[i].Name, list.Resources[i].About = wording.Shown(one.Name),
			wording.Shown(one.About)
		list.Resources[i].Arguments = listed(one.Arguments)
	}
	return list, nil
}

// resource returns what a resource is.
func (ms *mcpServers) resource(r *http.Request, in MCPResourceRequest) (out MCPTaken, err error) {
	workspace, _, err := ms.in(r)
	if err == nil && ms.all == nil {
		err = eventlog.ErrNotFound
	}
	if err == nil {
		out, err = ms.all.Resource(r.Context(), workspace, chi.URLParam(r, "server"), in)
	}
	out.Pictures = listed(out.Pictures)
	return out, err
}

// complete returns what an argument may be.
func (ms *mcpServers) complete(r *http.Request, in MCPCompletion) (out completions, err error) {
	workspace, _, err := ms.in(r)
	if err == nil && ms.all == nil {
		err = eventlog.ErrNotFound
	}
	if err == nil {
		out.Values, err = ms.all.Complete(r.Context(), workspace, chi.URLParam(r, "server"), in)
	}
	out.Values = listed(out.Values)
	return out, err
}
