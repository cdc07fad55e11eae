package hooks

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"
)

// no is a verdict that refuses, with a reason a person and a model can read.
func no(format string, args ...any) Verdict {
	reason := presentable(fmt.Sprintf(format, args...))
	if reason == "" {
		reason = "The hook refused it without a reason."
	}
	return Verdict{Reason: reason}
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
func verdict(code int, stdout, stderr []byte) Verdict {
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
		return Verdict{Allow: true}
	}
	v, err := parse(stdout)
	if err != nil {
		return no("The hook's answer is not understood: %v.", err)
	}
	return v
}

// parse reads an answer: one object with these keys and no other, each once.
// Decoders disagree about anything else.
func parse(b []byte) (v Verdict, err error) {
	if !utf8.Valid(b) {
		return v, errors.New("it is not UTF-8")
	}
	dec := json.NewDecoder(bytes.NewReader(b))
	if t, err := dec.Token(); err != nil || t != json.Delim('{') {
		return v, errors.New("it is no JSON object")
	}
	seen := map[string]bool{}
	for dec.More() {
		t, err := dec.Token()
		if err != nil {
			return v, errors.New("it is no JSON object")
		}
		key, _ := t.(string)
		if seen[key] {
			return v, fmt.Errorf("it has %q twice", key)
		}
		seen[key] = true
		var raw json.RawMessage
		if err := dec.Decode(&raw); err != nil {
			return v, errors.New("it is no JSON object")
		}
		if err := v.take(key, raw); err != nil {
			return v, err
		}
	}
	if _, err := dec.Token(); err != nil {
		return v, errors.New("it is no JSON object")
	}
	if _, err := dec.Token(); err != io.EOF {
		return v, errors.New("something follows it")
	}
	if !seen["allow"] {
		return v, errors.New(`it has no "allow"`)
	}
	return v, nil
}

// take sets one field. A null is the same as nothing, but for allow.
func (v *Verdict) take(key string, raw json.RawMessage) error {
	var into *string
	switch key {
	case "allow":
		switch string(raw) {
		case "true":
			v.Allow = true
		case "false":
		default:
			return errors.New(`"allow" is neither true nor false`)
		}
		return nil
	case "reason":
		into = &v.Reason
	case "prompt":
		into = &v.Prompt
	case "arguments":
		if string(raw) == "null" {
			return nil
		}
		if raw[0] != '{' {
			return errors.New(`"arguments" is no object`)
		}
		v.Arguments = raw
		return nil
	default:
		return fmt.Errorf("%q is not known", key)
	}
	if err := json.Unmarshal(raw, into); err != nil {
		return fmt.Errorf("%q is not a string", key)
	}
	return nil
}
