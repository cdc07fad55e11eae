#!/bin/sh
# Prints how many lines of Go each package has, in the working tree or at a revision;
# the last line is their sum and the number of packages. Tests and test doubles
# (packages below internal/e2e and those whose name ends in "test"), testdata, scripts
# and docs do not count.
#
#	sh scripts/lines.sh [REVISION]
set -eu
cd "$(dirname "$0")/.."
[ $# = 0 ] || git rev-parse --quiet --verify "$1^{commit}" >/dev/null || { echo "$1 is no commit" >&2; exit 1; }
[ $# != 0 ] || set -- --untracked
git grep --count -e '' "$1" -- '*.go' ':!*_test.go' ':!*testdata/*' ':!scripts' ':!docs' ':!internal/e2e' ':!*test/*' |
	awk -F: '
		{ sub("/[^/]*$", "", $(NF - 1)); lines[$(NF - 1)] += $NF; sum += $NF }
		END {
			for (dir in lines) { printf "%6d %s\n", lines[dir], dir | "sort -k2"; n++ }
			close("sort -k2")
			printf "%6d in %d packages\n", sum, n
		}'
