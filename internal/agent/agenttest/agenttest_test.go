package agenttest

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestGoodBackendPasses(t *testing.T) {
	b, o := newToy(t, "")
	Run(t, b, o)
}

// recorder is a TB that takes failures instead of failing.
type recorder struct {
	testing.TB
	mu   sync.Mutex // guards said
	said []string
}

func (r *recorder) Errorf(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.said = append(r.said, fmt.Sprintf(format, args...))
}
func (r *recorder) Error(args ...any) { r.Errorf("%s", fmt.Sprint(args...)) }
func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	runtime.Goexit()
}
func (r *recorder) Fatal(args ...any) { r.Fatalf("%s", fmt.Sprint(args...)) }

// try runs one check and returns what it says.
func try(t *testing.T, name, fault string, patience time.Duration) []string {
	t.Helper()
	for _, c := range checks {
		if c.name != name {
			continue
		}
		b, o := newToy(t, fault)
		o.Patience = patience
		r := &recorder{TB: t}
		done := make(chan struct{})
		go func() {
			defer close(done)
			c.run(r, b, o)
		}()
		<-done
		return r.said
	}
	t.Fatalf("there is no check %s", name)
	return nil
}

// TestEachBrokenRuleIsCaught runs a check on backends that break one rule each.
func TestEachBrokenRuleIsCaught(t *testing.T) {
	covered := map[string]bool{}
	for _, c := range []struct{ fault, check, says string }{
		{"bad name", "Info", "the name"},
		{"unavailable", "Info", "not available"},
		{"bad intercept", "Info", "\"some\" is not a reach"},
		{"bad model", "Info", "a model without"},
		{"offers view", "Offered", "the tool view is offered"},
		{"offers too little", "Offered", "the tool render_file_contents is not offered"},
		{"forbidden event", "Answer", "reported user.message, which is not"},
		{"nested step", "Answer", "started inside another"},
		{"open step", "Answer", "never ended"},
		{"late report", "Answer", "outside a Prompt"},
		{"calls view", "Show", "called the tool view, which was not offered"},
		{"wrong file", "Show", "it showed \"README.md\""},
		{"wrong command", "RunAllowed", "it ran \"go env\", not"},
		{"runs by itself", "RunDenied", "the agent ran the command by itself"},
		{"call detached", "AbortTool", "Prompt, aborted, did not return"},
		{"same id", "Show", "called twice"},
		{"completes a call", "Show", "CallTool does that"},
		{"silent", "Show", "says nothing"},
		{"progress first", "WriteAllowed", "progress before its start"},
		{"starts twice", "WriteAllowed", "started twice"},
		{"acts first", "WriteAllowed", "acted before it was allowed"},
		{"never asks", "WriteAllowed", "did not ask"},
		{"asks vaguely", "WriteAllowed", "without kind, action or resource"},
		{"acts though denied", "WriteDenied", "denied, the agent acted"},
		{"asks about one", "WriteTwo", "it did not ask to write"},
		{"acts though denied", "AbortWrite", "denied by the abort, the agent acted"},
		{"acts though denied", "WriteTwo", "denied, the agent wrote"},
		{"searches vaguely", "Search", "did not say for what"},
		{"searches unasked", "Search", "a call showed the sensitive file"},
		{"passes as ours", "Forge", "was not asked about"},
		{"hides what looks like ours", "Forge", "was not shown"},
		{"success and error", "WriteAllowed", "success true with result"},
		{"completes twice", "WriteDenied", "completed twice"},
		{"cut rune", "Answer", "cuts a rune"},
		{"offset in runes", "Answer", "has offset"},
		{"no offset", "Answer", "has offset 0"},
		{"other whole", "Answer", "the deltas add up to"},
		{"no whole", "Answer", "never came whole"},
		{"whole twice", "Answer", "came whole twice"},
		{"delta after whole", "Answer", "a delta after the whole"},
		{"deaf", "Ask", "the answer"},
		{"does not talk", "AbortTalk", "an aborted Prompt returned <nil>"},
		{"ignores abort", "AbortTalk", "did not return within"},
		{"hangs when its session was busy", "AbortBusy", "did not return within"},
		{"hangs on abort", "AbortBefore", "Prompt, aborted, did not return"},
		{"hides abort", "AbortTalk", "an aborted Prompt returned <nil>"},
		{"dead after abort", "AbortTalk", "Prompt(\"hello\"): closed"},
		{"steer fails", "Steer", "Steer without a turn returned cannot"},
		{"prompt after close", "CloseTwice", "Prompt after Close returned nil"},
		{"leaks", "Answer", "left after Close"},
		{"host after close", "CloseTalking", "after Close"},
		{"close once", "CloseTwice", "Close: closed already"},
		{"close hangs", "CloseTwice", "Close did not return"},
		{"waits for tasks", "Background", "Prompt did not return"},
		{"keeps tasks", "Background", "it was not completed"},
		{"task without a title", "Background", "without its id, its title or its kind"},
		{"stop ends tasks", "Background", "a stop of the turn ended what runs"},
		{"nameless mode", "Choices", "a mode without id or name"},
		{"strange mode", "Choices", "not among the choices"},
		{"stops asking", "Choices", "in which the agent does not ask, returned <nil>"},
		{"keeps its mode", "Choices", "after SetMode(\"plan\")"},
		{"takes any mode", "Choices", "a mode there is not returned <nil>"},
		{"tells a choice", "Choices", "a choice of the user's was reported"},
		{"hides a mode", "Choices", "that was not reported"},
		{"slashed command", "Choices", "a command without a name"},
		{"nameless prompt", "Rewind", "have the names"},
		{"one name for all", "Rewind", "have the names"},
		{"does not go back", "Rewind", "Rewind: "},
		{"dead after going back", "Rewind", "Prompt(\"hello\"): closed"},
		{"silent summary", "Compact", "it reported []"},
		{"unable to sum up", "Compact", "Compact: no"},
		{"dead after a summary", "Compact", "Prompt(\"hello\"): closed"},
		{"forgets once", "Clear", "Clear: nothing to forget"},
		{"dead after forgetting", "Clear", "Prompt(\"hello\"): closed"},
		{"view after forgetting", "Clear", "the tool view is offered"},
		{"tells less", "Inside", "it promises to tell of skills"},
		{"tells more", "Inside", "it promises to tell of helpers"},
		{"odd sum", "Inside", "add up to 5, not 7"},
		{"nameless file", "Inside", "an instruction file without a path"},
		{"resume denied", "Resume", "Open resumes"},
		{"resume broken", "Resume", "Open does not resume"},
		{"dies of a file", "Attached", "Prompt with go.mod: agent ended: of a file"},
		{"hides its death", "Died", "whose agent died returned <nil>"},
		{"dies unsaid", "Died", "whose agent died returned agent ended"},
		{"hides a panic", "Contained", "Prompt returned nil after a panic at Report of assistant."},
		{"repeats a panic", "Contained", "the user reads \"agent ended: swordfish\""},
		{"hangs on a panic", "Contained",
			"Prompt, after a panic at Report of assistant., did not return"},
	} {
		covered[c.check] = true
		t.Run(strings.ReplaceAll(c.fault, " ", "-"), func(t *testing.T) {
			// What hangs on purpose is waited for in vain, so not for long.
			patience := time.Duration(0)
			if strings.Contains(c.says, "did not return") {
				patience = 200 * time.Millisecond
			}
			said := try(t, c.check, c.fault, patience)
			if !slices.ContainsFunc(said, func(s string) bool { return strings.Contains(s, c.says) }) {
				t.Errorf("the check %s does not say %q, only %q", c.check, c.says, said)
			}
		})
	}
	for _, c := range checks {
		if !covered[c.name] {
			t.Errorf("no backend fails the check %s: can it fail?", c.name)
		}
	}
}
