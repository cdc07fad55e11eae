package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"runtime/debug"
	"strings"

	"webchat/internal/store"
)

// Exit statuses.
const (
	exitOK      = 0
	exitFailure = 1 // something went wrong
	exitUsage   = 2 // arguments or configuration cannot be used
	exitFenced  = 3 // others may have the sessions of this server: start it again
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
	if errors.Is(err, store.ErrFenced) {
		return exitFenced
	}
	return exitFailure
}

func dispatch(ctx context.Context, args, env []string, stdout, stderr io.Writer) error {
	if line, _ := lookup(env, "COMP_LINE"); line != "" {
		return completeLine(stdout)
	}
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
	return strings.Join(strings.FieldsFunc(err.Error(), func(r rune) bool {
		return r == '\n' || r == '\r'
	}), "; ")
}

func printVersion(_ context.Context, _ *options, stdout, _ io.Writer) error {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		info = &debug.BuildInfo{}
	}
	_, err := fmt.Fprintf(stdout, "webchat %s %s %s/%s\n", described(info), runtime.Version(),
		runtime.GOOS, runtime.GOARCH)
	return err
}

// version is what the program was built from, as far as the build knew.
func version() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "unknown"
	}
	return versionOf(info)
}

func versionOf(info *debug.BuildInfo) string {
	if v := info.Main.Version; v != "" && v != "(devel)" {
		return v
	}
	if commit := setting(info, "vcs.revision"); commit != "" {
		return "devel-" + commit[:min(12, len(commit))]
	}
	return "devel"
}

// described is the version with the commit and its date, if the build knew them.
func described(info *debug.BuildInfo) string {
	text := versionOf(info)
	if commit := setting(info, "vcs.revision"); commit != "" {
		text += " commit " + commit
		if setting(info, "vcs.modified") == "true" {
			text += " with changes"
		}
		if date := setting(info, "vcs.time"); date != "" {
			text += " of " + date
		}
	}
	return text
}

func setting(info *debug.BuildInfo, key string) string {
	for _, s := range info.Settings {
		if s.Key == key {
			return s.Value
		}
	}
	return ""
}
