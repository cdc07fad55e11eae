package main

import (
	"context"
	"errors"
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
	if wantsHelp(args) {
		return help(stdout, args)
	}
	name, o, err := parse(args, env)
	if err != nil {
		return err
	}
	return commands[name](ctx, o, stdout, stderr)
}

func oneLine(err error) string {
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool { return r == '\n' || r == '\r' }), "; ")
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
