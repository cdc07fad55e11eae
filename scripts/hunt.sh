#!/bin/sh
# Hunts tests that fail only sometimes: every package's tests again and again, with
# the race detector (kind race), without C (nocgo), and those that drive browsers
# and processes beside 8 busy processes (load). What was run is kept under
# .cache/hunt and counts as long as a test binary is the same, so a hunt that was
# stopped goes on where it was. The table at the end has every kind of every package.
#
#	sh scripts/hunt.sh [PACKAGE...]
#
# RUNS and LOADRUNS are how often each kind runs, 20 and 5 unless told; KINDS are
# the kinds, "nocgo load" unless told, RACE=1 adds race. Several hunts may run at once.
set -eu
go=${GO:-go}
runs=${RUNS:-20}
loadruns=${LOADRUNS:-5}
kinds=${KINDS:-${RACE:+race }nocgo load}
root=$(cd "$(dirname "$0")/.." && pwd)
cd "$root"
kept=$root/.cache/hunt
mkdir -p "$kept"
touch "$kept/runs"
loaded=" cmd/webchat internal/agent/copilot internal/e2e/browser internal/e2e/chaos internal/e2e/proxy internal/proc "
[ $# -gt 0 ] || set -- $($go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' ./... | sed 's,^[^/]*/,,')

busy=""
quiet() {
	for pid in $busy; do kill "$pid" 2>/dev/null || true; done
	busy=""
}
trap 'quiet; rm -f "$kept"/*.test.$$ "$kept"/*.out.$$' EXIT
trap 'exit 1' INT TERM

done_runs() { # done_runs KEY: how often it ran, and how often it failed
	awk -F '\t' -v key="$1" '$1 == key { runs += $4; failed += $5 } END { print runs + 0, failed + 0 }' "$kept/runs"
}

hunt() { # hunt PACKAGE KIND RUNS FLAG...: runs what was not run yet
	package=$1 kind=$2 wanted=$3
	shift 3
	name=$(echo "$package" | tr / -)
	binary=$kept/$name-$kind.test.$$
	cgo=1
	[ "$kind" = race ] || cgo=0
	if ! CGO_ENABLED=$cgo $go test -c -trimpath "$@" -o "$binary" "./$package" >"$binary.log" 2>&1; then
		cat "$binary.log"
		rm -f "$binary.log"
		return 1
	fi
	rm -f "$binary.log"
	[ -e "$binary" ] || return 0 # no tests on this system
	key=$package/$kind/$($go tool buildid "$binary")
	echo "$key" >>"$kept/keys.$$"
	# shellcheck disable=SC2046 # two numbers
	set -- $(done_runs "$key")
	left=$((wanted - $1))
	[ "$left" -gt 0 ] && echo "$package $kind: $left runs"
	while [ "$left" -gt 0 ]; do
		once $((left < 5 ? left : 5))
		left=$((left - 5))
	done
	rm -f "$binary"
}

once() { # once RUNS: one process, and a line in the table of runs
	out=$kept/$name-$kind.out.$$
	failed=0
	code=0
	(cd "$package" && exec "$binary" -test.count="$1" -test.timeout=60m) >"$out" 2>&1 || code=$?
	if [ "$code" != 0 ]; then
		# Each run of a test that failed counts; a crash or a leak counts as one.
		failed=$(grep -c '^--- FAIL' "$out" || true)
		[ "$failed" -gt 0 ] || failed=1
		keep=$kept/failed-$name-$kind-$(date +%s)
		cp "$out" "$keep"
		echo "$package $kind: $failed failures, see $keep"
		grep -a '^--- FAIL\|^panic:' "$out" | sort | uniq -c
	fi
	printf '%s\t%s\t%s\t%s\t%s\n' "$key" "$package" "$kind" "$1" "$failed" >>"$kept/runs"
	rm -f "$out"
}

status=0
: >"$kept/keys.$$"
for package; do
	case $kinds in *race*) hunt "$package" race "$runs" -race ;; esac
	case $kinds in *nocgo*) hunt "$package" nocgo "$runs" ;; esac
done
case $kinds in *load*)
	for _ in 1 2 3 4 5 6 7 8; do
		while :; do :; done &
		busy="$busy $!"
	done
	hunts=""
	for package; do
		case $loaded in *" $package "*) ;; *) continue ;; esac
		hunt "$package" load "$loadruns" &
		hunts="$hunts $!"
	done
	# shellcheck disable=SC2086 # a list of pids
	[ -z "$hunts" ] || wait $hunts || true
	quiet
	;;
esac

echo "package kind runs failures" | awk '{ printf "  %-28s %-6s %5s %9s\n", $1, $2, $3, $4 }'
awk -F '\t' 'NR == FNR { wanted[$1] = 1; next }
	$1 in wanted { at = sprintf("%-28s %-6s", $2, $3); runs[at] += $4; failed[at] += $5; all += $5 }
	END { for (at in runs) printf "  %s %5d %9d\n", at, runs[at], failed[at] | "sort"; close("sort"); exit all > 0 }' \
	"$kept/keys.$$" "$kept/runs" || status=1
rm -f "$kept/keys.$$"
exit "$status"
