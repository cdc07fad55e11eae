package policy

import (
	"os"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"mvdan.cc/sh/v3/syntax"
)

// Follow returns the folder in which a shell is after a command that began in a folder, an absolute
// path: the same, if the command cannot leave it whatever its outcome; another, if the shell is there
// once the command has succeeded; empty, if it is not known. A cd is followed where its folder exists
// and is named by an absolute path, or by one that begins with a dot, which CDPATH does not change.
func Follow(command, folder string) (after string) {
	file, err := parse(command)
	if err != nil || folder == "" || runtime.GOOS == "windows" || len(command) > maxCommand {
		return ""
	}
	last := len(file.Stmts) - 1
	for i, s := range file.Stmts {
		to := followed(s, folder)
		if to == "" || to != folder && i < last { // whether it succeeded, the whole does not say
			return ""
		}
		folder = to
	}
	return folder
}

// followed is the folder after a statement has succeeded.
func followed(s *syntax.Stmt, folder string) string {
	if and, ok := s.Cmd.(*syntax.BinaryCmd); ok && and.Op == syntax.AndStmt && !s.Negated && !s.Background && len(s.Redirs) == 0 {
		if folder = followed(and.X, folder); folder == "" {
			return ""
		}
		return followed(and.Y, folder)
	}
	call, ok := s.Cmd.(*syntax.CallExpr)
	if ok && len(call.Args) == 2 && len(call.Assigns) == 0 && readable(call.Args[0].Parts) == "cd" && !s.Negated && !s.Background {
		to, plain := plainWord(call.Args[1])
		if _, named := plainWord(call.Args[0]); !plain || !named {
			return ""
		}
		switch {
		case strings.HasPrefix(to, "./"), strings.HasPrefix(to, "../"), to == ".", to == "..":
			to = path.Join(folder, to)
		case !path.IsAbs(to):
			return ""
		}
		if info, err := os.Stat(filepath.FromSlash(to)); err != nil || !info.IsDir() || Resolve(to) != path.Clean(to) {
			return "" // behind a link the shell may be by either name
		}
		return path.Clean(to)
	}
	if leaves(s, folder) {
		return ""
	}
	return folder
}

// movers are builtins of shells that may change the shell's folder, or what its later commands mean.
var movers = strings.Fields("cd chdir pushd popd dirs z j eval source . exec command builtin alias unalias trap set shopt setopt enable hash export declare typeset local readonly unset read let function autoload bind complete emulate zmodload")

// leaves reports whether a part of a statement may change the folder of the shell that runs it. To
// some shells the name of a folder is a command that goes there.
func leaves(s *syntax.Stmt, folder string) (may bool) {
	syntax.Walk(s, func(n syntax.Node) bool {
		switch n := n.(type) {
		case *syntax.Subshell, *syntax.CmdSubst, *syntax.ProcSubst: // a shell of its own
			return false
		case *syntax.FuncDecl, *syntax.DeclClause, *syntax.LetClause, *syntax.CoprocClause, *syntax.ForClause:
			may = true
		case *syntax.CallExpr:
			if len(n.Args) == 0 { // it sets variables of the shell
				may = true
				break
			}
			name, plain := plainWord(n.Args[0])
			if !path.IsAbs(name) {
				name = path.Join(folder, name)
			}
			info, err := os.Stat(filepath.FromSlash(name))
			may = may || !plain || slices.Contains(movers, path.Base(name)) || err == nil && info.IsDir()
		}
		return !may
	})
	return may
}
