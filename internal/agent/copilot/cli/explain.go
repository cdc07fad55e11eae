package cli

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"regexp"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/jsonrpc"
	"webchat/internal/wording"
)

// Explain makes an error of the CLI ours. The CLI distinguishes its failures by text only: "Request
// session.create failed with message: ...".
func (p *Program) Explain(err error) error {
	theirs, ok := errors.AsType[*jsonrpc.Error](err)
	switch {
	case errors.Is(err, agent.ErrDied):
		return Lost(err)
	case errors.Is(err, context.DeadlineExceeded):
		return errors.New("GitHub Copilot CLI did not answer in time; send the prompt again")
	case !ok:
		return err
	}
	text := theirs.Message
	if _, after, ok := strings.Cut(text, "failed with message: "); ok {
		text = after
	}
	what := p.Happened(text)
	return errors.New(what + " " + p.Advise(Failure{Text: text}))
}

// secret is what looks like a key: providers repeat the one that they refuse.
var secret = regexp.MustCompile(
	`\b(?:sk|pk|gh[opsur]|github_pat|key)[-_][A-Za-z0-9_*.-]{4,}|\bBearer\s+\S+`)

// Happened is what the CLI says went wrong, as a sentence, without what it advises: its first
// sentence, or the last error of those it retried; at most 400 characters.
func (p *Program) Happened(text string) string {
	if _, last, ok := strings.Cut(text, "Last error: "); ok {
		text = last
	}
	text = p.cleaned(text)
	if i := strings.Index(text, ". "); i > 0 {
		text = text[:i]
	}
	return wording.Ended(cmp.Or(wording.Cut(text, 400),
		"GitHub Copilot CLI reports a failure without a reason"))
}

// Words are a provider's reason for refusing a call: the message of the JSON object that the CLI
// (1.0.102) passes on, else the text itself; at most 400 characters, without a period at its end.
func (p *Program) Words(text string) string {
	var refusal struct{ Message string }
	if json.Unmarshal([]byte(text), &refusal) == nil {
		text = refusal.Message
	}
	return strings.TrimRight(wording.Cut(p.cleaned(text), 400), ".")
}

// cleaned is a text of a provider's on one line, without keys.
func (p *Program) cleaned(text string) string {
	for _, key := range p.cfg.Keys {
		text = strings.ReplaceAll(text, key, "the key")
	}
	text = secret.ReplaceAllString(text, "the key")
	return strings.Join(strings.Fields(strings.ToValidUTF8(text, "\uFFFD")), " ")
}

// What providers say, in a message or as its code, when a conversation is longer than the model
// takes, and when a quota is used up: OpenAI's context_length_exceeded and insufficient_quota,
// Anthropic's "prompt is too long", Google's "exceeds the maximum number of tokens" and
// RESOURCE_EXHAUSTED. The CLI passes them on as text.
var (
	full = regexp.MustCompile(
		`(?i)context_length_exceeded|model_max_prompt_tokens_exceeded|maximum context length|prompt is too long|exceeds? the (?:maximum|max|model's).{0,40}(?:tokens|context)`)
	spent = regexp.MustCompile(
		`(?i)insufficient_quota|quota_exceeded|exceeded your (?:current|monthly|premium).{0,40}quota|quota (?:is )?(?:exceeded|exhausted|used up)|out of credits|credit balance is too low`)
)

// KindOf is the kind of a provider's refusal, by its status and its words.
func KindOf(status int, text string) event.ErrorKind {
	switch {
	case full.MatchString(text):
		return event.KindTooLarge
	case status == 402 || spent.MatchString(text):
		return event.KindLimit
	}
	return event.KindOfStatus(status)
}

// Failure is a request that failed.
type Failure struct {
	Status int    // of the provider's answer; 0: none
	Text   string // what the CLI says of it
	Own    bool   // a model of the user's own was asked
}

// Advise says what helps after a failure, as a sentence.
func (p *Program) Advise(f Failure) string {
	status, text := f.Status, f.Text
	kind := KindOf(status, text)
	do := "Send the prompt again; if it fails again, run webchat doctor in a terminal"
	low := strings.ToLower(text)
	switch {
	case kind == event.KindTooLarge:
		do = "Sum the conversation up with /compact, or choose a model that takes more"
	case kind == event.KindLimit && status != 429, spent.MatchString(text):
		do = "The quota is used up: choose another model, or go on when it is back"
	case (status == 401 || status == 403) && f.Own:
		do = "Correct the provider's key, then start webchat again"
	case status == 401 || status == 403 || strings.Contains(low, "not authenticated") ||
		strings.Contains(low, "no github oauth token"):
		do = "Sign in again with \"COPILOT_HOME=" + p.cfg.Home +
			" copilot login\", then send the prompt again"
	case status == 429:
		do = "The provider wants fewer requests: wait a little, then send the prompt again"
	case strings.Contains(low, "could not connect"):
		do = "Start the model provider or correct its address, then send the prompt again"
	case status == 404:
		do = "Choose another model, or correct the provider's address"
	case kind == event.KindTimeout:
		do = "The provider did not answer in time: send the prompt again, or choose another model"
	case status >= 400 && status < 500:
		do = "The same request would be refused again: change the prompt, or choose another model"
	case status >= 500:
		do = "The provider has a problem of its own: send the prompt again later, or choose another model"
	}
	return do + "."
}
