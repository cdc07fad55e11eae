package server_test

import (
	"context"
	"os"
	"strings"
	"testing"

	"webchat/internal/agent"
	"webchat/internal/agent/offline"
	"webchat/internal/store/storetest"
)

// signed is an agent whose user is signed in.
type signed struct{ *offline.Backend }

func (s signed) Info(ctx context.Context) agent.Info {
	info := s.Backend.Info(ctx)
	info.Account = "octocat"
	return info
}

// The list of agents says who is signed in, which the picker shows.
func TestAccountIsListed(t *testing.T) {
	h := newHouseOn(t, storetest.NewMemory(),
		signed{offline.New(offline.Config{Path: os.Getenv("PATH")})})
	if res, body := h.do("GET", "/api/backends", ""); res.StatusCode != 200 ||
		!strings.Contains(body, `"account":"octocat"`) {
		t.Errorf("%d %s", res.StatusCode, body)
	}
}
