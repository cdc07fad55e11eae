package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"webchat/internal/daemon"
	"webchat/internal/guard"
	"webchat/internal/policy"
	"webchat/internal/proc"
	"webchat/internal/workspaces"
)

// mcpClient is a program that "webchat mcp install" can connect.
type mcpClient struct {
	name  string // as it is called here
	title string // as its users call it
	// add is the client's own command that adds a server; nil: it has none. The server
	// is what follows: a program with its arguments.
	add func(server []string) []string
	// addHTTP is the same for an address with a key; nil: it has none.
	addHTTP func(url, key string) []string
	// file is where a client without a command is told of servers, and entry what to
	// add there.
	file  string
	entry func(server []string) any
}

// mcpClients are the clients whose ways are known. The commands were run, but for
// those of Copilot, VS Code, Cursor, OpenCode and Qwen, which are as documented.
func mcpClients() []mcpClient {
	type object = map[string]any
	bearer := func(key string) string { return "Authorization: Bearer " + key }
	geminiLike := func(program string) mcpClient {
		return mcpClient{name: program,
			add: func(server []string) []string {
				return append([]string{program, "mcp", "add", "-s", "user", "webchat"}, server...)
			},
			addHTTP: func(url, key string) []string {
				return []string{program, "mcp", "add", "-t", "http", "webchat", url, "-H", bearer(key), "-s", "user"}
			}}
	}
	gemini, qwen := geminiLike("gemini"), geminiLike("qwen")
	gemini.title, qwen.title = "Gemini CLI", "Qwen Code"
	return []mcpClient{
		{name: "claude", title: "Claude Code",
			add: func(server []string) []string {
				return append([]string{"claude", "mcp", "add", "--scope", "user", "webchat", "--"}, server...)
			},
			addHTTP: func(url, key string) []string {
				return []string{"claude", "mcp", "add", "--transport", "http", "webchat", url, "--header", bearer(key)}
			}},
		{name: "codex", title: "Codex",
			add: func(server []string) []string {
				return append([]string{"codex", "mcp", "add", "webchat", "--"}, server...)
			},
			addHTTP: func(url, _ string) []string { // it reads the key from the environment, so that no file has it
				return []string{"codex", "mcp", "add", "webchat", "--url", url, "--bearer-token-env-var", "WEBCHAT_MCP_KEY"}
			}},
		gemini,
		{name: "copilot", title: "Copilot CLI",
			add: func(server []string) []string {
				return append([]string{"copilot", "mcp", "add", "webchat", "--"}, server...)
			},
			addHTTP: func(url, key string) []string {
				return []string{"copilot", "mcp", "add", "--transport", "http", "webchat", url, "--header", bearer(key)}
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

// mcpInstall connects a client: it shows what it would change, asks, and has the
// client's own command do it.
func mcpInstall(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	dir, g, err := o.credentials()
	if err != nil {
		return err
	}
	if o.Client == "" {
		return o.listClients(dir, g, stdout)
	}
	for _, c := range mcpClients() {
		if c.name == o.Client {
			return o.install(ctx, c, dir, g, stdout, stderr)
		}
	}
	return usage("webchat mcp install knows %s; run it without a name for the address and the key that any other client takes", strings.Join(clientNames(), ", "))
}

func clientNames() (names []string) {
	for _, c := range mcpClients() {
		names = append(names, c.name)
	}
	return names
}

// listClients says what can be connected and how anything else is.
func (o *options) listClients(dir string, g *guard.Guard, w io.Writer) error {
	server, err := o.mcpCommand()
	if err != nil {
		return err
	}
	fmt.Fprintf(w, "webchat mcp install CLIENT connects one of these: %s\n\nAny other client takes this as a server on stdio: %s\n", strings.Join(clientNames(), ", "), commandLine(server))
	url, key, err := o.mcpAddress(dir, g, "other")
	if err != nil {
		fmt.Fprintf(w, "A running server can be reached over HTTP, too; %v.\n", err)
		return nil
	}
	fmt.Fprintf(w, "Or over HTTP: %s with the header \"Authorization: Bearer %s\"\n", url, key)
	return nil
}

// mcpCommand is the program that clients start.
func (o *options) mcpCommand() ([]string, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("find this program: %w", err)
	}
	server := []string{self, "mcp"}
	if o.DataDir != "" {
		server = append(server, "--data-dir", o.DataDir)
	}
	return server, nil
}

// mcpAddress is where the running server lends its tools in the workspace, with a key
// for one client.
func (o *options) mcpAddress(dir string, g *guard.Guard, client string) (url, key string, err error) {
	workspace, err := o.workspaceDir()
	if err != nil {
		return "", "", err
	}
	info, err := daemon.Read(dir)
	if err != nil || info.URL == "" {
		return "", "", errors.New("start webchat first, with a --listen address that stays")
	}
	id := workspaces.ID(workspace)
	key, err = g.MCPKey(client + "-" + id)
	return info.URL + "/mcp/w/" + id, key, err
}

func (o *options) install(ctx context.Context, c mcpClient, dir string, g *guard.Guard, stdout, stderr io.Writer) error {
	server, err := o.mcpCommand()
	if err != nil {
		return err
	}
	if c.add == nil {
		fmt.Fprintf(stdout, "%s has no command for this. Add this to %s:\n\n%s\n", c.title, c.file, asJSON(c.entry(server), "  "))
		return nil
	}
	args, hint := c.add(server), fmt.Sprintf("From then on %s starts webchat in the folder it works in.", c.title)
	if o.HTTP {
		if c.addHTTP == nil {
			return usage("%s takes no address by its command: leave out --http", c.title)
		}
		url, key, err := o.mcpAddress(dir, g, c.name)
		if err != nil {
			return err
		}
		args, hint = c.addHTTP(url, key), fmt.Sprintf("From then on %s shows things in the server at %s, in its workspace.", c.title, url)
		if !strings.Contains(strings.Join(args, " "), key) {
			hint += fmt.Sprintf(" Start it with WEBCHAT_MCP_KEY=%s in its environment.", key)
		}
	}
	fmt.Fprintf(stdout, "This changes the settings of %s, by its own command:\n\n    %s\n\n%s\n", c.title, commandLine(args), hint)
	if !o.Yes && !agreed(stdout) {
		fmt.Fprintln(stdout, "Nothing was changed.")
		return nil
	}
	child, err := proc.Start(proc.Command{Args: args, Env: policy.InheritWhole(o.env, nil), Output: stdout})
	if errors.Is(err, proc.ErrNotFound) {
		return fmt.Errorf("%s is not on PATH: install %s, or run that line where it is", args[0], c.title)
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

// agreed asks on standard input.
func agreed(w io.Writer) bool {
	fmt.Fprint(w, "\nGo on? [y/N] ")
	line, _ := bufio.NewReader(os.Stdin).ReadString('\n') // no answer means no
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
