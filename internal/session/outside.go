package session

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/calls"
	"webchat/internal/displays"
	"webchat/internal/event"
	"webchat/internal/eventlog"
)

// outsideWhy is why the user is asked before something runs that is not confined.
const outsideWhy = "It runs outside the sandbox: it can read and change all that you can, and " +
	"reach the network."

// RunOutside runs the command of a call once more for the user, not confined, after they were asked
// about the whole of it. The agent does not learn of it. It waits as [Session.Display] does.
// [eventlog.ErrNotFound] for a call of which the sandbox refused nothing, [eventlog.ErrInvalid] for
// one that has no command to run.
func (s *viewer) RunOutside(ctx context.Context, toolCallID string) (DisplayResult, error) {
	var call calls.Call
	if err := s.events.Index(ctx, func(x *calls.Index) { call, _ = x.Call(toolCallID) }); err != nil {
		return DisplayResult{}, err
	}
	if call.Start == 0 || !call.Outside {
		return DisplayResult{},
			fmt.Errorf("the sandbox refused the call %s nothing that can be had outside: %w", toolCallID,
				eventlog.ErrNotFound)
	}
	start, err := s.startOf(ctx, call)
	if err != nil {
		return DisplayResult{}, err
	}
	command, cwd := ranBy(start.Arguments)
	if command == "" {
		return DisplayResult{}, fmt.Errorf("%w: the call %s ran no command that is known whole",
			eventlog.ErrInvalid, toolCallID)
	}
	args, err := json.Marshal(map[string]string{"command": command, "cwd": cwd})
	if err != nil {
		return DisplayResult{}, err
	}
	c, err := s.newDisplay(displays.RunCommand, args)
	if err != nil {
		return DisplayResult{}, err
	}
	return s.runDisplay(ctx, c, agent.CallInfo{Outside: true})
}

// ranBy is the command of a call, and the folder it names for it: of a list of words, what its
// shell was given.
func ranBy(arguments json.RawMessage) (command, cwd string) {
	var args struct {
		Command, Cmd      json.RawMessage
		Cwd, Workdir, Dir string
	}
	if json.Unmarshal(arguments, &args) != nil {
		return "", ""
	}
	for _, raw := range []json.RawMessage{args.Command, args.Cmd} {
		var words []string
		if json.Unmarshal(raw, &command) != nil && json.Unmarshal(raw, &words) == nil &&
			len(words) == 3 && strings.HasPrefix(words[1], "-") && strings.HasSuffix(words[1], "c") {
			command = words[2]
		}
		if command != "" {
			break
		}
	}
	for _, dir := range []string{args.Cwd, args.Workdir, args.Dir} {
		if cwd == "" {
			cwd = dir
		}
	}
	return command, cwd
}

// outside is the question about an act that runs not confined.
func outside(p agent.Permission) *agent.Permission {
	p.Action, p.Sensitive, p.Why = actsOutside, true, outsideWhy
	return &p
}

// actsOutside is what runs that is not confined, as questions have it.
const actsOutside = "run a command outside the sandbox"

// insideReason is why an agent's own shell does not run a command that a rule has run outside.
const insideReason = "A rule of the user's has this command run outside the sandbox, which your " +
	"shell is in. Run it with " + displays.RunCommand + ", which runs it there."

// isOutside reports whether a rule of the user's has a command run where nothing is confined.
func (c *Config) isOutside(ctx context.Context, p agent.Permission) bool {
	return c.Refused != nil && c.Policy != nil && p.Kind == agent.KindShell &&
		c.Policy.Rule(ctx, p).Outside
}

// refuseInside refuses an agent's own shell a command that a rule has run outside.
func (h *host) refuseInside(ctx context.Context, p agent.Permission) (agent.Verdict, error) {
	refusal := event.SandboxRefused{
		ToolCallID: p.ToolCallID,
		What:       p.Resource,
		Kind:       event.RefusedCommand,
		Offers:     []event.Offer{event.OfferOutside},
	}
	err := h.s.events.Persist(ctx, func() error { return h.s.events.Append(refusal) })
	return agent.Verdict{Decision: event.Deny, By: event.DecidedByRule, Reason: insideReason}, err
}
