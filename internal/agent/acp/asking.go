package acp

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"strings"

	"webchat/internal/agent"
)

// askingFile is in the backend's Home. It is apart from what a conversation leaves there, since
// another process writes it than the one that has the conversations.
const askingFile = "asking.json"

// tried is what was found of an agent, and of which.
type tried struct {
	Version string
	Start   string // how it is started; see Preset.start
	Found   agent.Asking
}

// KeepAsking keeps what was tried of a version of the agent.
func (b *Backend) KeepAsking(version string, found agent.Asking) error {
	return b.write(askingFile, tried{version, b.cfg.start(), found})
}

// asking returns what was tried of a version of the agent, as it is started now, and the version
// that is known. Without a version it is the one that was tried.
func (b *Backend) asking(version string) (agent.Asking, string) {
	t := read[tried](b, askingFile)
	version = cmp.Or(version, t.Version)
	if t.Version == "" || t.Version != version || t.Start != b.cfg.start() {
		return agent.Asking{}, version
	}
	return t.Found, version
}

// start is a digest of what the agent is started with so that it asks.
func (p Preset) start() string {
	v := object{"command": p.Command, "env": p.Env, "mode": p.Mode, "asks": p.Asks}
	if p.Meta != nil {
		v["meta"] = p.Meta(false)
	}
	text, _ := json.Marshal(v) // it never fails
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}

// unasked is what the agent does without asking: what was found, else what is known of the preset.
func (p Preset) unasked(a agent.Asking) string {
	var does []string
	for _, one := range []struct {
		asked agent.Asked
		does  string
	}{{a.Writes, "writes files"}, {a.Runs, "runs commands"}, {a.Reads, "reads files such as .env"}} {
		if one.asked == agent.AskedNo {
			does = append(does, one.does)
		}
	}
	switch {
	case len(does) > 0:
		return strings.Join(does, " and ") + " without asking; webchat does not stop it"
	case a == agent.Asking{Writes: agent.AskedYes, Runs: agent.AskedYes, Reads: agent.AskedYes}:
		return ""
	}
	return p.Consent
}
