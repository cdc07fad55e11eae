package main

import (
	"log/slog"
	"strings"

	"webchat/internal/guard"
)

// checkIdentity refuses what could never say who people are.
func (o *options) checkIdentity() error {
	kind, value, _ := strings.Cut(o.Identity, ":")
	switch {
	case o.Identity == "" && o.IdentityKeyFile != "":
		return usage("--identity-key-file has no use without --identity")
	case o.Identity == "":
		return nil
	case o.InsecureNoAuth:
		return usage("--identity cannot be used with --insecure-no-auth")
	case kind != "header":
		return usage("--identity %s: it must be header:NAME, such as header:X-Forwarded-Email", o.Identity)
	case o.IdentityKeyFile == "":
		return usage("--identity needs --identity-key-file: without a key, anybody could say who they are")
	}
	if err := guard.CheckHeaderName(value); err != nil {
		return usage("--identity %s: %v", o.Identity, err)
	}
	return nil
}

// users returns who says who people are; nil: nobody does.
func (o *options) users(log *slog.Logger) (guard.Users, error) {
	if o.Identity == "" {
		return nil, nil
	}
	_, value, _ := strings.Cut(o.Identity, ":")
	return guard.NewHeader(value, o.IdentityKeyFile, log)
}
