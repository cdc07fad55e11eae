package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/displays"
	"webchat/internal/wording"
)

// allowedTools is what the user agreed to. Sums only: it is compared, and never shown.
type allowedTools struct {
	Server string `json:"server"` // serverSum of the program or address it was
	descriptions
}

// descriptions are the sums of what agents are offered of each tool, by their names.
type descriptions struct {
	Tools map[string]string `json:"offered"`
}

// describe returns a server's tools in the order in which it lists them, and what is remembered of
// them. The error refuses tools that cannot be distinguished or
// offered.
func describe(server string, tools []*mcp.Tool) (all []offer, d descriptions, err error) {
	d.Tools = map[string]string{}
	for _, t := range tools {
		if t == nil || strings.TrimSpace(t.Name) == "" {
			return nil, d, errors.New("it has a tool without a name; mend the server")
		}
		named := wording.Cut(t.Name, 100)
		if d.Tools[t.Name] != "" {
			return nil, d,
				fmt.Errorf("it has two tools named %q, and a call could mean either; mend the server", named)
		}
		schema, err := json.Marshal(t.InputSchema)
		var object struct{ Type string }
		if err != nil || json.Unmarshal(schema, &object) != nil || object.Type != "object" {
			return nil, d, fmt.Errorf("the parameters of its tool %q are no object; mend the server", named)
		}
		spec := agent.ToolSpec{Name: server + "-" + t.Name, Description: t.Description,
			Parameters: schema, Server: server, Reads: t.Annotations != nil && t.Annotations.ReadOnlyHint}
		if _, own := displays.ToolOf(spec.Name); own {
			return nil, d, fmt.Errorf("its tool %q is named like one of webchat's own; mend the server",
				named)
		}
		sent := []any{spec.Description, schema, spec.Reads}
		ui := toolUIOf(t)
		if ui != (toolUI{}) {
			sent = append(sent, ui)
		}
		d.Tools[t.Name] = jsonSum(sent...)
		all = append(all, offer{t.Name, spec, ui})
	}
	return all, d, nil
}

func jsonSum(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		return "" // a server would have sent JSON
	}
	of := sha256.Sum256(text)
	return hex.EncodeToString(of[:])
}

// serverSum distinguishes servers: a user who changes the program or the address agrees anew.
func serverSum(m agent.MCPServer) string { return jsonSum(m.Type, m.Command, m.Args, m.Cwd, m.URL) }

// changed says what is not as it was allowed; empty means nothing. What a server says when it is
// first seen is allowed, since its user has just set it up.
func (s *UserServers) changed(name string, m agent.MCPServer, now descriptions) string {
	was, seen := s.known.Get()[name]
	if !seen || was.Tools == nil || was.Server != serverSum(m) {
		_ = s.allow(name, m, now) // then it is allowed anew the next time
		return ""
	}
	var more, other, what []string
	for _, tool := range slices.Sorted(maps.Keys(now.Tools)) {
		switch before, had := was.Tools[tool]; {
		case !had:
			more = append(more, tool)
		case before != now.Tools[tool]:
			other = append(other, tool)
		}
	}
	if len(other) > 0 {
		what = append(what, "it describes "+wording.Cut(strings.Join(other, ", "), 150)+
			" differently than when you allowed it")
	}
	if len(more) > 0 {
		what = append(what, "it has new tools: "+wording.Cut(strings.Join(more, ", "), 150))
	}
	if len(what) == 0 {
		return ""
	}
	return wording.Sentence(strings.Join(what, "; ")) + " Look at them, then allow it here."
}

// allow remembers that the user agrees to what a server says now.
func (s *UserServers) allow(name string, m agent.MCPServer, now descriptions) error {
	if err := s.known.Hold(with(name, allowedTools{serverSum(m), now})); err != nil {
		return fmt.Errorf("keep what was allowed: %w", err)
	}
	return nil
}
