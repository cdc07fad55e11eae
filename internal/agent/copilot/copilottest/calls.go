package copilottest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// rpcParams are the parameters the stand-in looks at.
type rpcParams struct {
	SessionID, Prompt, Mode, WorkingDirectory string
	Tools                                     []struct{ Name string }
	AvailableTools, ExcludedTools             []string
}

// handle answers one call of the client.
func (s *standIn) handle(m rpcMessage) {
	var p rpcParams
	_ = json.Unmarshal(m.Params, &p) // other shapes have none of it
	s.mu.Lock()
	session := s.sessions[p.SessionID]
	s.mu.Unlock()
	if text, ok := s.script[m.Method]; ok {
		s.handleByScript(m, text)
		return
	}
	answer := func(result string) { s.send(rpcMessage{ID: m.ID, Result: json.RawMessage(result)}) }
	switch m.Method {
	case "connect":
		answer(`{"ok":true,"protocolVersion":3,"version":"1.0.102"}`)
	case "session.create", "session.resume":
		s.create(p)
		answer(`{"sessionId":"` + p.SessionID + `","mode":"interactive"}`)
	case "session.tools.getCurrentMetadata":
		answer(session.metadata())
	case "session.options.update":
		if _, stubborn := s.script["stubborn"]; !stubborn {
			session.exclude(p.ExcludedTools)
		}
		session.calls <- m
		answer(`{"success":true}`)
	case "session.history.compact":
		s.event(p.SessionID, "", "session.compaction_start", `{"currentTokens":100}`)
		s.event(p.SessionID, "", "session.compaction_complete", `{"success":true,"messagesRemoved":3}`)
		answer(`{"success":true}`)
	case "session.metadata.isProcessing":
		s.mu.Lock()
		busy := session.cancel != nil
		s.mu.Unlock()
		answer(fmt.Sprintf(`{"processing":%v}`, busy))
	case "session.send":
		s.nextID++
		id := fmt.Sprintf("M%d", s.nextID)
		answer(`{"messageId":"` + id + `"}`)
		if p.Mode == "immediate" {
			s.event(p.SessionID, "", "user.message", `{"messageId":"`+id+`","delivery":"steering"}`)
			session.calls <- m
			return
		}
		if _, late := s.script["begins late"]; late && strings.HasPrefix(p.Prompt, "late") {
			session.unbegun = func() { s.begin(session, id, p.Prompt) }
			return
		}
		s.begin(session, id, p.Prompt)
	case "session.abort":
		s.mu.Lock()
		cancel := session.cancel
		s.mu.Unlock()
		answer(`{"success":true}`)
		switch {
		case session.unbegun != nil:
			s.event(p.SessionID, "", "session.idle", `{}`) // of the turn before
			session.unbegun()
			session.unbegun = nil
		case cancel != nil:
			cancel()
		}
	default:
		if session != nil {
			select {
			case session.calls <- m:
			default:
			}
		}
		answer(`{"success":true}`)
	}
}

// handleByScript answers as the script says.
func (s *standIn) handleByScript(m rpcMessage, text string) {
	why, fails := strings.CutPrefix(text, "error ")
	switch {
	case text == "hang":
	case fails:
		s.send(rpcMessage{ID: m.ID, Error: json.RawMessage(fmt.Sprintf(`{"code":-32603,"message":%q}`,
			"Request "+m.Method+" failed with message: "+why))})
	default:
		s.send(rpcMessage{ID: m.ID, Result: json.RawMessage(text)})
	}
}

// create makes a session that offers some tools of its own and those of the
// client, as far as they are available and not excluded, and those of the file
// "offer" whatever the client says.
func (s *standIn) create(p rpcParams) {
	session := &standInSession{
		id:    p.SessionID,
		calls: make(chan rpcMessage, 100),
		dir:   p.WorkingDirectory,
	}
	for _, name := range []string{"bash", "view", "create", "sql", "lsp"} {
		if p.AvailableTools == nil || slices.Contains(p.AvailableTools, "builtin:"+name) {
			session.offer = append(session.offer, name)
		}
	}
	for _, t := range p.Tools {
		session.offer = append(session.offer, t.Name)
	}
	session.offer = append(session.offer, strings.Fields(s.script["offer"])...)
	session.exclude(p.ExcludedTools)
	s.mu.Lock()
	s.sessions[p.SessionID] = session
	s.mu.Unlock()
}

func (s *standInSession) exclude(names []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.offer = slices.DeleteFunc(s.offer, func(n string) bool { return slices.Contains(names, n) })
}

// metadata is what the session offers, in the CLI's words.
func (s *standInSession) metadata() string {
	var tools []map[string]string
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, name := range s.offer {
		tools = append(tools, map[string]string{"name": name})
	}
	b, err := json.Marshal(map[string]any{"tools": tools})
	if err != nil {
		panic(err)
	}
	return string(b)
}
