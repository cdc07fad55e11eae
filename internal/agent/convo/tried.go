package convo

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
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

// KeepAsking keeps what was tried of a version of the agent.
func (t Tried) KeepAsking(version string, found agent.Asking) error {
	text, err := json.Marshal(trial{version, t.Start, found})
	if err != nil || t.Folder == "" {
		return err
	}
	return errors.Join(os.MkdirAll(t.Folder, 0o700), document.Write(filepath.Join(t.Folder, triedFile), text))
}

// Asking returns what was tried of a version of the agent, as it is started now, and the version
// that is known. Without a version it is the one that was tried.
func (t Tried) Asking(version string) (agent.Asking, string) {
	var kept trial
	text, err := os.ReadFile(filepath.Join(t.Folder, triedFile))
	if err != nil || t.Folder == "" || json.Unmarshal(text, &kept) != nil { // a damaged file counts as none
		return agent.Asking{}, version
	}
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
	for _, one := range []struct {
		asked agent.Asked
		does  string
	}{{a.Writes, "writes files"}, {a.Runs, "runs commands"}, {a.Reads, "reads files such as .env"}} {
		if one.asked == agent.AskedNo {
			does = append(does, one.does)
		}
	}
	if len(does) == 0 {
		return nil
	}
	return []string{strings.Join(does, " and ") + " without asking; webchat does not stop it"}
}
