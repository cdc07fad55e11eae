package mcp

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"path"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"webchat/internal/agent"
	"webchat/internal/displaytools"
	"webchat/internal/event"
	"webchat/internal/wording"
)

// mostBlocks is how many blocks of a result are read.
const mostBlocks = 10000

// part is a part of a result.
type part struct {
	name string // by its ending it says what it is
	data []byte
	text bool
}

// shares are who gets what of a result.
type shares struct {
	model    []string             // for the model, and folded for the user
	pictures []agent.BinaryResult // the same
	user     []part               // on the Desk only
}

// share decides who gets what of a result; docs/MCP.md has it as a table. What is for both goes to
// the model, and is on the Desk where a row cannot show it. The result's _meta goes nowhere.
func share(tool string, res *mcp.CallToolResult) (s shares) {
	for i, block := range res.Content {
		if i == mostBlocks {
			s.model = append(s.model, fmt.Sprintf("(%d more blocks were left out.)",
				len(res.Content)-mostBlocks))
			break
		}
		switch b := block.(type) {
		case *mcp.TextContent:
			model, user := audience(b.Annotations)
			switch {
			case model:
				s.model = append(s.model, b.Text)
			case user:
				s.user = append(s.user, part{tool + textEnding(b.Text), []byte(b.Text), true})
			}
		case *mcp.ImageContent:
			model, user := audience(b.Annotations)
			if model {
				s.pictures = append(s.pictures, agent.BinaryResult{Type: "image", MimeType: b.MIMEType,
					Data: base64.StdEncoding.EncodeToString(b.Data)})
			}
			if user {
				s.user = append(s.user, part{tool + ending(b.MIMEType), b.Data, false})
			}
		case *mcp.AudioContent:
			s.user = append(s.user, part{tool + ending(b.MIMEType), b.Data, false})
		case *mcp.ResourceLink:
			if model, _ := audience(b.Annotations); model {
				s.model = append(s.model, strings.TrimSpace(b.Name+" "+b.URI))
			}
			s.user = append(s.user, part{tool + ".md", []byte(linked(b)), true})
		case *mcp.EmbeddedResource:
			s.embedded(tool, b)
		}
	}
	if res.StructuredContent == nil || s.have(res.StructuredContent) {
		return s
	}
	text, err := json.MarshalIndent(res.StructuredContent, "", "  ")
	if err != nil {
		return s
	}
	s.user = append(s.user, part{tool + ".json", text, true})
	if len(s.model)+len(s.pictures) == 0 && len(s.user) == 1 {
		s.model = append(s.model, string(text)) // the server has no other words for it
	}
	return s
}

// have reports whether structured content is nothing but a text that is shared out already: many
// servers return a text once more as {"content": "…"} or {"result": "…"}.
func (s *shares) have(structured any) bool {
	fields, _ := structured.(map[string]any)
	for _, v := range fields {
		text, ok := v.(string)
		return ok && len(fields) == 1 && (text == strings.Join(s.model, "\n") ||
			slices.ContainsFunc(s.user, func(p part) bool { return p.text && string(p.data) == text }))
	}
	return false
}

// embedded shares out an embedded resource. A page is for the user alone.
func (s *shares) embedded(tool string, b *mcp.EmbeddedResource) {
	r := b.Resource
	if r == nil {
		return
	}
	name := tool + ending(r.MIMEType)
	if u, err := url.Parse(r.URI); err == nil && path.Ext(u.Path) != "" {
		name = path.Base(u.Path)
	}
	if r.Blob != nil {
		s.user = append(s.user, part{name, r.Blob, false})
		return
	}
	if model, _ := audience(b.Annotations); model && !strings.HasPrefix(r.URI, "ui:") {
		s.model = append(s.model, r.Text)
	}
	s.user = append(s.user, part{name, []byte(r.Text), true})
}

// audience says whom a block is for: without a word about it, both.
func audience(a *mcp.Annotations) (model, user bool) {
	if a == nil || len(a.Audience) == 0 {
		return true, true
	}
	return slices.Contains(a.Audience, "assistant"), slices.Contains(a.Audience, "user")
}

// linked is a link to a resource, in Markdown.
func linked(l *mcp.ResourceLink) string {
	name := strings.NewReplacer("[", "(", "]", ")").Replace(oneLine(cmp.Or(l.Title, l.Name, l.URI)))
	uri := strings.NewReplacer("<", "%3C", ">", "%3E").Replace(oneLine(l.URI))
	text := "[" + name + "](<" + uri + ">)"
	if l.Description != "" {
		text += "\n\n" + l.Description
	}
	return text + "\n"
}

// textEnding is how the name of a text ends.
func textEnding(text string) string {
	if text = strings.TrimSpace(text); text != "" && strings.ContainsRune("[{", rune(text[0])) &&
		json.Valid([]byte(text)) {
		return ".json"
	}
	return ".txt"
}

// ending is how the name of something of a type ends.
func ending(mimeType string) string {
	kind, sub, _ := strings.Cut(strings.ToLower(mimeType), "/")
	sub, _, _ = strings.Cut(sub, ";")
	switch {
	case sub == "markdown":
		return ".md"
	case sub == "jpeg" || sub == "png" || sub == "gif" || sub == "webp" || sub == "json" ||
		sub == "csv" || sub == "html" || sub == "pdf" || sub == "wav":
		return "." + sub
	case kind == "text", kind == "":
		return ".txt"
	}
	return ".bin"
}

// whole makes one of several parts: a page that has them one below the other.
func whole(tool string, parts []part) part {
	if len(parts) == 1 {
		return parts[0]
	}
	var b strings.Builder
	for _, p := range parts {
		switch {
		case !p.text:
			fmt.Fprintf(&b, "(%s, %s, is not shown here.)\n\n", p.name, wording.Size(int64(len(p.data))))
		case strings.HasSuffix(p.name, ".json"):
			fence := "```"
			for strings.Contains(string(p.data), fence) {
				fence += "`"
			}
			fmt.Fprintf(&b, "%sjson\n%s\n%s\n\n", fence, p.data, fence)
		default:
			fmt.Fprintf(&b, "%s\n\n", strings.TrimSpace(string(p.data)))
		}
	}
	return part{tool + ".md", []byte(b.String()), true}
}

// given is a result as the session has it. app, unless it is nil, draws it for the user.
func (t *serverTool) given(call agent.CallInfo, res *mcp.CallToolResult,
	app *displaytools.App) agent.Result {
	s := share(t.name, res)
	text := strings.ToValidUTF8(strings.Join(s.model, "\n"), "\uFFFD")
	if res.IsError {
		r := agent.Failure(event.KindProvider, "%s", cmp.Or(text, t.at.name+" reports an error."))
		if len(s.user) > 0 {
			shown := whole(t.name, s.user)
			r.SessionLog = strings.ToValidUTF8(string(shown.data), "\uFFFD")
		}
		return r
	}
	leftOut := ""
	if t.g.desk.IsLarge(text) {
		s.user = slices.Insert(s.user, 0, part{t.name + textEnding(text), []byte(text), true})
		text, leftOut = t.g.desk.Shorten(t.g.id, t.spec.Name, text)
	}
	r := agent.Result{Type: agent.Success, TextForModel: text, Binary: s.pictures}
	if len(s.user) > 0 || app != nil {
		shown := s.shown(t.name, app)
		sent := text
		if sent == "" && len(s.pictures) > 0 {
			sent = "The picture is shown to the user, too."
			r.TextForModel = sent
		}
		tel, line, err := t.g.desk.Give(call, t.at.name+"/"+shown.name, shown.data, sent, app)
		if err != nil {
			r.TextForModel = cmp.Or(r.TextForModel,
				"What it returned is for the user, who could not be shown it.")
			return r
		}
		r.Telemetry, r.TextForModel = tel, cmp.Or(text, r.TextForModel, line)
		if len(s.user) == 1 { // else lines have other numbers
			tel.LeftOut = leftOut
		}
	}
	r.TextForModel = cmp.Or(r.TextForModel, "Done.")
	return r
}
