// Package agenttest is the contract of a backend as a test, which every backend runs.
//
// [Run] opens conversations with a strict [Host], makes the agent show, run,
// talk, ask and act, aborts it, closes it, and fails for every broken rule:
// events in their order, deltas that add up to their message, exactly one
// completion for each started tool even on abort, permission before an act,
// the display tools offered and "view" not, no call to the host and no
// goroutine after Close, and a panic in what handles the agent's words that ends
// this conversation only. Each check is a subtest.
//
// The package's own tests run the same checks on backends that break one rule
// each, so that a rule that cannot fail is noticed.
//
// A [Host] is also of use alone, to a backend's own tests. Its methods may be
// called concurrently.
//
//	func TestContract(t *testing.T) {
//		agenttest.Run(t, offline.New(offline.Config{}), agenttest.Options{
//			Show: func(path string) string { return "show " + path },
//			...
//		})
//	}
package agenttest

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"webchat/internal/agent"
)

// Options say how to make the backend do things. What a backend needs around it
// (a scripted model, a fake program) is the caller's to set up.
type Options struct {
	// Workspace is the folder the agent works in; it must hold a go.mod. Empty:
	// a fresh one is made for each check.
	Workspace string
	// Show returns a prompt upon which the agent calls render_file_contents once
	// for path, and says something afterwards.
	Show func(path string) string
	// Run returns a prompt upon which the agent calls run_and_display once with
	// command, and says something afterwards, also if that was denied.
	Run func(command string) string
	// Answer is a prompt the agent answers in words, of several pieces if it
	// streams, and quickly.
	Answer string
	// Talk is a prompt the agent answers in words for a minute, in pieces. The
	// checks stop it.
	Talk string
	// Ask is a prompt upon which the agent asks the user something; empty if
	// this backend's agents never do.
	Ask string
	// Write returns a prompt upon which the agent creates the file path by its
	// own means, not by a tool of the session, having asked; nil if this
	// backend's agents do everything through the session's tools.
	Write func(path string) string
	// WriteTwo returns a prompt upon which the agent writes both files in one act by its
	// own means.
	WriteTwo func(one, other string) string
	// Search returns a prompt upon which the agent searches the contents of a folder's
	// files for a text by its own means.
	Search func(text, folder string) string
	// Forge returns a prompt upon which the agent does something by its own means that
	// looks like a call of the session's tool of that name.
	Forge func(tool string) string
	// Cannot says why this backend's agents do not do one of the three above, by its
	// name. An agent that has Write needs either.
	Cannot map[string]string
	// Elsewhere names checks that are not run, and says where what they prove is proved.
	Elsewhere map[string]string
	// Background returns a prompt upon which the agent leaves command running in the
	// background and ends its turn; nil if this backend's agents never do.
	Background func(command string) string
	// Die is a prompt upon which the agent's program ends by itself; empty if that cannot be had.
	Die string
	// Stray is a prompt upon which the agent goes over to another of its modes by
	// itself; empty if this backend's agents never do.
	Stray string
	// Offered returns the names of all tools the agent of the conversation that
	// was opened last could choose from.
	Offered func(tb testing.TB) []string
	// Patience bounds every wait for the backend, an abort included. The contract
	// says one second for that; a busy machine needs more (the default: 10 s).
	Patience time.Duration
}

// check is one subtest: a few rules, tried on one conversation.
type check struct {
	name string
	run  func(testing.TB, agent.Backend, Options)
}

var checks = []check{
	{"Info", checkInfo},
	{"Offered", checkOffered},
	{"Answer", checkAnswer},
	{"Show", checkShow},
	{"RunAllowed", checkRunAllowed},
	{"RunDenied", checkRunDenied},
	{"WriteAllowed", checkWriteAllowed},
	{"WriteDenied", checkWriteDenied},
	{"WriteTwo", checkWriteTwo},
	{"Search", checkSearch},
	{"Forge", checkForge},
	{"Ask", checkAsk},
	{"Attached", checkAttached},
	{"AbortTalk", checkAbortTalk},
	{"AbortTool", checkAbortTool},
	{"AbortWrite", checkAbortWrite},
	{"AbortBefore", checkAbortBefore},
	{"AbortBusy", checkAbortBusy},
	{"Steer", checkSteer},
	{"Background", checkBackground},
	{"Choices", checkChoices},
	{"Rewind", checkRewind},
	{"Compact", checkCompact},
	{"Clear", checkClear},
	{"Inside", checkInside},
	{"CloseTalking", checkCloseTalking},
	{"CloseTwice", checkCloseTwice},
	{"Resume", checkResume},
	{"Died", checkDied},
	{"Contained", checkContained},
}

// Run tests that b keeps the contract. It runs no checks in parallel and expects no other
// goroutines to start or end meanwhile.
func Run(t *testing.T, b agent.Backend, o Options) {
	t.Helper()
	for _, c := range checks {
		if o.Elsewhere[c.name] != "" {
			continue
		}
		t.Run(c.name, func(t *testing.T) { c.run(t, b, o) })
	}
}

func (o Options) patience() time.Duration {
	if o.Patience == 0 {
		return 10 * time.Second
	}
	return o.Patience
}

func (o Options) workspace(tb testing.TB) string {
	if o.Workspace != "" {
		return o.Workspace
	}
	dir := tb.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example\n\ngo 1.26\n", "README.md": "# Example\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			tb.Fatal(err)
		}
	}
	return dir
}
