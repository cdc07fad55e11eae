#!/bin/sh
# Installs the GitHub Copilot CLI for the tests, once, into .cache/copilot, which
# git ignores: it is not ours to publish. Without npm it says so in one line (in
# CI the tests that need the CLI then fail).
set -eu

version=1.0.102
dir=$(cd "$(dirname "$0")/.." && pwd)/.cache/copilot
grep -qs "\"version\": \"$version\"" "$dir/node_modules/@github/copilot/package.json" && exit 0
if ! command -v npm >/dev/null 2>&1; then
	echo "missing: npm (install it to try the real GitHub Copilot CLI: sudo apt-get install npm)"
	exit 0
fi
echo "installing @github/copilot@$version into .cache/copilot with npm: a large download, for a minute or more"
npm install --silent --no-audit --no-fund --prefix "$dir" "@github/copilot@$version" >/dev/null
