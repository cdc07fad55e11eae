#!/bin/sh
# Installs what the tests need beside Go: a browser, a C compiler for the race
# detector, curl for the README's story, nginx as a proxy, promtool for the alerts, PostgreSQL
# and pgbouncer, ripgrep for measurements beside it, npm and with it the
# GitHub Copilot CLI, Claude Code, Codex and tools for MCP. As root on Debian it does so by itself; elsewhere it says
# in one line what is missing and the tests that need it say that they were
# skipped (in CI they fail instead).
set -eu

browser=chromium # without windows, where that is a package of its own
[ -z "$(apt-cache search --names-only '^chromium-headless-shell$' 2>/dev/null)" ] || browser=chromium-headless-shell

need() { # need PACKAGE PROGRAM...: any of the programs will do
	package=$1
	shift
	for program in "$@"; do
		command -v "$program" >/dev/null 2>&1 && return 0
	done
	missing="$missing $package"
}
look() {
	missing=""
	need "$browser" chromium-headless-shell chromium chromium-browser google-chrome
	need gcc gcc cc
	need libc6-dev gcc cc
	need curl curl
	need nginx-light nginx /usr/sbin/nginx
	need npm npm
	need strace strace
	need prometheus promtool
	need ripgrep rg
	need python3-pytest pytest-3
	need pgbouncer pgbouncer /usr/sbin/pgbouncer
	need postgresql initdb /usr/lib/postgresql/*/bin/initdb # which is not on PATH there
}
look
if [ -z "$missing" ]; then
	:
elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing with apt-get:$missing"
	# A line when a package is fetched, unpacked and set up, and what goes wrong.
	telling='^(Get:|Unpacking |Setting up|Err:|E:|W:)'
	apt-get update -q 2>&1 | grep --line-buffered -E "$telling" || true
	# shellcheck disable=SC2086 # a list of packages
	DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $missing 2>&1 | grep --line-buffered -E "$telling" || true
	look
	[ -z "$missing" ] || echo "missing:$missing (apt-get's lines above say why)"
else
	echo "missing:$missing (install them to run every test: sudo apt-get install$missing)"
fi
sh "$(dirname "$0")/copilot.sh"
sh "$(dirname "$0")/agents.sh"
sh "$(dirname "$0")/mcp.sh"
