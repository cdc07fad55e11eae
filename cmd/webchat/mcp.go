package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"webchat/internal/eventlog"
	"webchat/internal/mcp"
	"webchat/internal/server"
)

// userServers are the user's MCP servers as the server shows them.
type userServers struct{ *mcp.UserServers }

// List implements [server.UserServers].
func (u userServers) List(ctx context.Context, workspace string,
	session eventlog.ID) (list server.MCPServers, err error) {
	all, err := u.Status(ctx, mcp.In{Workspace: workspace, Session: session})
	for _, s := range all {
		srv := server.MCPServer{
			Name:    s.Name,
			Type:    s.Type,
			Where:   s.Where,
			State:   string(s.State),
			Off:     string(s.Off),
			Failure: s.Failure,
			Words:   s.Instructions,
			Log:     s.Log,
		}
		for _, t := range s.Tools {
			srv.Tools = append(srv.Tools,
				server.MCPTool{Name: t.Name, Tokens: t.Tokens, Off: string(t.Off)})
		}
		list.Servers = append(list.Servers, srv)
	}
	list.Dear = mcp.Dear(all)
	return list, err
}

// Allow implements [server.UserServers].
func (u userServers) Allow(ctx context.Context, name string) error {
	return known(u.UserServers.Allow(ctx, name))
}

// Switch implements [server.UserServers].
func (u userServers) Switch(workspace string, session eventlog.ID, name string,
	s server.MCPSwitch) error {
	return known(u.UserServers.Switch(mcp.Switch{In: mcp.In{Workspace: workspace, Session: session},
		Server: name, Tool: s.Tool, Off: s.Off}))
}

// Prompts implements [server.UserServers].
func (u userServers) Prompts(ctx context.Context, workspace string,
	session eventlog.ID) (list []server.MCPPrompt, err error) {
	all, err := u.UserServers.Prompts(ctx, mcp.In{Workspace: workspace, Session: session})
	for _, p := range all {
		prompt := server.MCPPrompt{Server: p.Server, Name: p.Name, About: p.About}
		for _, a := range p.Arguments {
			prompt.Arguments = append(prompt.Arguments, server.MCPArgument(a))
		}
		list = append(list, prompt)
	}
	return list, err
}

// Prompt implements [server.UserServers].
func (u userServers) Prompt(ctx context.Context, workspace, name string,
	p server.MCPPromptRequest) (string, error) {
	text, err := u.UserServers.Prompt(ctx, mcp.In{Workspace: workspace}, name, p.Name, p.Arguments)
	return text, refused(err)
}

// Resources implements [server.UserServers].
func (u userServers) Resources(ctx context.Context, workspace string,
	session eventlog.ID) (list []server.MCPResource, err error) {
	all, err := u.UserServers.Resources(ctx, mcp.In{Workspace: workspace, Session: session})
	for _, r := range all {
		one := server.MCPResource{Server: r.Server, URI: r.URI, Name: r.Name, About: r.About}
		for _, a := range r.Arguments {
			one.Arguments = append(one.Arguments, server.MCPArgument(a))
		}
		list = append(list, one)
	}
	return list, err
}

// Resource implements [server.UserServers].
func (u userServers) Resource(ctx context.Context, workspace, name string,
	r server.MCPResourceRequest) (taken server.MCPTaken, err error) {
	got, err := u.UserServers.Resource(ctx, mcp.In{Workspace: workspace}, name, r.URI, r.Arguments)
	taken.Text = got.Text
	for _, p := range got.Pictures {
		taken.Pictures = append(taken.Pictures, server.MCPPicture(p))
	}
	return taken, refused(err)
}

// Complete implements [server.UserServers].
func (u userServers) Complete(ctx context.Context, workspace, name string,
	c server.MCPCompletion) ([]string, error) {
	values, err := u.UserServers.Complete(ctx, mcp.In{Workspace: workspace}, name,
		mcp.Completion{Prompt: c.Prompt, URI: c.URI, Argument: c.Argument, Value: c.Value}, c.Arguments)
	return values, refused(err)
}

// refused is why a server did not answer.
func refused(err error) error {
	if err = known(err); err != nil && !errors.Is(err, eventlog.ErrNotFound) {
		err = fmt.Errorf("%w: %w", eventlog.ErrInvalid, err)
	}
	return err
}

// known is an error as the server answers it.
func known(err error) error {
	if errors.Is(err, mcp.ErrUnknown) {
		return fmt.Errorf("%w (%w)", err, eventlog.ErrNotFound)
	}
	return err
}

// mcpLogin is "webchat mcp login".
func mcpLogin(ctx context.Context, o *options, stdout, _ io.Writer) error {
	c, err := o.loadConfig()
	if err != nil {
		return err
	}
	if _, err = o.madeDataDir(); err != nil {
		return err
	}
	err = o.roster(c).mcpServers().SignIn(ctx, o.Client, func(url string) {
		fmt.Fprintf(stdout, "Open this in your browser and sign in:\n\n%s\n\n", url)
	})
	if err == nil {
		fmt.Fprintf(stdout, "You are signed in to %s. New conversations use it.\n", o.Client)
	}
	return err
}
