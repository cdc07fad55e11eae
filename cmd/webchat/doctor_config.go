package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"

	"webchat/internal/mcp"
	"webchat/internal/wording"
)

// configured says what the configuration has, as it was understood, without any key.
func (k checkup) configured(ctx context.Context,
) error {
	name := k.configPath()
	if _, err := os.Stat(name); errors.Is(err, fs.ErrNotExist) {
		k.say("config", "none; it would be %s", name)
	} else {
		k.say("config", "%s", name)
	}
	for _, name := range slices.Sorted(maps.Keys(k.c.Providers)) {
		p := k.c.Providers[name]
		key := "no key"
		if p.KeyEnv != "" {
			key = "the key is in " + p.KeyEnv
		}
		if n := len(p.Headers); n > 0 {
			key += ", with " + wording.Plural(n, "header") + " of its own"
		}
		k.say("provider", "%s: %s at %s, %s", name, p.Type, p.URL, key)
		for _, m := range p.Models {
			k.say("model", "%s/%s%s", name, m.ID, m.facts())
		}
	}
	servers, err := k.roster(k.c).mcpServers().Status(ctx, mcp.In{})
	if err != nil {
		return err
	}
	for _, s := range servers {
		if s.State != mcp.Ready {
			k.say("mcp", "%s: %s", s.Name, s.Failure)
			continue
		}
		k.say("mcp", "%s: %s, %s", s.Name, s.Where, wording.Plural(len(s.Tools), "tool"))
	}
	for _, h := range k.c.Hooks {
		k.say("hook", "%s: %s", h.Event, wording.Line(h.Command))
	}
	return nil
}

// facts are what the file says of a model.
func (m modelConfig) facts() string {
	var all []string
	if m.Context > 0 {
		all = append(all, wording.Count(m.Context)+" tokens")
	}
	if m.MaxOutput > 0 {
		all = append(all, "answers of "+wording.Count(m.MaxOutput)+" at most")
	}
	if m.Vision != nil && !*m.Vision {
		all = append(all, "sees no pictures")
	}
	if m.Reasoning {
		all = append(all, "can be told how hard to think")
	}
	if m.InputPrice > 0 || m.OutputPrice > 0 {
		all = append(all, fmt.Sprintf("$%g in and $%g out for a million tokens", m.InputPrice,
			m.OutputPrice))
	}
	if len(all) == 0 {
		return ""
	}
	return ": " + strings.Join(all, ", ")
}
