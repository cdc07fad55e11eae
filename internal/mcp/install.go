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
	"webchat/internal/wording"
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
	// add is the client's own command that adds a server; empty if it has none. SERVER is the program
	// with its arguments, JSON the same as VS Code takes it.
	add string
	// http is the same for the address URL; empty if it has none. The client reads the key from its
	// environment when it connects: everybody can read the arguments of a command.
	http string
	// file is where a client without a command has its servers, and entry what to add there.
	file  string
	entry func(server []string) any
}

// keyVariable holds a client's key in its environment.
const keyVariable = "WEBCHAT_MCP_KEY"

type object = map[string]any

// installClients are the clients whose ways are known. The commands were run, but for those of VS
// Code, Cursor, OpenCode and Qwen, which are as documented. Claude Code 2.1.316 and Copilot 1.0.102
// were seen to send the key of the variable; that Gemini and Qwen do is documented.
var installClients = []installClient{
	{name: "claude", title: "Claude Code", add: "claude mcp add --scope user webchat -- SERVER",
		http: "claude mcp add --transport http webchat URL --header HEADER"},
	{name: "codex", title: "Codex", add: "codex mcp add webchat -- SERVER",
		http: "codex mcp add webchat --url URL --bearer-token-env-var " + keyVariable},
	{name: "gemini", title: "Gemini CLI", add: "gemini mcp add -s user webchat SERVER",
		http: "gemini mcp add -t http webchat URL -H HEADER -s user"},
	{name: "copilot", title: "Copilot CLI", add: "copilot mcp add webchat -- SERVER",
		http: "copilot mcp add --transport http webchat URL --header HEADER"},
	{name: "vscode", title: "VS Code", add: "code --add-mcp JSON"},
	{name: "cursor", title: "Cursor", file: ".cursor/mcp.json", entry: func(server []string) any {
		args := slices.Concat(server[1:], []string{"--workspace", "${workspaceFolder}"})
		return object{"mcpServers": object{"webchat": object{"command": server[0], "args": args}}}
	}},
	{name: "opencode", title: "OpenCode", file: "opencode.json", entry: func(server []string) any {
		return object{"mcp": object{"webchat": object{"type": "local", "command": server,
			"enabled": true}}}
	}},
	{name: "qwen", title: "Qwen Code", add: "qwen mcp add -s user webchat SERVER",
		http: "qwen mcp add -t http webchat URL -H HEADER -s user"},
}

// command fills in a client's own command.
func (c Installation) command(template, url string) (args []string) {
	for word := range strings.FieldsSeq(template) {
		switch word {
		case "SERVER":
			args = append(args, c.Server...)
		case "JSON":
			args = append(args, asJSON(object{"name": "webchat", "type": "stdio", "command": c.Server[0],
				"args": c.Server[1:], "cwd": "${workspaceFolder}"}, ""))
		case "URL":
			args = append(args, url)
		case "HEADER": // the client puts the variable in
			args = append(args, "Authorization: Bearer ${"+keyVariable+"}")
		default:
			args = append(args, word)
		}
	}
	return args
}

// asJSON is v, in one line if indent is empty.
func asJSON(v any, indent string) string {
	var b strings.Builder
	text := json.NewEncoder(&b)
	text.SetIndent("", indent)
	if err := text.Encode(v); err != nil {
		panic(err) // strings in maps
	}
	return strings.TrimSpace(b.String())
}

func names() string {
	var all []string
	for _, c := range installClients {
		all = append(all, c.name)
	}
	return strings.Join(all, ", ")
}

// List says what can be connected and how anything else is.
func (c Installation) List() error {
	fmt.Fprintf(c.Out,
		"webchat mcp install CLIENT connects one of these: %s\n\nAny other client takes this as a "+
			"server on stdio: %s\n", names(), wording.CommandLine(c.Server...))
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
	i := slices.IndexFunc(installClients, func(client installClient) bool {
		return client.name == name
	})
	if i < 0 {
		return Misuse(
			fmt.Sprintf(
				"webchat mcp install knows %s; run it without a name for the address and the key that any "+
					"other client takes", names()))
	}
	to := installClients[i]
	if to.add == "" {
		fmt.Fprintf(c.Out, "%s has no command for this. Add this to %s:\n\n%s\n", to.title, to.file,
			asJSON(to.entry(c.Server), "  "))
		return nil
	}
	args, hint := c.command(to.add, ""),
		fmt.Sprintf("From then on %s starts webchat in the folder it works in.", to.title)
	if c.HTTP {
		if to.http == "" {
			return Misuse(fmt.Sprintf("%s takes no address by its command: leave out --http", to.title))
		}
		url, key, err := c.Address(to.name)
		if err != nil {
			return err
		}
		args, hint = c.command(to.http, url),
			fmt.Sprintf(
				"From then on %s shows things in the server at %s, in its workspace. Start it with %s=%s in "+
					"its environment.", to.title, url, keyVariable, key)
	}
	fmt.Fprintf(c.Out, "This changes the settings of %s, by its own command:\n\n    %s\n\n%s\n",
		to.title, wording.CommandLine(args...), hint)
	if !c.Yes && !Agreed(c.Out, c.In) {
		fmt.Fprintln(c.Out, "Nothing was changed.")
		return nil
	}
	return c.run(ctx, to, args)
}

// run runs a client's own command to its end.
func (c Installation) run(ctx context.Context, to installClient, args []string) error {
	exit, err := proc.Run(ctx, proc.Command{Args: args, Env: c.Env, Output: c.Out})
	switch {
	case errors.Is(err, proc.ErrNotFound):
		return fmt.Errorf("%s is not on PATH: install %s, or run that line where it is", args[0],
			to.title)
	case err == nil && exit.Code != 0:
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
