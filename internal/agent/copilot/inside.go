package copilot

import (
	"cmp"
	"context"
	"regexp"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/wording"
)

func (c *conn) Describe(ctx context.Context) (all agent.Inside, err error) {
	q := inquiry{ctx: ctx, c: c}
	err = c.running(ctx, func() error {
		q.ask("session.tools.initializeAndValidate", nil) // until then it reports no tools and no context
		all.Instructions, all.Helpers, all.Skills = q.instructions(), q.helpers(), q.skills()
		all.Context = q.context(all.Instructions)
		return c.b.cli.Explain(q.err)
	})
	return all, err
}

// inquiry asks the CLI several things. After the first that fails it asks no more.
type inquiry struct {
	ctx context.Context
	c   *conn
	err error
}

func (q *inquiry) ask(method string, result any) {
	if q.err == nil {
		q.err = q.c.ask(q.ctx, method, nil, result)
	}
}

func (q *inquiry) instructions() []agent.Instruction {
	var got struct {
		Sources []struct {
			SourcePath, Content string
			DefaultDisabled     bool
		}
	}
	q.ask("session.instructions.getSources", &got)
	list := []agent.Instruction{}
	for _, s := range got.Sources {
		i := agent.Instruction{Path: s.SourcePath}
		if q.c.b.cfg.Count != nil {
			i.Tokens = int64(q.c.b.cfg.Count(s.Content))
		}
		if !s.DefaultDisabled {
			list = append(list, i)
		}
	}
	return list
}

// helperLine is how the tool that starts helpers describes each kind: session.agent.list is empty
// for those that come with the CLI.
var helperLine = regexp.MustCompile(`(?m)^- \*\*([\w-]+)\*\*: (.*)$`)

func (q *inquiry) helpers() []agent.Helper {
	var got struct {
		Agents []struct{ Name, DisplayName, Description string }
	}
	q.ask("session.agent.list", &got)
	list := []agent.Helper{}
	for _, a := range got.Agents {
		list = append(list, agent.Helper{
			Name:  cmp.Or(a.DisplayName, a.Name),
			About: wording.Line(a.Description),
		})
	}
	var offered struct {
		Tools []struct {
			Name, Description string
			InputSchema       struct {
				Properties struct {
					Kinds struct{ Enum []string } `json:"agent_type"`
				}
			} `json:"input_schema"`
		}
	}
	q.ask("session.tools.getCurrentMetadata", &offered)
	for _, t := range offered.Tools {
		if t.Name != "task" {
			continue
		}
		about := map[string]string{}
		for _, m := range helperLine.FindAllStringSubmatch(t.Description, -1) {
			about[m[1]] = wording.Line(m[2])
		}
		for _, kind := range t.InputSchema.Properties.Kinds.Enum {
			if !slices.ContainsFunc(list, func(h agent.Helper) bool { return h.Name == kind }) {
				list = append(list, agent.Helper{Name: kind, About: about[kind]})
			}
		}
	}
	return list
}

func (q *inquiry) skills() []agent.Skill {
	var got struct {
		Skills []struct {
			Name, Description string
			Enabled           bool
		}
	}
	q.ask("session.skills.list", &got)
	list := []agent.Skill{}
	for _, s := range got.Skills {
		if s.Enabled {
			list = append(list, agent.Skill{Name: s.Name, About: wording.Line(s.Description)})
		}
	}
	return list
}

// context is what fills the context. The CLI counts instruction files as part of its system prompt
// (customInstructions was 0 with two of them), and does not tell messages from attachments.
func (q *inquiry) context(files []agent.Instruction) *agent.Context {
	var got struct {
		ContextAttribution struct {
			ModelID            string
			TotalTokens, Limit int64
			Categories         struct{ SystemPrompt, CustomInstructions, SystemTools, MCPTools int64 }
		}
	}
	q.ask("session.metadata.getContextAttribution", &got)
	a := got.ContextAttribution
	if a.TotalTokens == 0 { // it has not begun
		return &agent.Context{Parts: []agent.Part{}}
	}
	in, n := int64(0), a.Categories
	for _, f := range files {
		in += f.Tokens
	}
	in = min(in, n.SystemPrompt)
	rest := max(0, a.TotalTokens-n.SystemPrompt-n.CustomInstructions-n.SystemTools-n.MCPTools)
	return &agent.Context{
		Model: ourModel(a.ModelID),
		Used:  a.TotalTokens,
		Limit: a.Limit,
		Parts: []agent.Part{
			{Name: "System prompt", Tokens: n.SystemPrompt - in},
			{Name: "Instruction files", Tokens: n.CustomInstructions + in},
			{Name: "Tools", Tokens: n.SystemTools + n.MCPTools},
			{Name: "Conversation and attachments", Tokens: rest},
		},
	}
}
