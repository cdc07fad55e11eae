#!/usr/bin/env bash
set -euo pipefail
# a comment
name="world $(date +%s) ${1:-default} `pwd`"
readonly PATTERN='single $quotes'

function greet() {
  local -i n=$((1 + 2 * 3))
  cat <<EOF
Hello $name, this is a here document
with "quotes" and 'more' # and no comment
EOF
  cat <<-'END' | grep -v '^#' >/dev/null 2>&1
	literal $text here
	END
}

for f in *.go "${files[@]}"; do
  if [[ -f "$f" && $n -gt 3 ]]; then
    case "$f" in
      a*|b?) echo "one" ;;
      *) exit 1 ;;
    esac
  fi
done

while read -r line; do printf '%s\n' "$line"; done < <(ls)
arr=(one two "three four")
multi="a string
over lines"
