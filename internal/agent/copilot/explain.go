package copilot

import (
	"context"
	"errors"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/jsonrpc"
)

// explain makes an error of the CLI ours. The CLI tells its failures apart by
// text only: "Request session.create failed with message: ...".
func (b *Backend) explain(err error) error {
	theirs, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case errors.Is(err, agent.ErrDied):
		return lost(err)
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("GitHub Copilot CLI did not answer in time; send the prompt again")
	case !ok:
		return err
	}
	text := theirs.Message
	if _, after, ok := strings.Cut(text, "failed with message: "); ok {
		text = after
	}
	return errors.New(b.advise(0, shorten(strings.TrimSpace(text), 400)))
}

// advise says what happened and what to do.
func (b *Backend) advise(status int, text string) string {
	text = strings.TrimRight(strings.TrimSpace(text), ".")
	if text == "" {
		text = "GitHub Copilot CLI reports a failure without a reason"
	}
	mine := len(b.cfg.Providers) > 0
	do := "Send the prompt again; webchat doctor says what is set up"
	low := strings.ToLower(text)
	switch {
	case (status == 401 || status == 403) && mine:
		do = "Check the key of the provider (WEBCHAT_PROVIDER_KEY, --provider-key-file or key_env), then start webchat again"
	case status == 401 || status == 403 || strings.Contains(low, "not authenticated") || strings.Contains(low, "no github oauth token"):
		do = "Sign in again with \"COPILOT_HOME=" + b.cfg.Home + " copilot login\", then send the prompt again"
	case status == 429:
		do = "The provider wants fewer requests: wait a little, then send the prompt again"
	case strings.Contains(low, "could not connect"):
		do = "Start the model provider or correct its address, then send the prompt again"
	case status == 404:
		do = "Check the model's name and the provider's address"
	case status >= 500:
		do = "The provider has a problem of its own: send the prompt again later"
	}
	return text + ". " + do + "."
}
