package browser

import (
	"context"
	"strings"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// named are keys that write nothing, or not what they are called.
var named = map[string]struct {
	code int64
	text string
}{
	"Enter": {13, "\r"}, "Tab": {9, ""}, "Escape": {27, ""}, "Backspace": {8, ""}, "Delete": {46, ""}, "Space": {32, " "},
	"ArrowUp": {38, ""}, "ArrowDown": {40, ""}, "ArrowLeft": {37, ""}, "ArrowRight": {39, ""}, "Home": {36, ""}, "End": {35, ""},
	"PageDown": {34, ""}, "Shift": {16, ""}, "F6": {117, ""},
}

var modifiers = map[string]int64{"Alt": 1, "Control": 2, "Meta": 4, "Shift": 8}

// press strikes keys one after the other: "j", "Enter", "Shift+Enter", "Control+k".
func (p *page) press(keys ...string) {
	p.t.Helper()
	for _, key := range keys {
		p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error { return strike(ctx, key) }))
	}
}

func strike(ctx context.Context, key string) error {
	down := input.DispatchKeyEventParams{Type: "rawKeyDown"}
	for {
		mod, rest, ok := strings.Cut(key, "+")
		if !ok || modifiers[mod] == 0 {
			break
		}
		down.Modifiers |= modifiers[mod]
		key = rest
	}
	down.Key = key
	if k, ok := named[key]; ok {
		down.WindowsVirtualKeyCode, down.Code, down.Text = k.code, key, k.text
		if key == "Space" {
			down.Key = " "
		}
	} else {
		if down.Text = key; !strings.Contains("!-./'@", key) { // whose codes are those of keys that write nothing
			down.WindowsVirtualKeyCode = int64(strings.ToUpper(key)[0])
		}
	}
	if down.Modifiers&^modifiers["Shift"] != 0 {
		down.Text = "" // a chord writes nothing
	}
	if down.Text != "" {
		down.Type = "keyDown"
	}
	if _, err := chromedp.Call(ctx, input.DispatchKeyEvent, down); err != nil {
		return err
	}
	up := down
	up.Type, up.Text = "keyUp", ""
	_, err := chromedp.Call(ctx, input.DispatchKeyEvent, up)
	return err
}

// focus gives the focus to an element as somebody does who uses the keyboard: letters
// are keys there.
func (p *page) focus(element string) {
	p.t.Helper()
	p.press("Shift")
	p.js(element + `.focus()`)
}

// write puts text where the focus is, as a keyboard or an input method does.
func (p *page) write(text string) {
	p.t.Helper()
	p.do(chromedp.Func(func(ctx context.Context, _ *chromedp.Target) error {
		_, err := chromedp.Call(ctx, input.InsertText, input.InsertTextParams{Text: text})
		return err
	}))
}

// compose writes text into the empty prompt.
func (p *page) compose(text string) {
	p.t.Helper()
	p.js(`document.getElementById('prompt').focus()`)
	p.write(text)
	p.is(`document.getElementById('prompt').value`, text)
}

// say writes a prompt and sends it by Enter.
func (p *page) say(text string) {
	p.t.Helper()
	p.compose(text)
	p.press("Enter")
}

// see writes what asks to see something, and presses Enter once the button says that it looks.
func (p *page) see(text string) {
	p.t.Helper()
	p.compose(text)
	p.has("#composer[data-looks] .send:not(.stop)", "Look · 0 tokens")
	p.press("Enter")
}

// done waits until what was said left the composer and nothing runs.
func (p *page) done() {
	p.t.Helper()
	p.wait(`document.body.dataset.session && location.pathname.startsWith('/sessions/') && 'joined' in document.body.dataset &&
		document.getElementById('composer').dataset.status === 'idle' && document.getElementById('composer').ariaBusy !== 'true' && document.getElementById('prompt').value === ''`)
}
