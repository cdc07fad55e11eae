// A dialect is a session's events in another contract's words. [autohandDialect] speaks the
// nine events of the Autohand SDK. It is a fold over the events of one session, in their order, from the first of its log on: the same
// events always give the same frames, so that a reader who resumes is told what
// one who stayed was told. Its guarantees follow from those of the log:
//
//   - tool_start comes before the tool_end of the same call, and each has one.
//   - permission_request comes before the act and before its tool_end.
//   - hook_invoked comes after the hook's command ended.
//   - turns and their iterations count from 1.
//   - The deltas of a message, put together, are the message.
//
// A value belongs to one reader and one goroutine.

package server

// dialectNames are the dialects there are.
func dialectNames() []string { return []string{"autohand"} }

// dialectFrame is one event in the words of a dialect.
type dialectFrame struct {
	// Seq is the place in the log up to which a reader knows everything once it
	// has this frame; it is the id to resume with.
	Seq int64
	// JSON is one line: id, timestamp, type and data.
	JSON []byte
}

// dialectMessage is the text of a message in flight, as far as a reader was told.
type dialectMessage struct {
	text []byte // what is known
	told int    // bytes of text that were told
}

// delta puts text at offset, as [event.AssistantMessageDelta] says.
func (m *dialectMessage) delta(offset int64, text string) {
	if offset < 0 || offset > int64(len(m.text)) {
		return // a hole cannot be told; the whole message will be
	}
	m.text = append(m.text[:offset], text...)
	m.told = min(m.told, int(offset))
}

// due reports whether enough is new to tell the whole text once more: with every
// piece a long message would be sent as often as it has pieces.
func (m *dialectMessage) due() bool {
	return len(m.text) > m.told && len(m.text)-m.told >= len(m.text)/32
}

// take returns what was not told yet, and notes that it is told now.
func (m *dialectMessage) take() string {
	fresh := string(m.text[m.told:])
	m.told = len(m.text)
	return fresh
}
