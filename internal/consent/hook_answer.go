package consent

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"webchat/internal/strictjson"
)

// no is a verdict that refuses, with a reason a person and a model can read.
func no(format string, args ...any) HookVerdict {
	reason := presentable(fmt.Sprintf(format, args...))
	if reason == "" {
		reason = "The hook refused it without a reason."
	}
	return HookVerdict{Reason: reason}
}

// presentable returns text without characters that hide, reorder or command, not
// longer than MaxReason bytes.
func presentable(text string) string {
	text = strings.Map(func(r rune) rune {
		if r != '\n' && r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
	text = strings.TrimSpace(text)
	if len(text) <= MaxReason {
		return text
	}
	n := MaxReason - len("…")
	for !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// verdict is what a command said by its status and what it printed.
func verdict(code int, stdout, stderr []byte) HookVerdict {
	switch code {
	case 0:
	case 2:
		return no("%s", stderr)
	default:
		if said := presentable(string(stderr)); said != "" {
			return no("The hook failed with status %d: %s", code, said)
		}
		return no("The hook failed with status %d.", code)
	}
	if len(bytes.TrimSpace(stdout)) == 0 {
		return HookVerdict{Allow: true}
	}
	v, err := parse(stdout)
	if err != nil {
		return no("The hook's answer is not understood: %s.", strictjson.Say("its contents", err))
	}
	return v
}

// parse reads an answer: one object with these keys and no other, each once.
func parse(b []byte) (HookVerdict, error) {
	var said struct {
		Allow     *bool           `json:"allow"`
		Reason    string          `json:"reason"`
		Arguments json.RawMessage `json:"arguments"`
		Prompt    string          `json:"prompt"`
	}
	if err := strictjson.Decode(b, &said); err != nil {
		return HookVerdict{}, err
	}
	if said.Allow == nil {
		return HookVerdict{}, errors.New(`it has no "allow"`)
	}
	v := HookVerdict{Allow: *said.Allow, Reason: said.Reason, Prompt: said.Prompt}
	switch {
	case len(said.Arguments) == 0 || string(said.Arguments) == "null":
	case said.Arguments[0] != '{':
		return HookVerdict{}, errors.New(`"arguments" is not an object`)
	default:
		v.Arguments = said.Arguments
	}
	return v, nil
}
