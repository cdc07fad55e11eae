// Package manual writes the help from the table of commands and flags.
package manual

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

// Help says what can be done, or explains the command that args name.
func Help(k *kong.Kong, args []string) string {
	n := meant(k, args)
	var b strings.Builder
	if n == k.Model.Node {
		b.WriteString("webchat [command] [flags]\n\ncommands:\n")
		Visit(n, func(c *kong.Node) { fmt.Fprintf(&b, "  %-14s %s\n", CommandName(c), c.Help) })
		b.WriteString("\nflags, each also as an environment variable (--output-ttl as WEBCHAT_OUTPUT_TTL):\n")
		writeFlags(&b, k.Model.Flags)
	} else {
		fmt.Fprintf(&b, "%s: %s\n", n.Summary(), n.Help)
		for _, a := range n.Positional {
			fmt.Fprintf(&b, "  %-22s %s\n", a.Name, a.Help)
		}
		writeFlags(&b, n.Flags)
		Visit(n, func(c *kong.Node) { fmt.Fprintf(&b, "  %-22s %s\n", CommandName(c), c.Help) })
		b.WriteString("Flags of all commands, such as --workspace and --data-dir, are listed by webchat -h.\n")
	}
	return b.String()
}

func writeFlags(b *strings.Builder, flags []*kong.Flag) {
	for _, f := range flags {
		def := ""
		if f.HasDefault {
			def = " (" + f.Default + ")"
		}
		fmt.Fprintf(b, "  --%-20s %s%s\n", f.Name, f.Help, def)
	}
}

// CommandName is a command as one types it.
func CommandName(n *kong.Node) string {
	name, _, _ := strings.Cut(strings.TrimPrefix(n.FullPath(), "webchat "), " <")
	return name
}

// Visit calls f with each command that is to be seen.
func Visit(n *kong.Node, f func(*kong.Node)) {
	for _, c := range n.Children {
		if c.Help != "" {
			f(c)
		}
		Visit(c, f)
	}
}

// meant is the command that args name, or the program.
func meant(k *kong.Kong, args []string) *kong.Node {
	at := k.Model.Node
	for _, a := range args {
		i := slices.IndexFunc(at.Children, func(n *kong.Node) bool { return n.Name == a })
		if i >= 0 {
			at = at.Children[i]
		}
	}
	return at
}
