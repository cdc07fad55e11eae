package main

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"time"

	"webchat/internal/wording"
)

// modelEndpoint is where models are asked for as little as their protocol allows, to see
// whether address, key and name are right: one token by OpenAI's chat completions, by
// Azure's or Anthropic's messages, and 16 by OpenAI's responses, which takes no less.
type modelEndpoint struct {
	Type       string // openai, azure or anthropic
	WireAPI    string // of openai: completions (also empty) or responses
	URL        string // up to the path that the protocol adds
	Key        string // empty: none is sent
	APIVersion string // of azure; empty: the version is in the path, v1
	Headers    map[string]string
}

// probeLimit is how long a model may take for one token, which may load it first.
const probeLimit = 30 * time.Second

// Ask asks a model for one token. The error says in words for the user what came
// instead of one; it never holds the key.
func (p modelEndpoint) Ask(ctx context.Context, model string) error {
	err := p.ask(ctx, model)
	if err == nil || p.Key == "" || !strings.Contains(err.Error(), p.Key) {
		return err
	}
	return errors.New(strings.ReplaceAll(err.Error(), p.Key, "…")) // providers quote wrong keys
}

func (p modelEndpoint) ask(ctx context.Context, model string) error {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	req, err := p.request(ctx, model)
	if err != nil {
		return err
	}
	// the key goes nowhere else
	client := &http.Client{CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse
	}}
	res, err := client.Do(req)
	if err != nil {
		var where *url.Error
		if errors.As(err, &where) {
			err = where.Err
		}
		if ctx.Err() != nil {
			return fmt.Errorf("no answer for %v; see whether it runs at %s", probeLimit, p.URL)
		}
		return fmt.Errorf("not reached at %s: %w", p.URL, err)
	}
	defer res.Body.Close()
	body, err := io.ReadAll(io.LimitReader(res.Body, 64<<10))
	if err != nil {
		return fmt.Errorf("its answer broke off: %w", err)
	}
	switch res.StatusCode {
	case http.StatusOK:
		if !json.Valid(body) {
			return fmt.Errorf("what answers at %s is not a model: its answer is not JSON. Check the url",
				p.URL)
		}
		return nil
	case http.StatusUnauthorized, http.StatusForbidden:
		return fmt.Errorf("%s: the key is not accepted. %s", res.Status, refusalOf(body))
	case http.StatusNotFound:
		return fmt.Errorf("%s: check the url and the model's name. %s", res.Status, refusalOf(body))
	}
	return fmt.Errorf("%s. %s", res.Status, refusalOf(body))
}

// refusalOf is what a provider says of a request that it does not take: all of them
// answer {"error":{"message":…}}, or {"error":…}.
func refusalOf(body []byte) string {
	var answer struct{ Error json.RawMessage }
	_ = json.Unmarshal(body, &answer)
	var whole struct{ Message string }
	if json.Unmarshal(answer.Error, &whole) != nil {
		_ = json.Unmarshal(answer.Error, &whole.Message)
	}
	return wording.FirstLine(cmp.Or(whole.Message, string(body)), 200)
}

// request is OpenAI's, Azure's or Anthropic's.
func (p modelEndpoint) request(ctx context.Context, model string) (*http.Request, error) {
	path, body := "/chat/completions", map[string]any{"model": model, "max_tokens": 1,
		"messages": []map[string]string{{"role": "user", "content": "Hi"}}}
	header := http.Header{"Content-Type": {"application/json"}}
	switch {
	case p.Type == "anthropic":
		path = "/v1/messages"
		header.Set("X-Api-Key", p.Key)
		header.Set("Anthropic-Version", "2023-06-01")
	case p.Type == "azure":
		path = "/openai/v1/chat/completions"
		if p.APIVersion != "" {
			path = "/openai/deployments/" + url.PathEscape(model) + "/chat/completions?api-version=" +
				url.QueryEscape(p.APIVersion)
		}
		header.Set("Api-Key", p.Key)
	case p.WireAPI == "responses":
		// it takes no less
		path, body = "/responses", map[string]any{"model": model, "max_output_tokens": 16, "input": "Hi"}
	}
	if p.Key != "" && header.Get("Api-Key") == "" && header.Get("X-Api-Key") == "" {
		header.Set("Authorization", "Bearer "+p.Key)
	}
	for k, v := range p.Headers {
		header.Set(k, v)
	}
	b, err := json.Marshal(body)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, p.URL+path, bytes.NewReader(b))
	if err != nil {
		return nil, err
	}
	req.Header = header
	return req, nil
}
