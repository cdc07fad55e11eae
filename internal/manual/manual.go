// Package manual writes what the command line says of itself, all of it made of the one
// table of commands and flags: help, the manual page, and scripts that complete a
// command line in a shell.
package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Page is the manual page; see man(7).
func Page(k *kong.Kong) string {
	var b strings.Builder
	b.WriteString(".TH WEBCHAT 1 \"\" webchat\n.SH NAME\nwebchat \\- a browser chat for coding agents in which looking costs no tokens\n" +
		".SH SYNOPSIS\n.B webchat\n[\\fIcommand\\fR] [\\fIflags\\fR]\n.SH COMMANDS\n")
	Visit(k.Model.Node, func(n *kong.Node) {
		fmt.Fprintf(&b, ".TP\n.B %s\n%s\n", roff(CommandName(n)), roff(n.Help))
		for _, a := range n.Positional {
			fmt.Fprintf(&b, ".RS\n.TP\n.I %s\n%s\n.RE\n", roff(a.Name), roff(a.Help))
		}
		manualFlags(&b, ".RS\n", n.Flags, ".RE\n")
	})
	b.WriteString(".SH OPTIONS\nEach is also an environment variable: \\-\\-output\\-ttl is WEBCHAT_OUTPUT_TTL.\n")
	manualFlags(&b, "", k.Model.Flags, "")
	b.WriteString(".SH EXIT STATUS\n0 after a clean stop, 1 if something went wrong, 2 if the arguments or the configuration cannot be used.\n")
	return b.String()
}

func manualFlags(b *strings.Builder, before string, flags []*kong.Flag, after string) {
	for _, f := range flags {
		value, standard := "", ""
		if !f.IsBool() {
			value = " \\fI" + roff(f.FormatPlaceHolder()) + "\\fR"
		}
		if f.HasDefault {
			standard = " (" + f.Default + ")"
		}
		fmt.Fprintf(b, "%s.TP\n\\fB\\-\\-%s\\fR%s\n%s\n%s", before, roff(f.Name), value, roff(f.Help+standard), after)
	}
}

// roff is a text as man(7) takes it: a line that begins with a dot or a quote would be
// a request.
func roff(text string) string {
	text = strings.NewReplacer(`\`, `\e`, "-", `\-`).Replace(text)
	if strings.HasPrefix(text, ".") || strings.HasPrefix(text, "'") {
		text = `\&` + text
	}
	return text
}
