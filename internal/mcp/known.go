package mcp

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/wording"
)

// knownServers remembers what the tools of servers said of themselves when they were allowed.
type knownServers struct {
	file string // empty: it is not kept

	mu   sync.Mutex // guards what follows
	read bool
	all  map[string]allowedTools // by the name of a server
}

// allowedTools is what the user agreed to. Sums only: it is compared, and never shown.
type allowedTools struct {
	Server string `json:"server"` // serverSum program or address it was
	Form   int    `json:"form"`   // of the sums
	serverSays
}

// serverSays are the sums of all that a server says of its tools, by their names, and of its
// instructions for models.
type serverSays struct {
	Tools map[string]string `json:"tools"`
	About string            `json:"about"`
}

// knownForm is how sums are made today. What was allowed in another form cannot be compared.
const knownForm = 1

// serverSaysOf sums each tool whole, in the JSON that the protocol has it in: agents may give their
// models any part of it. The error refuses tools that cannot be told apart.
func serverSaysOf(tools []*mcp.Tool, about string) (serverSays, error) {
	all := serverSays{Tools: map[string]string{}, About: toolsSum(about)}
	for _, t := range tools {
		if t == nil || strings.TrimSpace(t.Name) == "" {
			return serverSays{}, errors.New("it has a tool without a name; mend the server")
		}
		if all.Tools[t.Name] != "" {
			return serverSays{}, fmt.Errorf("it has two tools named %q, of which an agent may call either; mend the server", wording.Cut(t.Name, 100))
		}
		all.Tools[t.Name] = toolsSum(t)
	}
	return all, nil
}

func toolsSum(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		return "" // a server would have sent JSON
	}
	of := sha256.Sum256(text)
	return hex.EncodeToString(of[:])
}

// serverSum tells servers apart: a user who changes the program or the address agrees anew.
func serverSum(m agent.MCPServer) string { return toolsSum(m.Type, m.Command, m.Args, m.Cwd, m.URL) }

// changed says what is not as it was allowed; empty: nothing. What a server says when it is first
// seen is allowed, since its user has just set it up.
func (k *knownServers) changed(name string, m agent.MCPServer, now serverSays) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	was, seen := k.all[name]
	switch {
	case !seen || was.Server != serverSum(m):
		k.all[name] = allowedTools{serverSum(m), knownForm, now}
		_ = k.save() // then it is allowed anew the next time
		return ""
	case was.Form != knownForm:
		return "An earlier version of webchat noted less of its tools when you allowed it, so it cannot say what changed since. Look at them, then allow it here once."
	}
	var more, other []string
	for _, tool := range slices.Sorted(maps.Keys(now.Tools)) {
		switch before, had := was.Tools[tool]; {
		case !had:
			more = append(more, tool)
		case before != now.Tools[tool]:
			other = append(other, tool)
		}
	}
	var what []string
	if was.About != now.About {
		what = append(what, "It has other instructions for models than when you allowed it")
	}
	if len(other) > 0 {
		what = append(what, "It describes "+wording.Cut(strings.Join(other, ", "), 150)+" differently than when you allowed it")
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
func (k *knownServers) allow(name string, m agent.MCPServer, now serverSays) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	k.all[name] = allowedTools{serverSum(m), knownForm, now}
	if err := k.save(); err != nil {
		return fmt.Errorf("keep what was allowed: %w", err)
	}
	return nil
}

// load reads the file, once; mu is held. A file that cannot be read allows nothing anew: it is as
// if every server were seen for the first time.
func (k *knownServers) load() {
	if k.read {
		return
	}
	k.read, k.all = true, map[string]allowedTools{}
	if text, err := os.ReadFile(k.file); k.file != "" && err == nil {
		_ = json.Unmarshal(text, &k.all)
	}
	if k.all == nil {
		k.all = map[string]allowedTools{}
	}
}

// save writes the file whole; mu is held.
func (k *knownServers) save() error {
	if k.file == "" {
		return nil
	}
	return writeWhole(k.file, k.all)
}
