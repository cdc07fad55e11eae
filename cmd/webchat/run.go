package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"
)

// Exit statuses.
const (
	exitOK      = 0
	exitFailure = 1 // something went wrong
	exitUsage   = 2 // arguments or configuration cannot be used
)

// usageError is about what the user asked for, not about what happened.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usage(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// command is something webchat can do.
type command struct {
	name, about string
	run         func(ctx context.Context, o *options, stdout, stderr io.Writer) error
}

func commands() []command {
	return []command{
		{"serve", "start the server (the default)", serve},
		{"url", "print a fresh one-time sign-in link of the running server", printURL},
		{"token", "print the API token, for curl", printToken},
		{"mcp", "lend the display tools to an MCP client on standard input and output", mcpOnStdio},
		{"mcp install", "connect an MCP client, such as claude or codex, after showing what will change", mcpInstall},
		{"logout", "revoke every sign-in", logout},
		{"doctor", "say what was found and what works", doctor},
		{"verify", "have a file shown and fail if anything of it reaches the model", verify},
		{"version", "print the version", printVersion},
		{"sessions prune", "delete sessions not used for --older-than and give their room back to the disk", pruneSessions},
	}
}

// run is the whole program; it returns the exit status. One clear line on stderr
// says why it is not 0.
func run(ctx context.Context, args, env []string, stdout, stderr io.Writer) int {
	err := dispatch(ctx, args, env, stdout, stderr)
	if err == nil {
		return exitOK
	}
	fmt.Fprintln(stderr, "webchat: "+oneLine(err))
	if _, ok := errors.AsType[*usageError](err); ok {
		return exitUsage
	}
	return exitFailure
}

func dispatch(ctx context.Context, args, env []string, stdout, stderr io.Writer) error {
	name := "serve"
	if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = args[0], args[1:]
	}
	if name == "sessions" && len(args) > 0 && !strings.HasPrefix(args[0], "-") {
		name, args = name+" "+args[0], args[1:]
	}
	client := ""
	if name == "mcp" && len(args) > 0 && args[0] == "install" {
		name, args = "mcp install", args[1:]
		if len(args) > 0 && !strings.HasPrefix(args[0], "-") {
			client, args = args[0], args[1:]
		}
	}
	var names []string
	for _, c := range commands() {
		if names = append(names, c.name); c.name != name {
			continue
		}
		o, err := parseOptions(args, env)
		if errors.Is(err, flag.ErrHelp) {
			return help(stdout)
		}
		if err != nil {
			return err
		}
		o.client = client
		return c.run(ctx, o, stdout, stderr)
	}
	if name == "help" {
		return help(stdout)
	}
	return usage("there is no command %q; there are %s", name, strings.Join(names, ", "))
}

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
}

func help(w io.Writer) error {
	fmt.Fprint(w, "webchat [command] [flags]\n\ncommands:\n")
	for _, c := range commands() {
		fmt.Fprintf(w, "  %-14s %s\n", c.name, c.about)
	}
	fmt.Fprint(w, "\nflags, each also as an environment variable (--output-ttl as WEBCHAT_OUTPUT_TTL):\n")
	flags, _ := newFlags()
	flags.SetOutput(w)
	flags.VisitAll(func(f *flag.Flag) {
		def := ""
		if f.DefValue != "" && f.DefValue != "false" {
			def = " (" + f.DefValue + ")"
		}
		fmt.Fprintf(w, "  --%-20s %s%s\n", f.Name, f.Usage, def)
	})
	return nil
}

func printVersion(_ context.Context, _ *options, stdout, _ io.Writer) error {
	_, err := fmt.Fprintf(stdout, "webchat %s %s %s/%s\n", version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
	return err
}

// version is what the program was built from, as far as the build knew.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" {
			return "devel-" + s.Value[:min(12, len(s.Value))]
		}
	}
	return "devel"
}
