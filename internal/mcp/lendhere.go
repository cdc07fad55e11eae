package mcp

import (
	"context"
	"crypto/rand"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"webchat/internal/agent"
)

// OwnLender lends the display tools to agents for a command that runs no server of webchat: on
// loopback, with a key for each conversation.
type OwnLender struct {
	*Server
	http   *http.Server
	served chan error
	url    string

	mu   sync.Mutex // guards keys
	keys map[string]bool
}

// LendHere begins to lend on loopback.
func LendHere(ctx context.Context, version string) (*OwnLender, error) {
	l := &OwnLender{served: make(chan error, 1), keys: map[string]bool{}}
	var err error
	l.Server, err = NewServer(ServerConfig{Sessions: noClients{}, Tools: lentTools(), Version: version, Visitor: l.visitor})
	if err != nil {
		return nil, err
	}
	at, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	l.url = "http://" + at.Addr().String() + "/mcp"
	l.http = &http.Server{ReadHeaderTimeout: 10 * time.Second, Handler: l.Server}
	go func() { l.served <- l.http.Serve(at) }()
	return l, nil
}

// Close ends what was lent.
func (l *OwnLender) Close() error {
	l.Server.Close()
	err := l.http.Close()
	if e := <-l.served; !errors.Is(e, http.ErrServerClosed) {
		err = errors.Join(err, e)
	}
	return err
}

// visitor lets in who has a key.
func (l *OwnLender) visitor(r *http.Request) (Visitor, bool) {
	key := strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer ")
	l.mu.Lock()
	defer l.mu.Unlock()
	return Visitor{Key: key}, l.keys[key]
}

// ToAgent is an [agent.Lender].
func (l *OwnLender) ToAgent(_ string, call func(context.Context, agent.ToolCall) (agent.Result, error)) (agent.Lent, func(), error) {
	key := rand.Text()
	l.mu.Lock()
	l.keys[key] = true
	l.mu.Unlock()
	end := l.Host(key, call)
	return agent.Lent{URL: l.url, Header: "Authorization", Value: "Bearer " + key, Listed: func() bool { return l.Listed(key) }}, func() {
		end()
		l.mu.Lock()
		delete(l.keys, key)
		l.mu.Unlock()
	}, nil
}

// noClients has no sessions of clients: every call has the key of a conversation.
type noClients struct{}

var errNoClients = errors.New("no sessions begin here")

// Begin implements [Sessions].
func (noClients) Begin(context.Context, Visit) (string, error) { return "", errNoClients }

// Wake implements [Sessions].
func (noClients) Wake(context.Context, string) error { return errNoClients }

// Stage implements [Sessions].
func (noClients) Stage(context.Context, string, string) (s Stage) { return s }
