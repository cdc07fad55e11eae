// How clients are connected with webchat: the commands and files by which they learn of a server.
// What would change is shown and asked about, and the client's own command does it.

package mcp

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"webchat/internal/proc"
)

// Installation is what an installation works with; all of it is needed but HTTP and Yes.
type Installation struct {
	// Server is the command that a client starts to reach webchat on stdio.
	Server []string
	// Address is where the running server lends its tools over HTTP, with a key for one client; it
	// fails if no server runs.
	Address func(client string) (url, key string, err error)
	Env     []string  // of the client's command
	In      io.Reader // where the user answers
	Out     io.Writer // where the user reads
	HTTP    bool      // connect by the address instead of by the command
	Yes     bool      // do not ask
}

// Misuse is an error that says what cannot be asked for, and what can.
type Misuse string

// Error implements error.
func (m Misuse) Error() string { return string(m) }

// installClient is a program that "webchat mcp install" can connect.
type installClient struct {
	name  string // as it is called here
	title string // as its users call it
	// add is the client's own command that adds a server; nil: it has none. The server is what
	// follows: a program with its arguments.
	add func(server []string) []string
	// addHTTP is the same for an address; nil: it has none. The client reads the key from its
	// environment when it connects: everybody can read the arguments of a command.
	addHTTP func(url string) []string
	// file is where a client without a command is told of servers, and entry what to add there.
	file  string
	entry func(server []string) any
}

// keyVariable holds a client's key in its environment, and keyHeader is where clients that put
// variables into headers get it from.
const (
	keyVariable = "WEBCHAT_MCP_KEY"
	keyHeader   = "Authorization: Bearer ${" + keyVariable + "}"
)

// installClients are the clients whose ways are known. The commands were run, but for those of VS
// Code, Cursor, OpenCode and Qwen, which are as documented. Claude Code 2.1.316 and Copilot 1.0.102
// were seen to send the key of the variable; that Gemini and Qwen do is documented.
func installClients() []installClient {
	type object = map[string]any
	geminiLike := func(program string) installClient {
		return installClient{name: program,
			add: func(server []string) []string {
				return append([]string{program, "mcp", "add", "-s", "user", "webchat"}, server...)
			},
			addHTTP: func(url string) []string {
				return []string{program, "mcp", "add", "-t", "http", "webchat", url, "-H", keyHeader, "-s", "user"}
			}}
	}
	gemini, qwen := geminiLike("gemini"), geminiLike("qwen")
	gemini.title, qwen.title = "Gemini CLI", "Qwen Code"
	return []installClient{
		{name: "claude", title: "Claude Code",
			add: func(server []string) []string {
				return append([]string{"claude", "mcp", "add", "--scope", "user", "webchat", "--"}, server...)
			},
			addHTTP: func(url string) []string {
				return []string{"claude", "mcp", "add", "--transport", "http", "webchat", url, "--header", keyHeader}
			}},
		{name: "codex", title: "Codex",
			add: func(server []string) []string {
				return append([]string{"codex", "mcp", "add", "webchat", "--"}, server...)
			},
			addHTTP: func(url string) []string {
				return []string{"codex", "mcp", "add", "webchat", "--url", url, "--bearer-token-env-var", keyVariable}
			}},
		gemini,
		{name: "copilot", title: "Copilot CLI",
			add: func(server []string) []string {
				return append([]string{"copilot", "mcp", "add", "webchat", "--"}, server...)
			},
			addHTTP: func(url string) []string {
				return []string{"copilot", "mcp", "add", "--transport", "http", "webchat", url, "--header", keyHeader}
			}},
		{name: "vscode", title: "VS Code", add: func(server []string) []string {
			return []string{"code", "--add-mcp", asJSON(object{"name": "webchat", "type": "stdio", "command": server[0], "args": server[1:], "cwd": "${workspaceFolder}"}, "")}
		}},
		{name: "cursor", title: "Cursor", file: ".cursor/mcp.json", entry: func(server []string) any {
			return object{"mcpServers": object{"webchat": object{"command": server[0], "args": append(server[1:len(server):len(server)], "--workspace", "${workspaceFolder}")}}}
		}},
		{name: "opencode", title: "OpenCode", file: "opencode.json", entry: func(server []string) any {
			return object{"mcp": object{"webchat": object{"type": "local", "command": server, "enabled": true}}}
		}},
		qwen,
	}
}

func asJSON(v any, indent string) string {
	marshal := json.Marshal
	if indent != "" {
		marshal = func(v any) ([]byte, error) { return json.MarshalIndent(v, "", indent) }
	}
	b, err := marshal(v)
	if err != nil {
		panic(err) // strings in maps
	}
	return string(b)
}

func names() (names []string) {
	for _, c := range installClients() {
		names = append(names, c.name)
	}
	return names
}

// List says what can be connected and how anything else is.
func (c Installation) List() error {
	fmt.Fprintf(c.Out, "webchat mcp install CLIENT connects one of these: %s\n\nAny other client takes this as a server on stdio: %s\n", strings.Join(names(), ", "), commandLine(c.Server))
	url, key, err := c.Address("other")
	if err != nil {
		fmt.Fprintf(c.Out, "A running server can be reached over HTTP, too; %v.\n", err)
		return nil
	}
	fmt.Fprintf(c.Out, "Or over HTTP: %s with the header \"Authorization: Bearer %s\"\n", url, key)
	return nil
}

// Connect connects a client: it shows what it would change, asks, and has the client's own command
// do it. The error is a [Misuse] if there is no such client, or it cannot be connected that way.
func (c Installation) Connect(ctx context.Context, name string) error {
	i := slices.IndexFunc(installClients(), func(one installClient) bool { return one.name == name })
	if i < 0 {
		return Misuse(fmt.Sprintf("webchat mcp install knows %s; run it without a name for the address and the key that any other client takes", strings.Join(names(), ", ")))
	}
	to := installClients()[i]
	if to.add == nil {
		fmt.Fprintf(c.Out, "%s has no command for this. Add this to %s:\n\n%s\n", to.title, to.file, asJSON(to.entry(c.Server), "  "))
		return nil
	}
	args, hint := to.add(c.Server), fmt.Sprintf("From then on %s starts webchat in the folder it works in.", to.title)
	if c.HTTP {
		if to.addHTTP == nil {
			return Misuse(fmt.Sprintf("%s takes no address by its command: leave out --http", to.title))
		}
		url, key, err := c.Address(to.name)
		if err != nil {
			return err
		}
		args, hint = to.addHTTP(url), fmt.Sprintf("From then on %s shows things in the server at %s, in its workspace. Start it with %s=%s in its environment.", to.title, url, keyVariable, key)
	}
	fmt.Fprintf(c.Out, "This changes the settings of %s, by its own command:\n\n    %s\n\n%s\n", to.title, commandLine(args), hint)
	if !c.Yes && !Agreed(c.Out, c.In) {
		fmt.Fprintln(c.Out, "Nothing was changed.")
		return nil
	}
	return c.run(ctx, to, args)
}

// run runs a client's own command to its end.
func (c Installation) run(ctx context.Context, to installClient, args []string) error {
	child, err := proc.Start(proc.Command{Args: args, Env: c.Env, Output: c.Out})
	if errors.Is(err, proc.ErrNotFound) {
		return fmt.Errorf("%s is not on PATH: install %s, or run that line where it is", args[0], to.title)
	}
	if err != nil {
		return err
	}
	exit, err := child.Wait()
	_, stopped := child.Stop(ctx)
	if err = errors.Join(err, stopped); err == nil && exit.Code != 0 {
		err = fmt.Errorf("%s ended with %d; what it printed says why", args[0], exit.Code)
	}
	return err
}

// Agreed asks the user whether to go on.
func Agreed(out io.Writer, in io.Reader) bool {
	fmt.Fprint(out, "\nGo on? [y/N] ")
	line, _ := bufio.NewReader(in).ReadString('\n') // no answer means no
	line = strings.ToLower(strings.TrimSpace(line))
	return line == "y" || line == "yes"
}

// commandLine is a command as a shell takes it.
func commandLine(args []string) string {
	quoted := make([]string, len(args))
	for i, a := range args {
		if quoted[i] = a; a == "" || strings.ContainsFunc(a, func(r rune) bool { return !strings.ContainsRune(plainChars, r) }) {
			quoted[i] = "'" + strings.ReplaceAll(a, "'", `'\''`) + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// plainChars need no quotes in any shell.
const plainChars = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=@+,"
