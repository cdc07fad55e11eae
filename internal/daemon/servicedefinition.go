package daemon

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"path/filepath"
	"strings"
)

// unitText is the unit for systemd; see systemd.service(5) and, for the escapes,
// systemd.syntax(7) and systemd.unit(5), "Specifiers". The server ends what its
// commands started, so only it gets the signal to stop; its sign-in link is kept out of
// the journal.
func unitText(s *Service) string {
	var b strings.Builder
	fmt.Fprintf(&b,
		"# %s; webchat service remove removes it.\n[Unit]\nDescription=webchat, a browser chat for "+
			"coding agents\n\n[Service]\n", serviceMark)
	fmt.Fprintf(&b, "ExecStart=%s\n", strings.Join(quoteAll(s.Program, func(a string) string {
		return unitQuoted(strings.ReplaceAll(a, "$", "$$"))
	}), " "))
	for _, v := range s.Set {
		fmt.Fprintf(&b, "Environment=%s\n", unitQuoted(v))
	}
	b.WriteString(
		"StandardOutput=null\nRestart=on-failure\nRestartPreventExitStatus=2\nKillMode=mixed\n" +
			"TimeoutStopSec=30\n\n[Install]\nWantedBy=default.target\n")
	return b.String()
}

var unitEscapes = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "%", "%%")

func unitQuoted(text string) string { return `"` + unitEscapes.Replace(text) + `"` }

// plistText is the property list for launchd; see launchd.plist(5).
func plistText(s *Service) string {
	var b strings.Builder
	b.WriteString(xml.Header + "<!-- " + serviceMark + "; webchat service remove removes it. -->\n" +
		"<!DOCTYPE plist PUBLIC \"-//Apple//DTD PLIST 1.0//EN\" " +
		"\"http://www.apple.com/DTDs/PropertyList-1.0.dtd\">\n<plist version=\"1.0\">\n<dict>\n")
	text := func(kind, s string) string { return "<" + kind + ">" + escaped(s) + "</" + kind + ">" }
	fmt.Fprintf(&b, "\t%s\n\t%s\n", text("key", "Label"), text("string", serviceName))
	fmt.Fprintf(&b, "\t%s\n\t<array>\n", text("key", "ProgramArguments"))
	for _, a := range s.Program {
		fmt.Fprintf(&b, "\t\t%s\n", text("string", a))
	}
	fmt.Fprintf(&b, "\t</array>\n\t%s\n\t<dict>\n", text("key", "EnvironmentVariables"))
	for _, v := range s.Set {
		key, value, _ := strings.Cut(v, "=")
		fmt.Fprintf(&b, "\t\t%s\n\t\t%s\n", text("key", key), text("string", value))
	}
	fmt.Fprintf(&b, "\t</dict>\n\t%s\n\t<true/>\n", text("key", "RunAtLoad"))
	fmt.Fprintf(&b, "\t%s\n\t<dict>\n\t\t%s\n\t\t<false/>\n\t</dict>\n", text("key", "KeepAlive"),
		text("key", "SuccessfulExit"))
	fmt.Fprintf(&b, "\t%s\n\t%s\n", text("key", "StandardErrorPath"),
		text("string", filepath.Join(s.Home, "Library", "Logs", serviceName+".log")))
	b.WriteString("</dict>\n</plist>\n")
	return b.String()
}

func escaped(text string) string {
	var b bytes.Buffer
	_ = xml.EscapeText(&b, []byte(text)) // a buffer takes everything
	return b.String()
}

func quoteAll(args []string, quote func(string) string) []string {
	quoted := make([]string, len(args))
	for i, a := range args {
		quoted[i] = quote(a)
	}
	return quoted
}
