package convo

import (
	"fmt"
	"strings"
	"sync"

	"webchat/internal/agent"
)

// Text is a prompt as one text: what it says, and the texts of its attachments but those that take
// takes. A picture among these is only named.
func Text(p agent.Prompt, take func(agent.Attachment) bool) string {
	text := p.Content
	for _, a := range p.Attachments {
		switch {
		case take(a):
		case a.Path != "":
			text += "\n\nThe user attached the file " + a.Path
		case Picture(a):
			text += fmt.Sprintf("\n\n(The user attached the picture %s, which you cannot see.)", a.Name)
		default:
			text += fmt.Sprintf("\n\nThe user attached %s:\n%s", a.Name,
				strings.ToValidUTF8(string(a.Data), "\uFFFD"))
		}
	}
	return text
}

// Picture reports whether an attachment is one.
func Picture(a agent.Attachment) bool { return strings.HasPrefix(a.MimeType, "image/") }

// Once remembers names, such as those of MCP servers whose lack was reported.
// Its zero value is ready; it may be used concurrently.
type Once struct {
	mu    sync.Mutex // guards known
	known map[string]bool
}

// First reports whether a name comes for the first time.
func (o *Once) First(name string) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.known == nil {
		o.known = map[string]bool{}
	}
	known := o.known[name]
	o.known[name] = true
	return !known
}
