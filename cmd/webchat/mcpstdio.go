package main

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"

	"webchat/internal/daemon"
)

const (
	// startTime is how long a server that starts meanwhile may take until it can be
	// joined, startTick how often that is tried.
	startTime = 10 * time.Second
	startTick = 50 * time.Millisecond
	// lastAnswers is how long a running server may take for what a client asked before it
	// ended; it stops the rest by itself sooner than that.
	lastAnswers = 900 * time.Millisecond
)

// mcpOnStdio lends the display tools to one MCP client on standard input and output:
// it joins the running server of the data folder, and starts one first if there is none.
// That stays when the client ends; with --own, and in a container, this process is the
// server.
func mcpOnStdio(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	workspace, err := o.workspaceDir()
	if err != nil {
		return err
	}
	dir, g, err := o.credentials()
	if err != nil {
		return err
	}
	running := daemon.Client{Dir: dir, Token: g.Token()}
	return joined(ctx, func() (bool, error) {
		conn, err := running.Lend(ctx, workspace)
		if err != nil {
			return false, err
		}
		return true, join(ctx, conn, os.Stdin, stdout)
	}, o.mcpServer(ctx, dir, workspace, stdout, stderr))
}

// mcpServer returns what starts a server for an MCP client in a folder.
func (o *options) mcpServer(ctx context.Context, dir, workspace string, stdout,
	stderr io.Writer) func() error {
	if !o.Own && !o.container {
		return daemon.Starter(dir, stderr, func() ([]string, []string, error) {
			line, err := o.server([]string{workspace})
			return line, unmarked(o.env), err
		})
	}
	return func() error {
		alone := *o
		alone.NoOpen = true // programs start this, more often than a page is wanted
		return alone.serve(ctx, []string{workspace}, io.Discard, stderr,
			beside{ends: true, run: func(ctx context.Context, r *rooms, _ func(string) error) error {
				serve, err := r.lender.In(workspace)
				if err != nil {
					return err
				}
				return serve(ctx, stdio{os.Stdin, stdout})
			}})
	}
}

// marks are variables by which MCP clients mark what they start, as whole names or, with
// a star, as beginnings or ends. A client may find what it ends by them, and an agent of
// the server would take itself for a part of the client.
var marks = []string{"AI_AGENT", "CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT", "CLAUDE_CODE_MESSAGING_*",
	"CLAUDE_CODE_SSE_PORT", "CLAUDE_PROJECT_DIR", "CODEX_SANDBOX*", "COPILOT_AGENT_*",
	"COPILOT_CLI*", "CURSOR_AGENT", "GEMINI_CLI", "OPENCODE", "QWEN_CODE", "*_SESSION_ID",
	"*_THREAD_ID"}

// unmarked returns an environment without the marks of a client.
func unmarked(env []string) []string {
	return slices.DeleteFunc(slices.Clone(env), func(kv string) bool {
		name, _, _ := strings.Cut(kv, "=")
		return slices.ContainsFunc(marks, func(mark string) bool {
			ok, _ := path.Match(mark, name)
			return ok
		})
	})
}

// join carries bytes between a client and the running server until either ends.
func join(ctx context.Context, conn *daemon.Lent, stdin io.Reader, stdout io.Writer) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	go func() { // ends with the process: nothing else interrupts a read
		_, _ = io.Copy(conn, stdin) // that the server has gone is noticed below
		_ = conn.CloseWrite()
		time.AfterFunc(lastAnswers, stop)
	}()
	_, err := io.Copy(stdout, conn)
	if ctx.Err() != nil {
		return nil
	}
	return errors.Join(err, conn.Close())
}

// stdio is standard input and output as one connection.
type stdio struct {
	io.ReadCloser
	io.Writer
}
