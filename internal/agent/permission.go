package agent

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"webchat/internal/event"
)

// Permission is an act that has to be allowed.
type Permission struct {
	ToolCallID string
	ToolName   string
	Kind       Kind
	Action     string // verb phrase: "run a command"
	Resource   string // the exact command, path or address, as it was asked for
	// Target is where the links of a path lead: absolute, also for a file that does not exist yet.
	// Empty: the act is not about a file, or the caller leaves it to the session to find out.
	Target string
	Cwd    string // where a command runs
	// CwdUnknown says that the agent's shell keeps its folder between calls, so that Cwd is a
	// guess: no allow rule and no grant holds.
	CwdUnknown bool
	Confined   bool    // the sandbox holds what does it
	Server     string  // the MCP server whose tool it is
	Page       bool    // the page of that server asks, and no agent
	Search     *Search // of a read that searches a folder
	// Withheld are the names of the variables the command does not inherit.
	Withheld []string
	Diff     string // what a write changes, as a unified diff
	Digest   string // SHA-256, hex, of everything that decides what will happen
	// Sensitive acts (keys, credentials) are always asked, whatever was allowed before and whatever
	// the mode.
	Sensitive bool
	// Why says to the user why the caller calls the act sensitive; empty means it may hold keys or
	// passwords.
	Why string
	// Says is the agent's own reason, on one line.
	Says string
	// Also is what else the same act is about: the target of a copy, the other files of a patch.
	// Each is judged by itself, and all are decided together: the act is allowed only if each of
	// its parts is.
	Also []Resource
}

// Resource is one of several things an act is about; the fields are those of [Permission].
type Resource struct {
	Kind     Kind
	Action   string
	Resource string
	Target   string
	Search   *Search
}

// Parts returns the act as one permission for each thing it is about, beginning with that of its
// own fields.
func (p Permission) Parts() []Permission {
	whole := p
	whole.Also = nil
	parts := []Permission{whole}
	for _, r := range p.Also {
		part := whole
		part.Kind, part.Action, part.Resource, part.Target, part.Search = r.Kind, r.Action, r.Resource,
			r.Target, r.Search
		parts = append(parts, part)
	}
	return parts
}

// ServerTool is the name by which rules know a tool of an MCP server, SERVER-TOOL, whatever its
// agent calls it: server-tool, mcp__server__tool, server_tool or only tool. Empty: it is of no
// known server.
func (p Permission) ServerTool() string {
	if p.Server == "" || p.ToolName == "" {
		return ""
	}
	plain := strings.Map(func(r rune) rune { // as Claude Code writes it
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}, p.Server)
	for _, server := range []string{p.Server, plain} {
		for _, begin := range []string{"mcp__" + server + "__", "mcp_" + server + "_", server + "-",
			server + "_"} {
			if tool, ok := strings.CutPrefix(p.ToolName, begin); ok && tool != "" {
				return p.Server + "-" + tool
			}
		}
	}
	return p.Server + "-" + p.ToolName
}

// Search is what a search looks for, as the agent's call says.
type Search struct {
	Pattern string // of the text, or of the names where the names are searched
	Path    string // the folder or file; empty: the workspace
	Glob    string // which files; empty: all
	Names   bool   // only names of files are returned, no contents
}

// Kind is a class of acts.
type Kind string

// The kinds.
const (
	KindShell Kind = "shell"
	KindWrite Kind = "write"
	KindRead  Kind = "read"
	KindMCP   Kind = event.KindMCP
	KindURL   Kind = "url"
	// KindTool is of a tool of the agent's own that reaches nothing beyond the session, such as its
	// list of what is to do. It needs no permission, unless a rule of the user's names it.
	KindTool   Kind = "tool"
	KindBudget Kind = event.KindBudget // a turn that goes on past the budget of its session
	KindHost   Kind = event.KindHost   // a connection to a host that the sandbox does not reach
)

// Verdict is what was decided about a Permission.
type Verdict struct {
	Decision event.Decision
	Scope    event.Scope
	Reason   string // for the model; never empty on deny
	By       event.Decider
	// Grant is what the user allowed beyond this act, or what allows it; nil means nothing.
	Grant *event.Grant
	Rule  *event.Rule // that decided; nil: none did
}

// Ruling is what the user's rules say about an act.
type Ruling struct {
	Decision event.Decision // empty: no rule decides
	Ask      bool           // a rule wants the user to be asked, whatever the mode
	Reason   string         // of a decision, for the model; else for the user, why none was made
	Rule     *event.Rule    // that decides; nil: none does
	// Sensitive makes the act one that is always asked: no rule, no mode and no earlier answer
	// allows it. Why says so to the user.
	Sensitive bool
	Why       string
	// Secret is the file that makes it sensitive, or that it may show; nil if none is known.
	Secret *event.Secret
	// Outside says that a rule has the command run where nothing is confined.
	Outside bool
	// Held says that it is allowed because the sandbox holds what it may touch.
	Held bool
	// Opens says that the sandbox does not give the file of the act.
	Opens bool
}

// Digest is the SHA-256 of the parts, each with its length, in hex.
func Digest(parts ...string) string {
	h := sha256.New()
	for _, p := range parts {
		h.Write([]byte(strconv.Itoa(len(p)) + ":" + p))
	}
	return hex.EncodeToString(h.Sum(nil))
}
