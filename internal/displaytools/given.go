package displaytools

import (
	"bytes"
	"cmp"
	"path"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/kind"
	"webchat/internal/outputs"
	"webchat/internal/render/code"
	"webchat/internal/tokens"
	"webchat/internal/wording"
)

// App is what a page of a program of the user's draws.
type App = outputs.App

// AppHosts are the origins that it asks to reach.
type AppHosts = outputs.AppHosts

// NewAppHosts returns what may be allowed of what a page asks for.
func NewAppHosts(connect, load []string) AppHosts { return outputs.NewAppHosts(connect, load) }

// Give stores what a program of the user's returned for them as the output of a call. The name says
// by its ending what it is. It returns the line for a model that gets nothing else; sent is what
// the model gets, where it does. app, unless it is nil, draws it, if there is room for that.
func Give(out *outputs.Store, call agent.CallInfo, name string, data []byte, sent string,
	app *App) (t *agent.Telemetry, line string, err error) {
	m := outputs.Meta{Type: outputs.File, SessionID: call.SessionID, ToolCallID: call.ToolCallID,
		Called: call.Started, Path: wording.Name(name)}
	p, bad := look(data)
	if bad == nil && p.mime != "" && p.pixels() <= maxPixels {
		m.Type, m.MimeType, m.Width, m.Height = outputs.Image, p.mime, p.width, p.height
	} else {
		m.Binary, m.MimeType = kind.Binary(data[:min(len(data), sniffed)]), "text/plain; charset=utf-8"
		if m.Binary {
			m.MimeType = cmp.Or(p.mime, kind.Unknown)
		} else {
			m.Highlight = code.Language(name, data[:min(len(data), sniffed)])
			m.StartLine, m.EndLine = 1, countLines(data)
			m.TotalLines = m.EndLine
		}
	}
	if app != nil {
		m.App, _ = out.PutApp(m, *app) // without it the rest is shown
	}
	id, err := out.Put(m, data)
	if err != nil {
		return nil, "", err
	}
	o, err := out.Get(id)
	if err != nil {
		return nil, "", err
	}
	what := strings.TrimSuffix(path.Base(name), path.Ext(name))
	line = confirm("Displayed image %s", what)
	n := int64(0)
	if m.Type == outputs.File {
		n = int64(m.TotalLines)
		line = confirm("Displayed %s to user ("+lines(n)+")", what)
	}
	if sent == "" {
		sent = line
	}
	t = telemetry(o, m.Type, n, sent)
	if m.Type == outputs.Image {
		t.TokensShown, t.TokensEstimated = int64(tokens.Picture(p.width, p.height)), true
	}
	return t, line, nil
}

// countLines counts the lines of a text, an unfinished last one included.
func countLines(data []byte) int {
	n := bytes.Count(data, []byte{'\n'})
	if len(data) > 0 && data[len(data)-1] != '\n' {
		n++
	}
	return n
}

// sniffed is how many bytes decide what a text is.
const sniffed = 8 << 10
