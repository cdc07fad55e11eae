package main

import (
	"context"
	"fmt"
	"io"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/kong"
)

// cli is every command and flag. A flag that stands here belongs to one
// command, those of Options to all.
type cli struct {
	Options options `embed:""`

	Serve struct {
		Where string `arg:"" optional:"" name:"folder" help:"as webchat open"`
	} `cmd:"" default:"withargs" help:"start the server, or open the folder in the one that runs (the default)"`
	Open struct {
		Where    string `arg:"" name:"folder" help:"a folder, a file, or FILE:LINE"`
		Worktree bool   `help:"begin a session in a git worktree of its own of the folder's repository"`
	} `cmd:"" help:"open a folder in the running server, or show a file there; starts one if none runs"`
	Show struct {
		Name string `default:"standard input" help:"what it is called"`
	} `cmd:"" help:"show standard input in the running server while it comes"`
	Attach struct {
		Session string `arg:"" optional:"" help:"its id, as the address of its page ends; without it, the session in which something happened last"`
	} `cmd:"" help:"follow a session in the terminal, and answer its questions there"`
	URL   struct{} `cmd:"" name:"url" help:"print a fresh one-time sign-in link of the running server"`
	Token struct {
		MCP  bool   `name:"mcp" help:"print the token that works for MCP only"`
		User string `placeholder:"NAME" help:"make one that acts as this user, where people sign in as themselves"`
	} `cmd:"" help:"print the API token, for curl"`
	MCP struct {
		Stdio struct {
			Own bool `help:"if no server runs, start one that ends with the client, instead of one that stays"`
		} `cmd:"" default:"withargs" help:"lend the display tools to an MCP client on standard input and output; webchat mcp does the same"`
		Install struct {
			Client string `arg:"" optional:"" help:"such as claude or codex; without it, print the settings for any other client"`
			HTTP   bool   `name:"http" help:"over HTTP to the running server, instead of starting a program"`
			Yes    bool   `help:"do not ask"`
		} `cmd:"" help:"connect an MCP client, such as claude or codex, after showing what will change"`
		Login struct {
			Client string `arg:"" name:"server" help:"its name under mcpServers in config.yaml"`
		} `cmd:"" help:"sign in to an MCP server of yours in the browser, for the agents in the page"`
	} `cmd:"" name:"mcp"`
	Stop   struct{} `cmd:"" help:"end the running server"`
	Logout struct {
		User string `placeholder:"NAME" help:"only those of this user"`
	} `cmd:"" help:"revoke every sign-in and users' tokens, or those of one user"`
	Doctor struct {
		Online bool `help:"also ask each configured model for one token"`
	} `cmd:"" help:"check agents, models and settings, and show what works"`
	Verify struct {
		Replay bool `help:"send nothing, and print what looking has cost in the sessions of Claude Code, Codex and the Copilot CLI on this machine"`
		JSON   bool `name:"json" help:"with --replay: print all of it as JSON"`
	} `cmd:"" help:"show a file, and fail if any of it reaches the model; with --replay, see what looking has cost elsewhere"`
	Version  struct{} `cmd:"" help:"print the version"`
	Sessions struct {
		Prune struct {
			OlderThan age `placeholder:"AGE" help:"how long a session was not used, such as 90d"`
		} `cmd:"" help:"delete sessions unused for --older-than and free their disk space"`
	} `cmd:""`
	Move struct {
		Back bool `help:"from the database to the data folder"`
	} `cmd:"" help:"copy the sessions of the data folder to the database of --engine-file, and compare them; what is there is left"`
	Service struct {
		Install struct{} `cmd:"" help:"start the server when you log in, with the flags given here"`
		Status  struct{} `cmd:"" help:"show whether it is set up, and whether it runs"`
		Remove  struct{} `cmd:"" help:"no longer start the server when you log in"`
	} `cmd:""`
	Completion struct {
		Shell string `arg:"" enum:"bash,zsh,fish,powershell" help:"bash, zsh, fish or powershell"`
	} `cmd:"" help:"print the completion script of a shell"`
}

// givenFlag is a flag of the server that the command line or the environment has.
type givenFlag struct{ name, value string }

// command is something webchat can do.
type command func(ctx context.Context, o *options, stdout, stderr io.Writer) error

var commands = map[string]command{
	"serve": open, "open": open, "show": show, "attach": attach, "url": printURL, "token": printToken,
	"mcp stdio": mcpOnStdio, "mcp install": mcpInstall, "mcp login": mcpLogin, "stop": stopServer,
	"logout": logout, "doctor": doctor,
	"verify": verify, "version": printVersion, "sessions prune": pruneSessions, "move": moveSessions,
	"service install": installService, "service status": serviceStatus,
	"service remove": removeService, "completion": printCompletion,
}

func newCLI(env []string) (*cli, *kong.Kong, error) {
	c := &cli{}
	k, err := kong.New(c, kong.Name("webchat"),
		kong.Description(
			"Each flag is also an environment variable: --output-ttl is WEBCHAT_OUTPUT_TTL."),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true, FlagsLast: true, WrapUpperBound: 120}),
		kong.Vars{"listen": defaultListen}, kong.Resolvers(environment(env)))
	return c, k, err
}

// environment gives the flags that are not on the command line the values of their
// variables: --output-ttl that of WEBCHAT_OUTPUT_TTL.
func environment(env []string) kong.Resolver {
	return kong.ResolverFunc(func(_ *kong.Context, _ *kong.Path, f *kong.Flag) (any, error) {
		name := "WEBCHAT_" + strings.ToUpper(strings.ReplaceAll(f.Name, "-", "_"))
		value, ok := lookup(env, name)
		if !ok || value == "" {
			return nil, nil
		}
		tried := reflect.New(f.Target.Type()).Elem()
		if err := f.Parse(kong.Scan().PushTyped(value, kong.FlagValueToken), tried); err != nil {
			_, why, _ := strings.Cut(err.Error(), ": ")
			return nil, fmt.Errorf("invalid value %q of %s: %s", value, name, why)
		}
		return value, nil
	})
}

// readable refuses names that no JSON can hold, and so neither the log nor the page.
func readable(name string) error {
	if !utf8.ValidString(name) {
		return usage("%q is not UTF-8: rename that file or folder", name)
	}
	return nil
}

// parse reads the command line, then the environment for flags not given, and
// returns what to do and how.
func parse(args, env []string) (name string, o *options, err error) {
	c, k, err := newCLI(env)
	if err != nil {
		return "", nil, err
	}
	for _, arg := range args {
		if err := readable(arg); err != nil {
			return "", nil, err
		}
	}
	parsed, err := k.Parse(ordered(k, args))
	if err != nil {
		return "", nil, explain(err)
	}
	o = &c.Options
	o.env = env
	o.commandOptions = commandOptions{
		OlderThan: c.Sessions.Prune.OlderThan,
		MCP:       c.Token.MCP,
		Back:      c.Move.Back,
		Own:       c.MCP.Stdio.Own,
		Online:    c.Doctor.Online,
		HTTP:      c.MCP.Install.HTTP,
		Yes:       c.MCP.Install.Yes,
		Client:    c.MCP.Install.Client + c.MCP.Login.Client,
		Shell:     c.Completion.Shell,
		Name:      c.Show.Name,
		Where:     c.Serve.Where + c.Open.Where,
		Worktree:  c.Open.Worktree,
		Session:   c.Attach.Session,
		User:      c.Logout.User + c.Token.User,
		Replay:    c.Verify.Replay,
		JSON:      c.Verify.JSON,
	}
	given := func(name string) bool {
		return slices.ContainsFunc(parsed.Path, func(p *kong.Path) bool {
			return p.Flag != nil && p.Flag.Name == name
		})
	}
	o.listenGiven, o.configGiven, o.workspaceGiven = given("listen"), given("config"),
		given("workspace")
	if err := o.absolute(); err != nil {
		return "", nil, err
	}
	o.commands, o.flags = commandNames(k), map[string]string{}
	for _, f := range k.Model.Flags {
		o.flags[f.Name] = fmt.Sprint(f.Target.Interface())
	}
	for _, p := range parsed.Path {
		if p.Flag != nil && slices.Contains(k.Model.Flags, p.Flag) {
			o.given = append(o.given, givenFlag{p.Flag.Name, fmt.Sprint(p.Flag.Target.Interface())})
		}
	}
	container, _ := lookup(env, "WEBCHAT_CONTAINER")
	o.container = container != "" && container != "0"
	return commandName(parsed.Selected()), o, o.check()
}

// ordered puts the words of a command line before its flags, which may stand anywhere.
// A line with a flag that no command has stays as it is.
func ordered(k *kong.Kong, args []string) []string {
	takesValue := map[string]bool{}
	var collect func(*kong.Node)
	collect = func(n *kong.Node) {
		for _, f := range n.Flags {
			takesValue[f.Name] = !f.IsBool()
		}
		for _, c := range n.Children {
			collect(c)
		}
	}
	collect(k.Model.Node)
	var words, flags []string
	for i := 0; i < len(args); i++ {
		a := args[i]
		if a == "--" {
			return slices.Concat(words, flags, args[i:])
		}
		if !strings.HasPrefix(a, "-") || a == "-" {
			words = append(words, a)
			continue
		}
		name, _, hasValue := strings.Cut(strings.TrimPrefix(a, "--"), "=")
		value, known := takesValue[name]
		if !known {
			return args
		}
		flags = append(flags, a)
		if value && !hasValue && i+1 < len(args) {
			i++
			flags = append(flags, args[i])
		}
	}
	return append(words, flags...)
}

// explain says what is wrong with a command line.
func explain(err error) error {
	list := "; webchat -h lists commands and flags"
	text := err.Error()
	for _, r := range inWords {
		text = r.from.ReplaceAllString(text, r.to)
	}
	switch {
	case strings.HasSuffix(text, "?"):
		list = "" // it says what may have been meant
	case strings.HasPrefix(text, "expected "):
		text = "something is missing: " + text
	}
	return usage("%s%s", text, list)
}

// inWords are the library's words for a wrong value, and ours.
var inWords = []struct {
	from *regexp.Regexp
	to   string
}{
	{regexp.MustCompile(`: expected \w+ value but got "EOL" \(<EOL>\)$`), " needs a value"},
	{regexp.MustCompile(`^expected "<shell>"$`),
		"webchat completion needs the name of a shell: bash, zsh, fish or powershell"},
	{regexp.MustCompile(`expected duration but got (".*?"): time: .*$`),
		"expected a duration such as 10m but got $1"},
	{regexp.MustCompile(`expected a valid \d+ bit int but got`), "expected a number but got"},
	{regexp.MustCompile(` \((short|long) flag\); perhaps try .*$`), ""},
	{regexp.MustCompile(`: expected \w+ value but got "(-.*?)"$`), " needs a value before $1"},
}

// commandName is a command as one types it.
func commandName(n *kong.Node) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(n.FullPath(), "webchat "), " <")
	return name
}

func commandNames(k *kong.Kong) (names []string) {
	for _, n := range k.Model.Leaves(true) {
		names = append(names, commandName(n))
	}
	return names
}

// wantsHelp reports whether args ask what can be done.
func wantsHelp(args []string) bool {
	if i := slices.Index(args, "--"); i >= 0 {
		args = args[:i]
	}
	return slices.Contains(args, "-h") || slices.Contains(args, "--help") || len(args) > 0 &&
		args[0] == "help"
}

// help says what can be done, or explains the command that args name, without the flags
// of all commands.
func help(w io.Writer, args []string) error {
	_, k, err := newCLI(nil)
	if err != nil {
		return err
	}
	if args[0] == "help" {
		args = append(slices.Clone(args[1:]), "-h")
	}
	k.Stdout = w
	asked, err := kong.Trace(k, args)
	if err != nil {
		return err
	}
	if asked.Selected() == nil {
		return asked.PrintUsage(false)
	}
	for _, f := range k.Model.Flags {
		f.Hidden = true
	}
	if err := asked.PrintUsage(false); err != nil {
		return err
	}
	_, err = fmt.Fprintln(w,
		"\nFlags of all commands, such as --workspace and --data-dir, are listed by webchat -h.")
	return err
}
