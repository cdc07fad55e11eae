package main

import (
	"context"
	"io"
	"maps"
	"slices"

	"github.com/posener/complete"
	"github.com/willabides/kongplete"

	"webchat/internal/agent/acp"
)

// completions are the scripts that have a shell run webchat from PATH, with COMP_LINE,
// for what may come next on a command line. They name no path, so archives can hold them.
var completions = map[string]string{
	"bash": "complete -o default -C webchat webchat\n",
	"zsh": "autoload -U +X compinit && compinit\nautoload -U +X bashcompinit && bashcompinit\n" +
		"complete -o default -C webchat webchat\n",
	"fish": `function __complete_webchat
  set -lx COMP_LINE (commandline -cp)
  test -z (commandline -ct); and set COMP_LINE "$COMP_LINE "
  webchat
end
complete -c webchat -a "(__complete_webchat)"
`,
	"powershell": `Register-ArgumentCompleter -Native -CommandName webchat -ScriptBlock {
  param($word, $line, $cursor)
  $env:COMP_LINE = "$line".PadRight($cursor)
  webchat | ForEach-Object { [System.Management.Automation.CompletionResult]::new($_) }
  $env:COMP_LINE = $null
}
`,
}

// printCompletion prints the script for a shell.
func printCompletion(_ context.Context, o *options, stdout, _ io.Writer) error {
	_, err := io.WriteString(stdout, completions[o.Shell])
	return err
}

// completeLine prints what may come next on the command line in COMP_LINE.
func completeLine(stdout io.Writer) error {
	_, k, err := newCLI(nil)
	if err != nil {
		return err
	}
	k.Stdout = stdout
	backends := slices.Concat([]string{"auto"}, kinds, slices.Sorted(maps.Keys(acp.Presets())))
	kongplete.Complete(k, kongplete.WithExitFunc(func(int) {}),
		kongplete.WithPredictor("backend", complete.PredictSet(backends...)),
		kongplete.WithPredictor("provider", complete.PredictSet(providerTypes...)))
	return nil
}
