package manual

import (
	"fmt"
	"strings"

	"github.com/alecthomas/kong"
)

// Shells are those that Completion writes for.
var Shells = []string{"bash", "zsh", "fish", "powershell"}

// Completion is a script that completes commands and flags in a shell, made of the table
// of commands and flags. values are the words, parted by spaces, that some flags take,
// by the name of the flag. It reports false for a shell it does not know.
func Completion(shell string, k *kong.Kong, values map[string]string) (script string, known bool) {
	write, known := map[string]func(*strings.Builder, *kong.Kong, map[string]string){"bash": bashCompletion, "zsh": zshCompletion, "fish": fishCompletion, "powershell": powershellCompletion}[shell]
	if !known {
		return "", false
	}
	var b strings.Builder
	write(&b, k, values)
	return b.String(), true
}

// words are what can stand on a command line: the flags of all commands, and the
// commands with those of their own.
func words(k *kong.Kong) string {
	var list []string
	for _, c := range k.Model.Children {
		if !c.Hidden || len(c.Children) > 0 {
			list = append(list, c.Name)
		}
	}
	for _, f := range k.Model.Flags {
		list = append(list, "--"+f.Name)
	}
	return strings.Join(list, " ")
}

// under are the words behind a command: its commands and flags.
func under(n *kong.Node) string {
	var list []string
	for _, c := range n.Children {
		if !c.Hidden {
			list = append(list, c.Name)
		}
	}
	for _, f := range n.Flags {
		list = append(list, "--"+f.Name)
	}
	if n.Name == "completion" {
		list = append(list, Shells...)
	}
	return strings.Join(list, " ")
}

// eachWithMore calls f with each command that has words of its own, by its name.
func eachWithMore(n *kong.Node, f func(name, words string)) {
	for _, c := range n.Children {
		if more := under(c); more != "" {
			f(c.Name, more)
		}
		eachWithMore(c, f)
	}
}

func bashCompletion(b *strings.Builder, k *kong.Kong, values map[string]string) {
	b.WriteString("_webchat() {\n  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words word\n  COMPREPLY=()\n  case $prev in\n")
	for _, f := range k.Model.Flags {
		switch {
		case values[f.Name] != "":
			fmt.Fprintf(b, "  --%s) COMPREPLY=($(compgen -W %q -- \"$cur\")); return ;;\n", f.Name, values[f.Name])
		case !f.IsBool():
			fmt.Fprintf(b, "  --%s) return ;;\n", f.Name) // names of files, by the shell
		}
	}
	fmt.Fprintf(b, "  esac\n  words=%q\n  for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n    case $word in\n", words(k))
	eachWithMore(k.Model.Node, func(name, more string) { fmt.Fprintf(b, "    %s) words=\"%s $words\" ;;\n", name, more) })
	b.WriteString("    esac\n  done\n  COMPREPLY=($(compgen -W \"$words\" -- \"$cur\"))\n}\ncomplete -o default -F _webchat webchat\n")
}

// zshCompletion is bash's, which zsh understands.
func zshCompletion(b *strings.Builder, k *kong.Kong, values map[string]string) {
	b.WriteString("autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n")
	bashCompletion(b, k, values)
}

func fishCompletion(b *strings.Builder, k *kong.Kong, values map[string]string) {
	quoted := strings.NewReplacer(`\`, `\\`, `'`, `\'`)
	line := func(condition string, f *kong.Flag) {
		fmt.Fprintf(b, "complete -c webchat%s -l %s -d '%s'", condition, f.Name, quoted.Replace(f.Help))
		switch {
		case values[f.Name] != "":
			fmt.Fprintf(b, " -x -a '%s'", values[f.Name])
		case !f.IsBool():
			b.WriteString(" -r")
		}
		b.WriteByte('\n')
	}
	for _, f := range k.Model.Flags {
		line("", f)
	}
	for _, c := range k.Model.Children {
		if c.Help != "" || len(c.Children) > 0 {
			fmt.Fprintf(b, "complete -c webchat -n __fish_use_subcommand -f -a %s -d '%s'\n", c.Name, quoted.Replace(c.Help))
		}
	}
	eachWithMore(k.Model.Node, func(name, more string) {
		for word := range strings.FieldsSeq(more) {
			if !strings.HasPrefix(word, "--") {
				fmt.Fprintf(b, "complete -c webchat -n '__fish_seen_subcommand_from %s' -f -a %s\n", name, word)
			}
		}
	})
	Visit(k.Model.Node, func(n *kong.Node) {
		for _, f := range n.Flags {
			line(" -n '__fish_seen_subcommand_from "+n.Name+"'", f)
		}
	})
}

func powershellCompletion(b *strings.Builder, k *kong.Kong, _ map[string]string) {
	list := func(words string) string { return "'" + strings.Join(strings.Fields(words), "', '") + "'" }
	b.WriteString("Register-ArgumentCompleter -Native -CommandName webchat -ScriptBlock {\n  param($wordToComplete, $commandAst, $cursorPosition)\n")
	fmt.Fprintf(b, "  $words = @(%s)\n  switch ($commandAst.CommandElements | ForEach-Object { $_.ToString() }) {\n", list(words(k)))
	eachWithMore(k.Model.Node, func(name, more string) { fmt.Fprintf(b, "    '%s' { $words += @(%s) }\n", name, list(more)) })
	b.WriteString("  }\n  $words | Where-Object { $_ -like \"$wordToComplete*\" } | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }\n}\n")
}
