package copilot

import (
	"cmp"
	"context"
	"regexp"
	"slices"

	"webchat/internal/agent"
	"webchat/internal/wording"
)

// insideParts are the parts that [describeInside] fills in.
func insideParts() []agent.Ability {
	return []agent.Ability{agent.CanContext, agent.CanInstructions, agent.CanServers, agent.CanHelpers, agent.CanSkills}
}

// askSession calls a method of the CLI about the session with more parameters than its name.
type askSession func(ctx context.Context, method string, more map[string]any, result any) error

// readySession has the CLI set the session up, as it does before a model call. Until then, and
// again from when an MCP server came up or went, it tells of no tools and of no context.
func readySession(ctx context.Context, ask askSession) error {
	return ask(ctx, "session.tools.initializeAndValidate", nil, nil)
}

// describeInside asks for all parts. count counts tokens; nil: those of instruction files are
// not known, and stay in the part of the system prompt that they are sent in.
func describeInside(ctx context.Context, ask askSession, count func(string) int) (all agent.Inside, err error) {
	if err = readySession(ctx, ask); err != nil {
		return all, err
	}
	if all.Instructions, err = listInstructions(ctx, ask, count); err != nil {
		return all, err
	}
	if all.Servers, err = listServers(ctx, ask); err != nil {
		return all, err
	}
	if all.Helpers, err = listHelpers(ctx, ask); err != nil {
		return all, err
	}
	if all.Skills, err = listSkills(ctx, ask); err != nil {
		return all, err
	}
	all.Context, err = contextFill(ctx, ask, all.Instructions)
	return all, err
}

func listInstructions(ctx context.Context, ask askSession, count func(string) int) ([]agent.Instruction, error) {
	var got struct {
		Sources []struct {
			SourcePath, Content string
			DefaultDisabled     bool
		}
	}
	if err := ask(ctx, "session.instructions.getSources", nil, &got); err != nil {
		return nil, err
	}
	list := []agent.Instruction{}
	for _, s := range got.Sources {
		i := agent.Instruction{Path: s.SourcePath}
		if count != nil {
			i.Tokens = int64(count(s.Content))
		}
		if !s.DefaultDisabled {
			list = append(list, i)
		}
	}
	return list, nil
}

func listServers(ctx context.Context, ask askSession) ([]agent.Server, error) {
	var got struct {
		Servers []struct{ Name, Status, Error string }
	}
	if err := ask(ctx, "session.mcp.list", nil, &got); err != nil {
		return nil, err
	}
	list := []agent.Server{}
	for _, s := range got.Servers {
		one := agent.Server{Name: s.Name, State: serverState(s.Status), Error: wording.Cut(s.Error, 300), Tools: []string{}}
		if s.Status == "needs-auth" {
			one.Error = cmp.Or(one.Error, "it wants a sign-in")
		}
		if one.State == agent.ServerReady {
			var its struct{ Tools []struct{ Name string } }
			if err := ask(ctx, "session.mcp.listTools", map[string]any{"serverName": s.Name}, &its); err != nil {
				one.State, one.Error = agent.ServerFailed, wording.Cut(err.Error(), 300)
			}
			for _, t := range its.Tools {
				one.Tools = append(one.Tools, t.Name)
			}
		}
		list = append(list, one)
	}
	return list, nil
}

func serverState(status string) agent.ServerState {
	switch status {
	case "connected":
		return agent.ServerReady
	case "pending":
		return agent.ServerStarting
	case "disabled", "stopped", "not_configured":
		return agent.ServerOff
	}
	return agent.ServerFailed
}

// helperLine is how the tool that starts helpers tells of each kind: session.agent.list
// is empty for those that come with the CLI.
var helperLine = regexp.MustCompile(`(?m)^- \*\*([\w-]+)\*\*: (.*)$`)

func listHelpers(ctx context.Context, ask askSession) ([]agent.Helper, error) {
	var got struct {
		Agents []struct{ Name, DisplayName, Description string }
	}
	if err := ask(ctx, "session.agent.list", nil, &got); err != nil {
		return nil, err
	}
	list := []agent.Helper{}
	for _, a := range got.Agents {
		list = append(list, agent.Helper{Name: cmp.Or(a.DisplayName, a.Name), About: wording.Line(a.Description)})
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
	if err := ask(ctx, "session.tools.getCurrentMetadata", nil, &offered); err != nil {
		return nil, err
	}
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
	return list, nil
}

func listSkills(ctx context.Context, ask askSession) ([]agent.Skill, error) {
	var got struct {
		Skills []struct {
			Name, Description string
			Enabled           bool
		}
	}
	if err := ask(ctx, "session.skills.list", nil, &got); err != nil {
		return nil, err
	}
	list := []agent.Skill{}
	for _, s := range got.Skills {
		if s.Enabled {
			list = append(list, agent.Skill{Name: s.Name, About: wording.Line(s.Description)})
		}
	}
	return list, nil
}

// contextFill is what fills the context. The CLI counts instruction files as part of its system
// prompt (customInstructions was 0 with two of them).
func contextFill(ctx context.Context, ask askSession, files []agent.Instruction) (*agent.Context, error) {
	var got struct {
		ContextAttribution *struct {
			ModelID            string
			TotalTokens, Limit int64
			Categories         struct{ SystemPrompt, CustomInstructions, SystemTools, MCPTools, Messages int64 }
		}
	}
	if err := ask(ctx, "session.metadata.getContextAttribution", nil, &got); err != nil {
		return nil, err
	}
	a := got.ContextAttribution
	if a == nil { // it has not begun
		return &agent.Context{Parts: []agent.Part{}}, nil
	}
	in := int64(0)
	for _, f := range files {
		in += f.Tokens
	}
	in = min(in, a.Categories.SystemPrompt)
	c := &agent.Context{Model: a.ModelID, Used: a.TotalTokens, Limit: a.Limit}
	rest := a.TotalTokens
	for _, p := range []agent.Part{
		{Name: "System prompt", Tokens: a.Categories.SystemPrompt - in},
		{Name: "Instruction files", Tokens: a.Categories.CustomInstructions + in},
		{Name: "Tools", Tokens: a.Categories.SystemTools},
		{Name: "Tools of MCP servers", Tokens: a.Categories.MCPTools},
	} {
		c.Parts = append(c.Parts, p)
		rest -= p.Tokens
	}
	c.Parts = append(c.Parts, agent.Part{Name: "Conversation and attachments", Tokens: max(0, rest)}) // it does not tell them apart
	return c, nil
}
