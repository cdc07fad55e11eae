package browser

import (
	"testing"

	"webchat/internal/agent/copilot/copilottest"
)

// The menu behind / offers what the agent of this session can, and each does what it says:
// the real Copilot CLI on a model of ours.
func TestCommandsOfTheAgent(t *testing.T) {
	model := copilottest.New(t)
	s := start(t, "--backend", "copilot", "--copilot-path", realCopilot(t), "--provider-url", model.URL(), "--model", "fake-1")
	p := s.open("/")
	p.compose("/")
	p.wait(`!document.getElementById('menu').hidden`)
	if p.true(`document.getElementById('menu').textContent.includes('/compact')`) {
		t.Error("before there is a session the menu offers what its agent can")
	}
	p.press("Escape")
	p.js(prompt + `.select()`)
	p.say("hello from the page")
	p.done()
	p.compose("/")
	p.has("#menu [role=option]", "/compact")
	p.has("#menu [role=option]", "/clear")
	p.has("#menu [role=option]", "/skills")
	p.shots("menu-agent")
	p.press("Escape")
	p.js(prompt + `.select()`)

	p.say("/context")
	p.has("#menu [role=option]", "System prompt")
	p.has("#menu [role=option]", "Conversation")
	p.shots("menu-context")
	p.press("Escape")
	p.js(prompt + `.select()`)
	p.say("/agents")
	p.has("#menu [role=option]", "explore")
	p.press("Escape")
	p.js(prompt + `.select()`)
	p.say("/mcp")
	p.has("#menu [role=option]", "No MCP servers")
	p.press("Escape")
	p.js(prompt + `.select()`)

	p.say("/compact the greeting")
	p.has("#turns .turn:last-child", "You had the conversation summarized, with a focus on: the greeting")
	p.done()

	// A plan stands above the composer until the user says what becomes of it.
	s.api("PATCH", "/api/sessions/"+p.session(), map[string]string{"mode": "plan"})
	p.has("#turns", "Switched to Plan mode")
	p.say(`call exit_plan_mode {"summary":"# Mend it\\n\\n1. **first** this"}`)
	p.has("#asks .perm-about h4", "Mend it")
	p.has("#asks", "Carry out this plan?")
	p.accessible("a plan")
	p.shots("plan")
	p.click("#asks [data-choice='Leave plan mode and wait']")
	p.done()
	p.has("#turns", "Switched to Interactive mode")

	p.say("/clear")
	p.click("#confirm [data-part=yes]")
	p.wait(`document.querySelectorAll('#turns .turn[data-left]').length >= 2`)
	p.say("hello again")
	p.has("#turns .turn:last-child .said", "You said: hello again")
	p.done()
	if all := model.Requests(); len(all) == 0 || len(all[len(all)-1].Messages) != 2 {
		t.Errorf("after it was cleared the model is sent %+v", all[len(all)-1].Messages)
	}
}
