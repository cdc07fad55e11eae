#!/bin/sh
# Installs what the tests need beside Go: a browser, a C compiler for the race
# detector, curl for the README's story, nginx as a proxy, npm and with it the
# GitHub Copilot CLI. As root on Debian it does so by itself; elsewhere it says
# in one line what is missing and the tests that need it say that they were
# skipped (in CI they fail instead).
set -eu

missing=""
need() { # need PACKAGE PROGRAM...: any of the programs will do
	package=$1
	shift
	for program in "$@"; do
		command -v "$program" >/dev/null 2>&1 && return 0
	done
	missing="$missing $package"
}
need chromium chromium chromium-browser google-chrome
need gcc gcc cc
need libc6-dev gcc cc
need curl curl
need nginx-light nginx /usr/sbin/nginx
need npm npm
if [ -z "$missing" ]; then
	:
elif [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
	echo "installing:$missing"
	apt-get update -qq
	# shellcheck disable=SC2086 # a list of packages
	DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends $missing >/dev/null
else
	echo "missing:$missing (install them to run every test: sudo apt-get install$missing)"
fi
sh "$(dirname "$0")/copilot.sh"
