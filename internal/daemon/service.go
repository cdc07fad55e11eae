package daemon

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"webchat/internal/document"
	"webchat/internal/proc"
)

// ServiceConfig says what to start and where.
type ServiceConfig struct {
	System     string   // as runtime.GOOS has it
	Home       string   // the user's home folder
	ConfigHome string   // the user's configuration folder, for systemd
	Program    []string // the server and its arguments, by absolute paths
	Set        []string // variables of the server, as NAME=value
	Env        []string // the environment of the commands that are run
	Now        bool     // Install starts the server at once, unless it runs as a service
	Out        io.Writer
}

// Service has the system start webchat when its user logs in: by a user unit of systemd or by a
// launchd agent. Where there is neither it changes nothing and prints what to do by hand. A
// definition that webchat did not write is never replaced or removed. A Service belongs to one
// goroutine; two programs that install at once leave one whole definition.
type Service struct {
	ServiceConfig
	manager *serviceManager // nil: this system has none that is known
}

// serviceManager is what starts services on a system.
type serviceManager struct {
	file     string                // the definition
	text     func(*Service) string // of the definition
	load     [][]string            // commands that make the definition hold from the next login
	start    [][]string            // and at once
	unload   [][]string
	isLoaded []string
}

// serviceMark is in every definition of ours.
const serviceMark = "Written by webchat service install"

// serviceName is the service's for the system.
const serviceName = "webchat"

// NewService returns the service of c; nothing is looked at yet.
func NewService(c ServiceConfig) *Service {
	s := &Service{ServiceConfig: c}
	switch c.System {
	case "linux":
		unit := serviceName + ".service"
		ctl := func(args ...string) []string { return append([]string{"systemctl", "--user"}, args...) }
		s.manager = &serviceManager{
			file:     filepath.Join(c.ConfigHome, "systemd", "user", unit),
			text:     unitText,
			load:     [][]string{ctl("daemon-reload"), ctl("enable", unit)},
			start:    [][]string{ctl("start", unit)},
			unload:   [][]string{ctl("disable", "--now", unit)},
			isLoaded: ctl("is-active", unit),
		}
	case "darwin":
		domain := "gui/" + strconv.Itoa(os.Getuid())
		file := filepath.Join(c.Home, "Library", "LaunchAgents", serviceName+".plist")
		s.manager = &serviceManager{
			file:     file,
			text:     plistText,
			start:    [][]string{{"launchctl", "bootstrap", domain, file}},
			unload:   [][]string{{"launchctl", "bootout", domain + "/" + serviceName}},
			isLoaded: []string{"launchctl", "print", domain + "/" + serviceName},
		}
	}
	return s
}

// Install writes the definition and has it hold: the server starts with the next login, or now.
func (s *Service) Install(ctx context.Context) error {
	m := s.manager
	if m == nil {
		return s.byHand()
	}
	if err := m.checkOwn(); err != nil {
		return err
	}
	_, loaded := s.run(ctx, m.isLoaded)
	if errors.Is(loaded, proc.ErrNotFound) {
		return s.byHand()
	}
	err := os.MkdirAll(filepath.Dir(m.file), 0o755)
	if err == nil {
		err = document.Write(m.file, []byte(m.text(s)))
	}
	if err != nil {
		return fmt.Errorf("the service was not installed: %w", err)
	}
	if _, err := fmt.Fprintf(s.Out, "wrote %s\n", m.file); err != nil {
		return err
	}
	steps := m.load
	if s.Now && loaded != nil {
		steps = append(steps[:len(steps):len(steps)], m.start...)
	}
	for _, args := range steps {
		if printed, err := s.run(ctx, args); err != nil {
			return fmt.Errorf("%s failed: %s; after your next login, run webchat service install again",
				strings.Join(args, " "), whyNoService(printed, err))
		}
	}
	return nil
}

// Remove stops the server if it runs as a service, and takes the definition away.
func (s *Service) Remove(ctx context.Context) error {
	m := s.manager
	if m == nil {
		return s.byHand()
	}
	if err := m.checkOwn(); err != nil {
		return err
	}
	if _, err := os.Stat(m.file); errors.Is(err, fs.ErrNotExist) {
		_, err := fmt.Fprintln(s.Out, "the service is not installed")
		return err
	}
	for _, args := range m.unload {
		if printed, err := s.run(ctx, args); err != nil {
			// such as: it does not run
			fmt.Fprintf(s.Out, "%s failed: %s\n", strings.Join(args, " "), whyNoService(printed, err))
		}
	}
	if err := os.Remove(m.file); err != nil {
		return fmt.Errorf("the service was not removed: %w", err)
	}
	_, err := fmt.Fprintf(s.Out, "removed %s\n", m.file)
	return err
}

// Status says whether the service is installed and runs.
func (s *Service) Status(ctx context.Context) error {
	m := s.manager
	if m == nil {
		return s.byHand()
	}
	text := "not installed"
	if _, err := os.Stat(m.file); err == nil {
		text = "installed as " + m.file + ", does not run"
		if _, err := s.run(ctx, m.isLoaded); err == nil {
			text = "installed as " + m.file + ", runs"
		}
	}
	_, err := fmt.Fprintf(s.Out, "service    %s\n", text)
	return err
}

// byHand says what to do on a system without a manager that is known here.
func (s *Service) byHand() error {
	text := "Nothing was changed: this system has neither systemd nor launchd. Have it start this " +
		"when you log in:\n\n    %s\n"
	if s.System == "windows" {
		text = "Nothing was changed: on Windows you set this up yourself. This starts webchat when you " +
			"log in, and /Delete in place of /Create ends that:\n\n" +
			"    schtasks /Create /SC ONLOGON /TN webchat /TR \"%s\"\n"
	}
	_, err := fmt.Fprintf(s.Out, text, strings.Join(quoteAll(s.Program, func(a string) string {
		return `"` + a + `"`
	}), " "))
	return err
}

// checkOwn refuses a definition that is somebody else's.
func (m *serviceManager) checkOwn() error {
	b, err := os.ReadFile(m.file)
	if err == nil && !strings.Contains(string(b), serviceMark) {
		return fmt.Errorf("%s was not written by webchat and is left as it is; move it away first",
			m.file)
	}
	return nil
}

// run returns what a command printed.
func (s *Service) run(ctx context.Context, args []string) (string, error) {
	var out bytes.Buffer
	exit, err := proc.Run(ctx, proc.Command{Args: args, Env: s.Env, Output: &out})
	if err == nil && exit.Code != 0 {
		err = fmt.Errorf("it ended with %d", exit.Code)
	}
	return out.String(), err
}

// why is what a command printed before it failed, or its error.
func whyNoService(printed string, err error) string {
	if printed = strings.Join(strings.Fields(printed), " "); printed != "" {
		return printed
	}
	return err.Error()
}
