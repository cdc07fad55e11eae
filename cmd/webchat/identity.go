package main

import (
	"log/slog"
	"net/url"
	"strings"

	"webchat/internal/guard"
)

// check refuses settings that cannot identify people.
func (o *identityFlags) check(noAuth bool, publicURL string) error {
	kind, value, _ := strings.Cut(o.Identity, ":")
	switch {
	case o.Identity == "" && (o.IdentityKeyFile != "" || o.IdentityClient != "" ||
		len(o.IdentityAllow) > 0):
		return usage(
			"--identity-key-file, --identity-client and --identity-allow have no use without --identity")
	case o.Identity == "":
		return nil
	case noAuth:
		return usage("--identity cannot be used with --insecure-no-auth")
	case kind != "header" && kind != "oidc":
		return usage(
			"--identity %s: it must be header:NAME, such as header:X-Forwarded-Email, or oidc:URL",
			o.Identity)
	case o.IdentityKeyFile == "":
		return usage(
			"--identity needs --identity-key-file: without a key, anybody could say who they are")
	case kind == "oidc":
		return o.checkProvider(value, publicURL)
	case o.IdentityClient != "" || len(o.IdentityAllow) > 0:
		return usage(
			"--identity-client and --identity-allow are for --identity oidc:URL; your proxy decides who " +
				"may sign in")
	}
	if err := guard.CheckHeaderName(value); err != nil {
		return usage("--identity %s: %v", o.Identity, err)
	}
	return nil
}

// checkProvider refuses a provider that cannot identify people.
func (o *identityFlags) checkProvider(issuer, publicURL string) error {
	u, err := url.Parse(issuer)
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())):
		return usage("--identity %s: the provider's address must look like oidc:https://login.example",
			o.Identity)
	case publicURL == "":
		return usage("--identity oidc: needs --public-url, to which the provider sends people back")
	case o.IdentityClient == "":
		return usage(
			"--identity oidc: needs --identity-client, the id that the provider gave this server")
	case len(o.IdentityAllow) == 0:
		return usage(
			"--identity oidc: needs --identity-allow, such as @example.com: without it, everybody whom " +
				"the provider knows could run commands here")
	}
	for _, entry := range o.IdentityAllow {
		if err := guard.CheckAllowed(entry); err != nil {
			return usage("--identity-allow %s: %v", entry, err)
		}
	}
	return nil
}

// users returns what identifies people; nil means all sign-ins are the operator's.
func (o *identityFlags) users(log *slog.Logger) (guard.Users, error) {
	switch kind, value, _ := strings.Cut(o.Identity, ":"); kind {
	case "header":
		return guard.NewHeader(value, o.IdentityKeyFile, log)
	case "oidc":
		return guard.NewOIDC(guard.OIDCConfig{
			Issuer:     value,
			ClientID:   o.IdentityClient,
			SecretFile: o.IdentityKeyFile,
			Allowed:    o.IdentityAllow,
		}, log)
	}
	return nil, nil
}
