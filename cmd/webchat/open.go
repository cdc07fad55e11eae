package main

import (
	"bufio"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/mattn/go-isatty"

	"webchat/internal/daemon"
	"webchat/internal/files"
	"webchat/internal/mcp"
	"webchat/internal/policy"
)

// opener opens folders and files, and reports on two streams.
type opener struct {
	*options
	stdout, stderr io.Writer
}

// open is "webchat", "webchat DIR" and "webchat open": it opens folders, or shows a
// file, in the running server of the data folder, or starts one with them.
func open(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	shows := opener{o, stdout, stderr}
	what, err := shows.opening()
	if err != nil {
		return err
	}
	dir, g, err := o.credentials()
	if err != nil {
		return err
	}
	running := daemon.Client{Dir: dir, Token: g.Token()}
	return joined(ctx, func() (bool, error) {
		link, err := running.Open(ctx, what)
		if err != nil {
			return false, err
		}
		return true, shows.present(dir, link)
	}, func() error {
		return o.serve(ctx, what.Folders, stdout, stderr,
			beside{run: func(ctx context.Context, r *rooms, present func(string) error) error {
				link := r.handover.Link("")
				if what.File == "" && !what.Worktree { // it begins in the first folder
					return present(link)
				}
				shown, err := r.handover.Open(ctx, what)
				if err == nil {
					link = shown
				}
				return errors.Join(err, present(link))
			}})
	})
}

// show is "webchat show": it shows standard input in the running server, or in one that
// it starts and that stays.
func show(ctx context.Context, o *options, stdout, stderr io.Writer) error {
	shows := opener{o, stdout, stderr}
	what, err := shows.opening()
	if err != nil {
		return err
	}
	what.Name = o.Name
	dir, g, err := o.credentials()
	if err != nil {
		return err
	}
	running := daemon.Client{Dir: dir, Token: g.Token()}
	return joined(ctx, func() (bool, error) {
		conn, err := running.Show(ctx, what)
		if err != nil {
			return false, err
		}
		return true, shows.pipe(ctx, conn, dir, os.Stdin)
	}, func() error {
		return o.serve(ctx, what.Folders, stdout, stderr,
			beside{run: func(ctx context.Context, r *rooms, present func(string) error) error {
				in, writes := io.Pipe() // which can be closed while standard input is waited for
				go func() {
					_, err := io.Copy(writes, os.Stdin)
					_ = writes.CloseWithError(err) // never fails
				}()
				return r.handover.Input(ctx, what, in, func(link string) {
					if err := present(link); err != nil {
						fmt.Fprintln(stderr, "webchat:", err)
					}
				})
			}})
	})
}

// present prints a sign-in link and opens it in the browser.
func (o opener) present(dir, link string) error {
	if _, err := fmt.Fprintln(o.stdout, link); err != nil {
		return fmt.Errorf("print the sign-in link: %w", err)
	}
	if !o.mayOpen() {
		return nil
	}
	c, err := o.loadConfig()
	if err == nil {
		err = daemon.OpenBrowser(dir, link, policy.InheritWhole(o.env, c.keyVariables()))
	}
	if err != nil {
		fmt.Fprintf(o.stderr, "webchat: the browser was not opened: open the printed link (%v)\n", err)
	}
	return nil
}

// pipe carries standard input to the running server until its end, or until the page
// stops it.
func (o opener) pipe(ctx context.Context, conn *daemon.Lent, dir string, stdin io.Reader) error {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	ended := make(chan struct{})
	go func() { // ends with the process: nothing else interrupts a read
		_, err := io.Copy(conn, stdin)
		if err == nil {
			close(ended)
		}
		_ = conn.CloseWrite() // that the server has gone is noticed below
	}()
	lines := bufio.NewScanner(conn)
	for lines.Scan() {
		var shown daemon.Shown
		if err := json.Unmarshal(lines.Bytes(), &shown); err != nil {
			return err
		}
		if shown.Error != "" {
			return errors.New(shown.Error)
		}
		if err := o.present(dir, shown.URL); err != nil {
			return err
		}
	}
	if ctx.Err() != nil { // which closed the connection
		return nil
	}
	select {
	case <-ended:
		return errors.Join(lines.Err(), conn.Close())
	default:
	}
	return errors.New("stopped before standard input ended: run it again to see the rest")
}

// joined has the running server do something, or starts one that does. Of two that start
// at once the later one joins the other. join reports whether it did.
func joined(ctx context.Context, join func() (bool, error), serve func() error) error {
	limit, tick := time.After(startTime), time.NewTicker(startTick)
	defer tick.Stop()
	for {
		did, err := join()
		switch {
		case did:
			return err
		case errors.Is(err, daemon.ErrRefused):
			return &usageError{err.Error()}
		case errors.Is(err, daemon.ErrUnable):
			return err
		}
		none := serve()
		if !errors.Is(none, daemon.ErrInUse) {
			return none
		}
		select { // another one is starting
		case <-tick.C:
		case <-limit:
			if errors.Is(err, daemon.ErrNone) {
				return none
			}
			return err
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// opening is what the command line asks to be opened, as far as it is known without
// a server. Unusual folders are asked about once, if somebody sits at the terminal.
func (o opener) opening() (what daemon.Opening, err error) {
	if what.Folders, err = o.workspaceDirs(); err != nil {
		return what, err
	}
	if o.Where != "" {
		first, file, line, err := o.place(o.Where)
		if err != nil {
			return what, err
		}
		if what.File, what.Line = file, line; !o.workspaceGiven {
			what.Folders = nil
		}
		what.Folders = append([]string{first}, what.Folders...)
	}
	if what.Worktree = o.Worktree; what.Worktree && what.File != "" {
		return what, usage("--worktree is of a folder, and %s is a file", o.Where)
	}
	what.Flags = map[string]string{}
	for _, f := range o.given {
		if !slices.Contains([]string{"workspace", "data-dir", "no-open"}, f.name) {
			what.Flags[f.name] = f.value
		}
	}
	if err := readable(what.File); err != nil {
		return what, err
	}
	for _, folder := range what.Folders {
		if err := readable(folder); err != nil {
			return what, err
		}
		if err := o.agree(folder); err != nil {
			return what, err
		}
	}
	return what, nil
}

// atLine is a file with the line to go to, as compilers print it.
var atLine = regexp.MustCompile(`^(.+?):(\d+)(?::\d+)?:?$`)

// place finds what a word of the command line names: a folder, or a file with the
// workspace it is shown in: the innermost one that is open, else its repository, else
// its folder.
func (o opener) place(word string) (folder, file string, line int, err error) {
	real, err := resolved(word)
	if m := atLine.FindStringSubmatch(word); err != nil && m != nil {
		if real, err = resolved(m[1]); err == nil {
			line, err = strconv.Atoi(m[2])
		}
	}
	if err != nil && strings.ContainsAny(word, `./\`) { // it is not meant as a command
		return "", "", 0, usage("there is no file or folder %q; check its name", word)
	}
	if err != nil {
		return "", "", 0, usage("there is no file or folder %q, and no such command; there are %s", word,
			strings.Join(o.commands, ", "))
	}
	info, err := os.Stat(real)
	switch {
	case err != nil:
		return "", "", 0, usage("%s: %v", word, daemon.Plain(err))
	case info.IsDir():
		return real, "", 0, nil
	}
	open, _ := files.Peek(o.documents(o.dataPath()))
	for _, w := range open {
		if rel, err := filepath.Rel(w, real); err == nil && filepath.IsLocal(rel) &&
			len(w) > len(folder) {
			folder = w
		}
	}
	if folder == "" {
		folder = cmp.Or(files.RepositoryOf(filepath.Dir(real)), filepath.Dir(real))
	}
	return folder, real, line, nil
}

func resolved(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}

// atTerminal reports whether somebody at a terminal reads or writes a stream.
func atTerminal(stream any) bool {
	f, ok := stream.(*os.File)
	return ok && (isatty.IsTerminal(f.Fd()) || isatty.IsCygwinTerminal(f.Fd()))
}

// agree asks whether a folder is meant that is unusual as a workspace and was never
// open.
func (o opener) agree(folder string) error {
	why := files.Warn(folder, o.home())
	if why == "" || o.container || !atTerminal(os.Stdin) {
		return nil
	}
	if _, known := files.Peek(o.documents(o.dataPath())); slices.Contains(known, folder) {
		return nil
	}
	fmt.Fprintf(o.stderr, "%s: %s", folder, strings.TrimSpace(why.Text()))
	if !mcp.Agreed(o.stderr, os.Stdin) {
		return errors.New("nothing was opened: give another folder, such as webchat ~/code/relay")
	}
	return nil
}
