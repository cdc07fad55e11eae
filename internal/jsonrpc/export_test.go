package jsonrpc

import (
	"context"
	"fmt"
)

// Notify sends a notification.
func (c *Conn) Notify(ctx context.Context, method string, params any) error {
	if err := c.rpc.Notify(ctx, method, params); err != nil {
		return fmt.Errorf("%s: %w", method, c.closed())
	}
	return nil
}
