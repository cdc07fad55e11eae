package mcpclient

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
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

// known remembers what the tools of servers said of themselves when they were allowed.
type known struct {
	file string // empty: it is not kept

	mu   sync.Mutex // guards what follows
	read bool
	all  map[string]allowed // by the name of a server
}

// allowed is what the user agreed to. Sums only: it is compared, and never shown.
type allowed struct {
	Server string            `json:"server"` // which program or address it was
	Tools  map[string]string `json:"tools"`
}

// itself stands for the server in the place of a tool's name.
const itself = ""

// sums are the sums of all that a model reads of each tool, and of the server: some agents
// give its instructions to their model.
func sums(tools []*mcp.Tool, about string) map[string]string {
	all := map[string]string{itself: sum(about)}
	for _, t := range tools {
		all[t.Name] = sum(t.Title, t.Description, t.InputSchema, t.Annotations)
	}
	return all
}

func sum(parts ...any) string {
	text, err := json.Marshal(parts)
	if err != nil {
		return "" // a server would have sent JSON
	}
	of := sha256.Sum256(text)
	return hex.EncodeToString(of[:])
}

// which tells servers apart: a user who changes the program or the address agrees anew.
func which(m agent.MCPServer) string { return sum(m.Type, m.Command, m.Args, m.Cwd, m.URL) }

// changed says what is not as it was allowed; empty: nothing. What a server says when it
// is first seen is allowed, since its user has just set it up.
func (k *known) changed(name string, m agent.MCPServer, says map[string]string) string {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	was, seen := k.all[name]
	if !seen || was.Server != which(m) {
		k.all[name] = allowed{which(m), says}
		_ = k.save() // then it is allowed anew the next time
		return ""
	}
	var more, other []string
	if _, had := was.Tools[itself]; !had { // it was allowed by an earlier version
		was.Tools = maps.Clone(was.Tools)
		if was.Tools == nil {
			was.Tools = map[string]string{}
		}
		was.Tools[itself] = says[itself]
		k.all[name] = was
		_ = k.save() // then it is looked at anew the next time
	}
	instructs := was.Tools[itself] != says[itself]
	for _, tool := range slices.Sorted(maps.Keys(says)) {
		switch before, had := was.Tools[tool]; {
		case tool == itself:
		case !had:
			more = append(more, tool)
		case before != says[tool]:
			other = append(other, tool)
		}
	}
	if len(more)+len(other) == 0 && !instructs {
		return ""
	}
	var what []string
	if instructs {
		what = append(what, "It has other instructions for models than when you allowed it")
	}
	if len(other) > 0 {
		what = append(what, "It describes "+wording.Cut(strings.Join(other, ", "), 150)+" in other words than when you allowed it")
	}
	if len(more) > 0 {
		what = append(what, "it has new tools: "+wording.Cut(strings.Join(more, ", "), 150))
	}
	return wording.Sentence(strings.Join(what, "; ")) + " Look at them, then allow it here."
}

// allow remembers that the user agrees to what a server says now.
func (k *known) allow(name string, m agent.MCPServer, says map[string]string) error {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.load()
	k.all[name] = allowed{which(m), says}
	if err := k.save(); err != nil {
		return fmt.Errorf("keep what was allowed: %w", err)
	}
	return nil
}

// load reads the file, once; mu is held. A file that cannot be read allows nothing anew:
// it is as if every server were seen for the first time.
func (k *known) load() {
	if k.read {
		return
	}
	k.read, k.all = true, map[string]allowed{}
	if text, err := os.ReadFile(k.file); k.file != "" && err == nil {
		_ = json.Unmarshal(text, &k.all)
	}
	if k.all == nil {
		k.all = map[string]allowed{}
	}
}

// save writes the file whole; mu is held.
func (k *known) save() error {
	if k.file == "" {
		return nil
	}
	return writeWhole(k.file, k.all)
}
