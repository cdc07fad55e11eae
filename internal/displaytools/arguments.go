package displaytools

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
	"webchat/internal/strictjson"
)

// decode reads a call's arguments, by their exact names and each at most once. A null counts as
// left out.
func decode(tool string, raw json.RawMessage, args any) error {
	if err := strictjson.Decode(raw, args); err != nil {
		return errors.New(strictjson.Say("the arguments of "+tool, err))
	}
	return nil
}

// decodeOwn is decode for a tool that is the user's alone.
func decodeOwn(ctx context.Context, tool string, raw json.RawMessage, args any) error {
	if agent.CallFrom(ctx).By != event.ByUser {
		return fmt.Errorf("%s is the user's alone", tool)
	}
	return decode(tool, raw, args)
}

// needed refuses a text that is blank or that no file and no command can have.
func needed(name, text string) error {
	if strings.TrimSpace(text) == "" {
		return fmt.Errorf("%s is missing: give it as a string that is not empty", name)
	}
	return plain(name, text)
}

func plain(name, text string) error {
	if strings.ContainsRune(text, 0) {
		return fmt.Errorf("%s must not hold a NUL character", name)
	}
	return nil
}
