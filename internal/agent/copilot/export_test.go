package copilot

import (
	"slices"

	"webchat/internal/agent"
)

// Offered returns the tools a conversation was last seen to offer.
func Offered(c agent.Conn) []string {
	cc := c.(*conn)
	cc.mu.Lock()
	defer cc.mu.Unlock()
	return slices.Clone(cc.offered)
}
