package files

import (
	"bytes"
	"fmt"
	"strings"

	"webchat/internal/wording"
)

// Diff is the list as one unified diff with the heads that git-apply(1) reads. Lines
// that begin with # name files of which both sides are not known, or that are too large.
func (l *ChangeList) Diff() []byte {
	var b bytes.Buffer
	for i, f := range l.Files {
		if sides := l.texts[i]; sides.ok {
			f.diff(&b, sides)
		} else {
			fmt.Fprintf(&b, "# %s: %s, not compared\n", f.Path, f.Kind)
		}
	}
	if l.More {
		b.WriteString("# There are more files than are compared.\n")
	}
	return b.Bytes()
}

func (f *ChangedFile) diff(b *bytes.Buffer, sides texts) {
	from := f.Path
	if f.From != "" {
		from = f.From
	}
	was, now := "a/"+from, "b/"+f.Path
	fmt.Fprintf(b, "diff --git %s %s\n", quoted(was), quoted(now))
	switch f.Kind {
	case Created:
		b.WriteString("new file mode 100644\n")
		was = "/dev/null"
	case Deleted:
		b.WriteString("deleted file mode 100644\n")
		now = "/dev/null"
	case Renamed:
		fmt.Fprintf(b, "rename from %s\nrename to %s\n", quoted(from), quoted(f.Path))
	}
	if f.Binary {
		fmt.Fprintf(b, "Binary files %s and %s differ\n", quoted(was), quoted(now))
		return
	}
	if text := wording.Unified(sides.was, sides.now); text != "" {
		fmt.Fprintf(b, "--- %s\n+++ %s\n%s", ended(was), ended(now), text)
	}
}

// quoted is a name as git writes it in heads.
func quoted(name string) string {
	if !strings.ContainsAny(name, `"\`) {
		return name
	}
	return `"` + strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(name) + `"`
}

// ended is a name as git writes it before a hunk: behind one with a blank stands a tab.
func ended(name string) string {
	if q := quoted(name); q != name || !strings.Contains(name, " ") {
		return q
	}
	return name + "\t"
}
