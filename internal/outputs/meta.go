package outputs

import (
	"encoding/json"
	"time"

	"webchat/internal/displays"
)

// Type is what kind of thing was shown.
type Type string

// The types of outputs.
const (
	File     Type = displays.File
	Terminal Type = displays.Terminal
	Image    Type = displays.Image
)

// FolderType is the MimeType of the names in a folder, one a line: those of folders end in a slash,
// those of links in " (link)".
const FolderType = "inode/directory"

// Meta describes an output. As JSON it has the fields of its Type only; SessionID and ToolCallID
// never leave the server. No field of it chooses the Content-Type the bytes are served with.
type Meta struct {
	Type       Type
	SessionID  string // DeleteSession(SessionID) ends the output; empty: of no session
	ToolCallID string
	Called     time.Time // when the call began; zero: not known. It stays in the server

	Path      string // file, image
	MimeType  string // file, image; for display only
	Highlight string // file: the language

	// A file's lines as shown: StartLine is the number of the first line of the stored bytes (0
	// means 1), TotalLines counts the whole file.
	StartLine, EndLine, TotalLines int
	Binary                         bool // file: bytes for download rather than text
	// Unread is how many bytes at the end of a file were not read, because it took too long. Then
	// TotalLines counts what was read.
	Unread int64

	// Entries are what is known of the names in a folder, one for each line that names one. They stay
	// in the server.
	Entries []Entry

	// Disk is where a file or a picture was read, for [Disk.Now]; nil means not known. It stays in the
	// server.
	Disk *Disk

	// Was is the output that holds what the file was; Earlier marks that one, which stands for no
	// call of its own.
	Was     ID
	Earlier bool
	// App is the output that holds an [App], which draws this one; it is Earlier, too.
	App ID
	// Review marks a file as an agent left it, kept to be compared with Was, what it was before. It
	// stays in the server.
	Review *Review

	Command    string // terminal
	Cwd        string
	ExitCode   *int // nil: it did not exit by itself
	DurationMs int64
	TimedOut   bool

	Truncated bool // set by the package when something was left out
	Gap       *Gap // set by the package: what was left out

	Width, Height int // image, in pixels
}

// Review says which review a text was kept for, and what was there where a text of no bytes stands.
type Review struct {
	Of    string // which review; the same for all its files
	Edits int    // how many edits of the file had been reported
	New   bool   // there was no file before
	Gone  bool   // the agent deleted the file
}

// Entry describes a file in a folder, besides its name. Size is 0 unless the file is regular;
// Modified is zero if it could not be read.
type Entry struct {
	Size     int64
	Modified time.Time
}

// Gap is the one place of an output where bytes were left out.
type Gap struct {
	Offset int64 `json:"offset"` // true offset of the first byte left out
	Bytes  int64 `json:"bytes"`  // how many
	Lines  int64 `json:"lines"`  // line ends among them
	// number of the last line that is kept before it; one less than the first line's if none is
	AfterLine int `json:"afterLine"`
}

type fileJSON struct {
	Type       Type   `json:"type"`
	Path       string `json:"path"`
	Highlight  string `json:"highlight"`
	StartLine  int    `json:"startLine"`
	EndLine    int    `json:"endLine"`
	TotalLines int    `json:"totalLines"`
	MimeType   string `json:"mimeType"`
	Binary     bool   `json:"binary,omitempty"`
	Truncated  bool   `json:"truncated,omitempty"`
	Gap        *Gap   `json:"gap,omitempty"`
	Unread     int64  `json:"unread,omitempty"`
	Was        ID     `json:"was,omitempty"`
	Earlier    bool   `json:"earlier,omitempty"`
	App        ID     `json:"app,omitempty"`
}

type terminalJSON struct {
	Type       Type   `json:"type"`
	Command    string `json:"command"`
	Cwd        string `json:"cwd"`
	ExitCode   *int   `json:"exitCode"`
	DurationMs int64  `json:"durationMs"`
	TotalLines int    `json:"totalLines"`
	TimedOut   bool   `json:"timedOut,omitempty"`
	Truncated  bool   `json:"truncated,omitempty"`
	Gap        *Gap   `json:"gap,omitempty"`
}

type imageJSON struct {
	Type     Type   `json:"type"`
	Path     string `json:"path"`
	MimeType string `json:"mimeType"`
	Width    int    `json:"width"`
	Height   int    `json:"height"`
}

// MarshalJSON writes the fields that belong to m.Type.
func (m Meta) MarshalJSON() ([]byte, error) {
	switch m.Type {
	case Terminal:
		return json.Marshal(terminalJSON{m.Type, m.Command, m.Cwd, m.ExitCode, m.DurationMs, m.TotalLines,
			m.TimedOut, m.Truncated, m.Gap})
	case Image:
		return json.Marshal(imageJSON{m.Type, m.Path, m.MimeType, m.Width, m.Height})
	default:
		return json.Marshal(fileJSON{m.Type, m.Path, m.Highlight, m.StartLine, m.EndLine, m.TotalLines,
			m.MimeType, m.Binary, m.Truncated, m.Gap, m.Unread, m.Was, m.Earlier, m.App})
	}
}

// First is the number, as shown, of the first line.
func (m *Meta) First() int { return max(m.StartLine, 1) }

func (m *Meta) cost() int64 {
	n := len(m.SessionID) + len(m.ToolCallID) + len(m.Path) + len(m.MimeType) + len(m.Highlight) +
		len(m.Command) + len(m.Cwd) + len(m.Was) + len(m.App)
	return overhead + int64(n)
}
