package mcp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/wording"
)

// mostPrompts is how many prompts of a server are listed.
const mostPrompts = 200

// Prompt is a text that a server has for its users.
type Prompt struct {
	Server    string
	Name      string
	About     string
	Arguments []Argument
}

// Argument is what a prompt, or an address of a resource, is about.
type Argument struct {
	Name     string
	About    string
	Required bool
}

// prompts asks for the server's prompts, if it has some.
func (c *connected) prompts(ctx context.Context) (all []*mcp.Prompt, err error) {
	if of := c.session.InitializeResult(); of == nil || of.Capabilities == nil ||
		of.Capabilities.Prompts == nil {
		return nil, nil
	}
	for p, err := range c.session.Prompts(ctx, nil) { // of all pages
		if err != nil || len(all) == mostPrompts {
			return all, err
		}
		all = append(all, p)
	}
	return all, nil
}

// Prompts are those of the servers that are on, as they are known. The error is ctx's.
func (s *UserServers) Prompts(ctx context.Context, in In) (all []Prompt, err error) {
	servers, err := s.look(ctx, s.workspace(in), false)
	for _, server := range servers {
		if server.State != Ready || s.off(in, server.Name, "") != "" {
			continue
		}
		for _, p := range server.prompts {
			prompt := Prompt{Server: server.Name, Name: p.Name, About: oneLine(p.Description)}
			for _, a := range p.Arguments {
				prompt.Arguments = append(prompt.Arguments, Argument{a.Name, oneLine(a.Description),
					a.Required})
			}
			all = append(all, prompt)
		}
	}
	return all, err
}

// Prompt returns the text of a server's prompt, which its user reads before they send it.
func (s *UserServers) Prompt(ctx context.Context, in In, server, name string,
	args map[string]string) (string, error) {
	var res *mcp.GetPromptResult
	err := s.once(ctx, in, server, func(ctx context.Context, c *connected) (err error) {
		res, err = c.session.GetPrompt(ctx, &mcp.GetPromptParams{Name: name, Arguments: args})
		return err
	})
	if err != nil {
		return "", err
	}
	var parts []string
	for _, m := range res.Messages {
		switch b := m.Content.(type) {
		case *mcp.TextContent:
			parts = append(parts, b.Text)
		case *mcp.EmbeddedResource:
			if b.Resource != nil && b.Resource.Blob == nil {
				parts = append(parts, b.Resource.Text)
			}
		case *mcp.ResourceLink:
			parts = append(parts, strings.TrimSpace(b.Name+" "+b.URI))
		default:
			parts = append(parts, "(A picture or sound was left out.)")
		}
	}
	return handed(server, parts)
}

// Completion is what a user has typed of an argument of a prompt, or of a resource's template.
type Completion struct{ Prompt, URI, Argument, Value string }

// Complete returns what an argument may be, where its server has an opinion, with the others given.
func (s *UserServers) Complete(ctx context.Context, in In, server string, q Completion,
	given map[string]string) (values []string, err error) {
	all, err := s.look(ctx, s.workspace(in), false)
	if err != nil || slices.ContainsFunc(all, func(x UserServerStatus) bool {
		return x.Name == server && !x.completes
	}) {
		return nil, err
	}
	ref := &mcp.CompleteReference{Type: "ref/prompt", Name: q.Prompt}
	if q.URI != "" {
		ref = &mcp.CompleteReference{Type: "ref/resource", URI: q.URI}
	}
	err = s.once(ctx, in, server, func(ctx context.Context, c *connected) error {
		res, err := c.session.Complete(ctx, &mcp.CompleteParams{Ref: ref,
			Argument: mcp.CompleteParamsArgument{Name: q.Argument, Value: q.Value},
			Context:  &mcp.CompleteContext{Arguments: given}})
		if err == nil {
			values = res.Completion.Values
		}
		return err
	})
	// a value stands in a line
	return slices.DeleteFunc(values, func(v string) bool {
		return wording.Shown(v) != v || oneLine(v) != v
	}), err
}

// once asks a server something over a connection of its own.
func (s *UserServers) once(ctx context.Context, in In, server string,
	ask func(context.Context, *connected) error) error {
	if _, ok := s.cfg.Servers[server]; !ok {
		return fmt.Errorf("%s: %w", server, ErrUnknown)
	}
	at := s.place(server, s.workspace(in))
	if err := s.allowed(at); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.cfg.Limit)
	defer cancel()
	c, err := s.dial(ctx, at, s.workspace(in))
	defer c.close()
	if err == nil {
		err = ask(ctx, c)
	}
	if theirs, ok := answered(err); ok {
		return fmt.Errorf("%s refused: %s", server, ends(theirs.Message, 300))
	}
	if err != nil {
		return fmt.Errorf("%s did not answer: %w", server, withoutAddress(err))
	}
	return nil
}

// handed is a text that a user takes over from a server.
func handed(server string, parts []string) (string, error) {
	text := strings.ToValidUTF8(strings.Join(parts, "\n\n"), "\uFFFD")
	if len(text) > mostHanded {
		return "", fmt.Errorf("what %s answers is larger than %s", server, wording.Limit(mostHanded))
	}
	return text, nil
}

// mostHanded is how many bytes such a text has at most.
const mostHanded = 1 << 20
