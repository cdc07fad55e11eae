package session

import (
	"context"
	"encoding/json"

	"webchat/internal/agent"
	"webchat/internal/event"
)

type Manager struct{}

func New(c Config) (*Manager, error)                                       { panic("follows") }
func (m *Manager) Run(ctx context.Context) error                           { panic("follows") }
func (m *Manager) Create(ctx context.Context, o Options) (*Session, error) { panic("follows") }
func (m *Manager) Get(ctx context.Context, id ID) (*Session, error)        { panic("follows") }
func (m *Manager) List(ctx context.Context, q Query) (Page, error)         { panic("follows") }
func (m *Manager) Update(ctx context.Context, id ID, p Patch) (Summary, error) {
	panic("follows")
}
func (m *Manager) Delete(ctx context.Context, id ID) error             { panic("follows") }
func (m *Manager) Restore(ctx context.Context, id ID) (Summary, error) { panic("follows") }
func (m *Manager) Backends(ctx context.Context) []BackendInfo          { panic("follows") }
func (m *Manager) Models(ctx context.Context, backend string) ([]agent.Model, error) {
	panic("follows")
}
func (m *Manager) Watch() *Watch { panic("follows") }

type Watch struct{}

func (w *Watch) Next(ctx context.Context) ([]event.Entry, error) { panic("follows") } // session.changed, the latest of each session
func (w *Watch) Close()                                          { panic("follows") }

type Session struct{}

func (s *Session) ID() ID           { panic("follows") }
func (s *Session) Summary() Summary { panic("follows") }
func (s *Session) Send(ctx context.Context, m Message) (messageID string, err error) {
	panic("follows")
}
func (s *Session) WaitTurn(ctx context.Context, messageID string) (TurnResult, error) {
	panic("follows")
}
func (s *Session) Display(ctx context.Context, tool string, args json.RawMessage) (DisplayResult, error) {
	panic("follows")
}
func (s *Session) Abort(ctx context.Context, reason string) error                 { panic("follows") }
func (s *Session) AbortTool(ctx context.Context, toolCallID string) error         { panic("follows") }
func (s *Session) Decide(ctx context.Context, requestID string, d Decision) error { panic("follows") }
func (s *Session) Answer(ctx context.Context, requestID string, a Answer) error   { panic("follows") }
func (s *Session) Attach(ctx context.Context, a agent.Attachment) (attachmentID string, err error) {
	panic("follows")
}
func (s *Session) Events(ctx context.Context, after int64, limit int) ([]event.Entry, error) {
	panic("follows")
}
func (s *Session) Join(ctx context.Context) (Snapshot, error) { panic("follows") }
func (s *Session) Subscribe() *Subscription                   { panic("follows") }

type Subscription struct{}

func (s *Subscription) Next(ctx context.Context) ([]event.Entry, error) { panic("follows") } // ErrLagged, ErrClosed
func (s *Subscription) Close()                                          { panic("follows") }
