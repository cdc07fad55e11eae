package hooks_test

import (
	"context"
	"encoding/json"
	"fmt"

	"webchat/internal/event"
	"webchat/internal/hooks"
)

// noForce is a hook inside the program that embeds webchat.
type noForce struct{}

// Handle implements [hooks.Handler].
func (noForce) Handle(_ context.Context, c hooks.Call) (hooks.Verdict, error) {
	var args struct{ Command string }
	if err := json.Unmarshal(c.Arguments, &args); err != nil {
		return hooks.Verdict{}, err
	}
	if args.Command == "git push --force" {
		return hooks.Verdict{Reason: "push without force"}, nil
	}
	return hooks.Verdict{Allow: true}, nil
}

func ExampleHandler() {
	set, err := hooks.New(hooks.Config{Workspace: "/work", Hooks: []hooks.Hook{
		{Event: hooks.BeforeTool, Matcher: "run_and_display|bash", Handler: noForce{}, Name: "no force"}}})
	if err != nil {
		fmt.Println(err)
		return
	}
	v, err := set.Run(context.Background(), hooks.Call{SessionID: "s1", RequestID: "call1", Event: hooks.BeforeTool, Tool: "bash",
		Arguments: json.RawMessage(`{"command":"git push --force"}`)}, func(d event.Data) error {
		if end, ok := d.(event.HookEnd); ok {
			fmt.Println(end.Command, "allows:", end.Allow)
		}
		return nil
	})
	fmt.Println(v.Allow, v.Reason, err)
	// Output:
	// no force allows: false
	// false push without force <nil>
}
