#!/bin/sh
# Installs the adapters by which Claude Code and Codex speak the Agent Client Protocol,
# for the tests, once, into .cache/agents, which git ignores: they are not ours to
# publish. Without npm it says so in one line (in CI the tests that need them then fail).
set -eu

claude=0.100.0
codex=2.6.0
dir=$(cd "$(dirname "$0")/.." && pwd)/.cache/agents
installed() { grep -qs "\"version\": \"$2\"" "$dir/node_modules/@agentclientprotocol/$1/package.json"; }
installed claude-agent-acp "$claude" && installed codex-acp "$codex" && exit 0
if ! command -v npm >/dev/null 2>&1; then
	echo "missing: npm (install it to try the real Claude Code and Codex: sudo apt-get install npm)"
	exit 0
fi
echo "installing Claude Code and Codex into .cache/agents with npm: a large download, for a minute or more"
mkdir -p "$dir"
npm install --silent --no-audit --no-fund --ignore-scripts --prefix "$dir" \
	"@agentclientprotocol/claude-agent-acp@$claude" "@agentclientprotocol/codex-acp@$codex" >/dev/null
