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

	"github.com/go-json-experiment/json/jsontext"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/wording"
)

// allowedTools is what the user agreed to. Sums only: it is compared, and never shown.
type allowedTools struct {
	Server string `json:"server"` // serverSum of the program or address it was
	descriptions
}

// descriptions are the sums of all that a server says of its tools, by their names, of its
// instructions for models, and of itself.
type descriptions struct {
	Tools map[string]string `json:"tools"`
	About string            `json:"about"`
	Self  string            `json:"self,omitempty"` // empty: an earlier version of webchat kept it
	// known are the sums of the tools as those versions made them, of the fields that they knew.
	known map[string]string
}

// descriptionsOf sums each tool whole, as it came but for the order of its fields: agents may give
// their models any part of it, also one that the protocol does not have. The error refuses tools
// that cannot be distinguished.
func descriptionsOf(tools []*mcp.Tool, about string, said *heard) (descriptions, error) {
	whole, self := said.said()
	all := descriptions{
		Tools: map[string]string{},
		About: jsonSum(about),
		Self:  plainSum(self...),
		known: map[string]string{},
	}
	if len(whole) != len(tools) {
		return descriptions{}, errors.New("it lists tools without being asked; mend the server")
	}
	for i, t := range tools {
		if t == nil || strings.TrimSpace(t.Name) == "" {
			return descriptions{}, errors.New("it has a tool without a name; mend the server")
		}
		if all.Tools[t.Name] != "" {
			return descriptions{},
				fmt.Errorf("it has two tools named %q, of which an agent may call either; mend the server",
					wording.Cut(t.Name, 100))
		}
		all.Tools[t.Name], all.known[t.Name] = plainSum(whole[i]), jsonSum(t)
	}
	return all, nil
}

// plainSum sums JSON values whatever the order of their fields, and each of equal values once.
func plainSum(values ...jsontext.Value) string {
	var all []string
	for _, v := range values {
		if v = v.Clone(); v.Canonicalize(jsontext.AllowDuplicateNames(true)) == nil {
			all = append(all, string(v))
		}
	}
	slices.Sort(all)
	return jsonSum(slices.Compact(all))
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
	if !seen || was.Server != serverSum(m) {
		_ = s.allow(name, m, now) // then it is allowed anew the next time
		return ""
	}
	if was.Self == "" && was.About == now.About && maps.Equal(was.Tools, now.known) {
		_ = s.allow(name, m, now)
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
	if was.About != now.About {
		what = append(what, "it has other instructions for models than when you allowed it")
	}
	if was.Self != now.Self {
		what = append(what, "it says otherwise what it is, such as its version")
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

// with puts one into what a document has by names.
func with[T any](name string, one T) func(map[string]T) map[string]T {
	return func(all map[string]T) map[string]T {
		more := map[string]T{}
		maps.Copy(more, all)
		more[name] = one
		return more
	}
}
