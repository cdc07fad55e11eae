package convo

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"path/filepath"
	"reflect"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/event"
)

// Act is what a call asks permission for, put together from all that the call names. The first
// thing it is about is the permission's own, the others stand beside it.
type Act struct {
	agent.Permission
	// Absolute is the path of a file as the agent takes it; two names of one file are one. nil: the
	// agent names files by one path each.
	Absolute func(path string) string
	seen     map[string]bool // what was added, by kind and name
}

// About adds what the act is about, once.
func (a *Act) About(r agent.Resource) {
	key := string(r.Kind) + " " + r.Resource
	if a.Absolute != nil && (r.Kind == agent.KindRead || r.Kind == agent.KindWrite) {
		key = string(r.Kind) + " " + a.Absolute(r.Resource)
	}
	if r.Search != nil {
		key += fmt.Sprint(*r.Search)
	}
	switch {
	case a.seen[key]:
		return
	case a.Resource == "":
		a.Kind, a.Action, a.Resource, a.Target, a.Search = r.Kind, r.Action, r.Resource, r.Target,
			r.Search
	default:
		a.Also = append(a.Also, r)
	}
	if a.seen == nil {
		a.seen = map[string]bool{}
	}
	a.seen[key] = true
}

// Doubt has the act be asked about each time, whatever is allowed; why says so to people. The first
// reason counts.
func (a *Act) Doubt(why string) { a.Sensitive, a.Why = true, cmp.Or(a.Why, why) }

// Sealed is the permission, with a digest of the texts that decide what will happen.
func (a *Act) Sealed(texts ...string) agent.Permission {
	all := append(texts, a.Cwd, a.Diff)
	for _, p := range a.Parts() {
		all = append(all, string(p.Kind), p.Action, p.Resource)
	}
	sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	a.Digest = hex.EncodeToString(sum[:])
	return a.Permission
}

// In returns the absolute path of a file that is named in a folder.
func In(folder, path string) string {
	if !filepath.IsAbs(path) {
		path = filepath.Join(folder, path)
	}
	return filepath.Clean(path)
}

// SameJSON reports whether two texts are the same JSON value.
func SameJSON(a, b json.RawMessage) bool {
	var x, y any
	return json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil && reflect.DeepEqual(x, y)
}

// Compact is JSON without the space in it; empty if there is nothing in it.
func Compact(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	if s := b.String(); s != "{}" && s != "null" {
		return s
	}
	return ""
}

// Refused is why a call may not run, in a sentence for the model.
type Refused string

func (r Refused) Error() string { return string(r) }

// Permit asks the session for permission. The error is [Refused].
func (c *Conversation) Permit(ctx context.Context, act agent.Permission) error {
	v, err := c.Host.AskPermission(ctx, act)
	switch {
	case err != nil:
		return Refused("No user could be asked.")
	case v.Decision != event.Allow:
		return Refused(cmp.Or(v.Reason, "The user said no."))
	}
	return nil
}

// Hooked has the session's hooks decide about a call before it runs, and returns the arguments that
// they made of its own; nil: they left them. The error is [Refused].
func (c *Conversation) Hooked(ctx context.Context,
	call agent.HookCall) (changed json.RawMessage, err error) {
	v, err := c.Host.RunHook(ctx, call)
	switch {
	case err != nil:
		return nil, Refused("The hooks could not be asked.")
	case !v.Allow:
		return nil, Refused(v.Reason)
	}
	return v.Arguments, nil
}
