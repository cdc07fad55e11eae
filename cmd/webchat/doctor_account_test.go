package main

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/offline"
)

// signed is an agent whose user is signed in once a conversation was opened.
type signed struct {
	*offline.Backend
	opened *bool
}

func (s signed) Open(ctx context.Context, o agent.Options, h agent.Host) (agent.Conn, error) {
	*s.opened = true
	return s.Backend.Open(ctx, o, h)
}

func (s signed) Info(ctx context.Context) agent.Info {
	info := s.Backend.Info(ctx)
	if *s.opened {
		info.Account = "octocat"
	}
	return info
}

// Doctor says who is signed in, where an agent reports it.
func TestDoctorSaysWhoIsSignedIn(t *testing.T) {
	o, err := parseOptions(nil, []string{"HOME=" + t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	say := func(name, format string, args ...any) { fmt.Fprintf(&said, name+" "+format+"\n", args...) }
	checkup{o, &config{}, t.TempDir(), []agent.Backend{signed{offline.New(offline.Config{}),
		new(bool)}}, say}.sessions(t.Context())
	if !strings.Contains(said.String(), "without view; signed in as octocat") {
		t.Errorf("it says %q", said.String())
	}
}

// closed is an agent that opens no conversation.
type closed struct{ *offline.Backend }

func (closed) Open(context.Context, agent.Options, agent.Host) (agent.Conn, error) {
	return nil, fmt.Errorf("%w: it is not signed in", agent.ErrUnavailable)
}

// Doctor says why a conversation cannot be opened. Beside a running server it says first whose
// settings it looks at: testdata/script/signin.txt.
func TestDoctorSaysWhyNothingOpens(t *testing.T) {
	o, err := parseOptions(nil, []string{"HOME=" + t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	say := func(name, format string, args ...any) { fmt.Fprintf(&said, format+"\n", args...) }
	checkup{o, &config{}, t.TempDir(), []agent.Backend{closed{offline.New(offline.Config{})}},
		say}.sessions(t.Context())
	if want := "offline: it is not signed in\n"; said.String() != want {
		t.Errorf("it says %q, want %q", said.String(), want)
	}
}
