package convo

import (
	"os"
	"strings"

	"webchat/internal/agent"
	"webchat/internal/document"
)

// triedFile is apart from what a conversation leaves in the folder, since another process writes it
// than the one that has the conversations.
const triedFile = "asking.json"

// Tried keeps what was tried of an agent: whether it asks before it acts.
type Tried struct {
	Folder string // empty: nothing is kept
	Start  string // how the agent is started so that it asks: what was tried holds for that only
}

// trial is what is kept.
type trial struct {
	Version, Start string
	Found          agent.Asking
}

func (t Tried) kept() *document.Value[trial] {
	return document.Open[trial](document.Folder(t.Folder), triedFile, nil)
}

// KeepAsking keeps what was tried of a version of the agent.
func (t Tried) KeepAsking(version string, found agent.Asking) error {
	_ = os.MkdirAll(t.Folder, 0o700) // else there is none, or the next says so
	return t.kept().Change(func(trial) trial { return trial{version, t.Start, found} })
}

// Asking returns what was tried of a version of the agent, as it is started now, and the version
// that is known. Without a version it is the one that was tried.
func (t Tried) Asking(version string) (agent.Asking, string) {
	kept := t.kept().Get() // a damaged file counts as none
	if version == "" {
		version = kept.Version
	}
	if kept.Version == "" || kept.Version != version || kept.Start != t.Start {
		return agent.Asking{}, version
	}
	return kept.Found, version
}

// Unasked is what an agent does without asking, as far as that was found, as [agent.Info].Lacks.
func Unasked(a agent.Asking) []string {
	var does []string
	for _, kind := range []struct {
		asked agent.Asked
		does  string
	}{{a.Writes, "writes files"}, {a.Runs, "runs commands"}, {a.Reads, "reads files such as .env"}} {
		if kind.asked == agent.AskedNo {
			does = append(does, kind.does)
		}
	}
	if len(does) == 0 {
		return nil
	}
	return []string{strings.Join(does, " and ") + " without asking; webchat does not stop it"}
}
