#!/bin/sh
# The long runs: from one seed every fuzzer named here for a while and the tests
# named Soak, beside those of disks that are full, read-only, gone or replaced, then the hunt for tests that fail only sometimes. What they held and
# survived is told at the end of each.
#
#	sh scripts/soak.sh SEED
set -eu
seed=${1:-1}
each=${FUZZTIME:-20s}
go=${GO:-go}
told=$(mktemp)
trap 'rm -f "$told"' EXIT

tried=0
fuzz() { # fuzz PACKAGE NAME
	echo "fuzz $2 for $each"
	if ! $go test -run '^$' -fuzz "^$2\$" -fuzztime "$each" "./$1" >"$told.fuzz" 2>&1; then
		cat "$told.fuzz"
		rm -f "$told.fuzz"
		exit 1
	fi
	n=$(sed -n 's/.*execs: \([0-9]*\).*/\1/p' "$told.fuzz" | tail -n 1)
	tried=$((tried + ${n:-0}))
	rm -f "$told.fuzz"
}
fuzz internal/guard FuzzHost
fuzz internal/guard FuzzOrigin
fuzz internal/sse FuzzParseLastEventID
fuzz internal/sse FuzzFrame
fuzz internal/jsonrpc FuzzFrames
fuzz internal/render/terminal FuzzTerminal
fuzz internal/workspace FuzzRelative
fuzz internal/session FuzzArguments

# What is left in the page, compared with what the next call of a model sends.
if ! $go test -count=1 -run '^TestLeftIsWhatTheModelKnows$' ./internal/server -rapid.checks=1000 -rapid.seed="$seed" >"$told" 2>&1; then
	cat "$told"
	exit 1
fi

status=0
# Texts of commands as webchat reads them beside every shell that is here.
for shell in bash dash zsh; do
	command -v "$shell" >/dev/null 2>&1 || echo "$shell is not here: it is not compared"
done
$go test -run '^TestThreat52ADeniedProgramRunsInNoShell$|^TestShellsReadSimpleCommandsAlike$' -count=1 \
	-rapid.checks="${CHECKS:-20000}" -rapid.seed="$seed" -timeout 60m ./internal/policy || status=1
# shellcheck disable=SC2086 # RACE is a flag or nothing
WEBCHAT_SOAK=$seed $go test ${RACE:-} -run 'Soak|^TestFullDisk$|^TestGone$|^TestOtherServer$' -count=1 -timeout 60m -v ./... >"$told" 2>&1 || status=$?
[ "$status" = 0 ] || cat "$told"
echo "soak of seed $seed:"
echo "  bad inputs tried by fuzzers: $tried"
sed -n 's/.*soak: /  /p' "$told"
GO="$go" sh "$(dirname "$0")/release_same.sh" "$($go env GOOS)/$($go env GOARCH)" || status=1
GO="$go" RACE="${RACE:-}" sh "$(dirname "$0")/hunt.sh" || status=1
exit "$status"
