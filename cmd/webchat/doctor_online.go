package main

import (
	"context"
	"time"

	"webchat/internal/wording"
)

// doctorOnline asks each model for one token, as the CLI would ask it.
func (o *options) doctorOnline(ctx context.Context, c *config,
	say func(string, string, ...any)) error {
	providers, err := o.providers(c)
	if err != nil {
		return err
	}
	if len(providers) == 0 {
		say("online",
			"the configuration has no models to ask; those of a login are asked by webchat verify")
	}
	for _, p := range providers {
		for _, m := range p.Models {
			name := m.ID
			if p.Name != "" {
				name = p.Name + "/" + m.ID
			}
			start := time.Now()
			at := modelEndpoint{
				Type:       p.Type,
				WireAPI:    p.WireAPI,
				URL:        p.URL,
				Key:        p.Key,
				APIVersion: p.APIVersion,
				Headers:    p.Headers,
			}
			if err := at.Ask(ctx, m.ID); err != nil {
				say("online", "%s: %v", name, err)
				continue
			}
			say("online", "%s: answers, after %s", name, wording.Took(time.Since(start)))
		}
	}
	return nil
}
