package main

import (
	"context"
	"time"

	"webchat/internal/wording"
)

// online asks each model for one token, as the CLI would ask it.
func (k checkup) online(ctx context.Context,
) error {
	providers, err := k.roster(k.c).providers()
	if err != nil {
		return err
	}
	if len(providers) == 0 {
		k.say("online",
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
				k.say("online", "%s: %v", name, err)
				continue
			}
			k.say("online", "%s: answers, after %s", name, wording.Took(time.Since(start)))
		}
	}
	return nil
}
