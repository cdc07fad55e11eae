package agent_test

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"webchat/internal/agent"
)

// wordCount is a tool in plain Go: it needs no process and no server. A session offers
// it to every agent once its Config.Tools returns it.
type wordCount struct{}

func (wordCount) Spec() agent.ToolSpec {
	return agent.ToolSpec{
		Name:        "word_count",
		Description: "Counts the words of a text.",
		Parameters: json.RawMessage(
			`{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}`),
	}
}

// Plan reads the arguments and acts on nothing yet: hooks, the user's rules and the user
// decide about what it returns.
func (wordCount) Plan(_ context.Context, args json.RawMessage) (agent.Action, error) {
	var a struct{ Text *string }
	if err := json.Unmarshal(args, &a); err != nil || a.Text == nil {
		return agent.Action{}, errors.New("word_count needs a text")
	}
	sum := sha256.Sum256([]byte(*a.Text))
	return agent.Action{
		// An act that changes something, or reads what not everybody may, sets Ask.
		Digest: hex.EncodeToString(sum[:]),
		Run: func(context.Context, agent.Progress) (agent.Result, error) {
			n := len(strings.Fields(*a.Text))
			return agent.Result{
				TextForModel: fmt.Sprintf("%d words", n), // all that a model reads
				SessionLog:   *a.Text,                    // folded in the card, for the user
				Type:         agent.Success,
			}, nil
		},
	}, nil
}

func ExampleTool() {
	var tool agent.Tool = wordCount{}
	ctx := context.Background()

	action, err := tool.Plan(ctx, json.RawMessage(`{"text":"to be or not to be"}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("asks first:", action.Ask != nil)
	result, err := action.Run(ctx, func(agent.ProgressReport) {})
	fmt.Println(result.Type, result.TextForModel, err)

	_, err = tool.Plan(ctx, json.RawMessage(`{}`))
	fmt.Println(err)
	// Output:
	// asks first: false
	// success 6 words <nil>
	// word_count needs a text
}
