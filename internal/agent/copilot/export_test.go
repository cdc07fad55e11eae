package copilot

import (
	"slices"
	"testing"

	"webchat/internal/agent"
)

// Offered returns the tools a conversation was last seen to offer.
func Offered(c agent.Conn) []string {
	cc := c.(*conn)
	cc.mu.Lock()
	defer cc.mu.Unlock()
	return slices.Clone(cc.offered)
}

// NativeID is the CLI's name of a session.
func NativeID(sessionID string) string { return nativeID(sessionID) }

// Platform and BinaryName are how npm names what runs here.
func Platform() string   { return platforms()[0] }
func BinaryName() string { return name() }

// Locate finds the native binary.
func Locate(given string, env []string) (string, error) { return locate(given, env) }

// Environment is what the CLI of c is started with.
func Environment(tb testing.TB, c Config) []string {
	b, err := New(c)
	if err != nil {
		tb.Fatal(err)
	}
	return b.environment()
}

// Guide is what every conversation starts with.
const Guide = guide

// PID is the running CLI.
func PID(b *Backend) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.process.child.PID()
}

// Home is where the CLI keeps its state.
func Home(b *Backend) string { return b.cfg.Home }
