package page_test

import (
	"testing"

	"webchat/internal/event"
	"webchat/internal/page/pagetest"
)

// hostsStory has calls that wait for hosts.
func hostsStory() []event.Data {
	wants := func(request, call, host, why string) event.PermissionRequested {
		return event.PermissionRequested{
			RequestID:  request,
			ToolCallID: call,
			ToolName:   "sandbox",
			Kind:       "host",
			Action:     "reach a host",
			Resource:   host,
			Why:        why,
			Grants:     []event.Grant{},
		}
	}
	return join(opening(), starts("c1", "run_and_display", `{"command":"/usr/bin/npm install"}`),
		wants("r1", "c1", "registry.example", ""),
		wants("r2", "c1", "10.0.0.7:5432", "It is in a private network: 10.0.0.7."),
		wants("r3", "c1", "xn--e1afmkfd.example", ""), wants("r4", "", "github.com", ""),
		event.PermissionCompleted{
			RequestID: "r1",
			Decision:  event.Allow,
			Scope:     event.ForWorkspace,
			By:        event.DecidedByUser,
		},
		event.PermissionCompleted{RequestID: "r2", Decision: event.Deny, By: event.DecidedByUser},
		event.PermissionCompleted{
			RequestID: "r3",
			Decision:  event.Allow,
			Scope:     event.Once,
			By:        event.DecidedByUser,
		},
		event.PermissionCompleted{RequestID: "r4", Decision: event.Deny, By: event.DecidedByTimeout})
}

// The hosts that one call waits for are one card, headed by the program that waits.
func TestHostsAreOneCard(t *testing.T) {
	asked := func(id string) int {
		return upTo("hosts", func(d event.Data) bool {
			p, is := d.(event.PermissionRequested)
			return is && p.RequestID == id
		})
	}
	says(t, after(t, "hosts", asked("r1")), "asks-groups", "npm wants registry.example",
		"For all sessions in", "Once", "This session", "This folder", "No")
	d := after(t, "hosts", asked("r4"))
	says(t, d, "asks-groups", "npm wants 3 hosts", "10.0.0.7:5432", "an address without a name",
		"It is in a private network: 10.0.0.7.",
		"letters of other alphabets", "A command wants github.com")
	says(t, d, "p-r1", "npm wants", "registry.example", "waiting for you")
	says(t, d, "all-q-r4.h", "A command wants github.com") // another call's
	d = after(t, "hosts", len(hostsStory()))
	for id, words := range map[string]string{"p-r1": "Opened for this folder",
		"p-r2": "Refused by you", "p-r3": "Opened for this command", "p-r4": "no answer within"} {
		says(t, d, id, words)
	}
	if c := pagetest.ByID(d.Root, "c-c1.r"); c == nil {
		t.Error("the call is not there")
	} else if _, hidden := pagetest.Attr(c, "hidden"); hidden {
		t.Error("a call that was refused a host is hidden, though it ran")
	}
}
