#!/bin/sh
# Runs every fuzz test of the module for a while, one after another: fuzz.sh TIME, such as 3s or 2m.
set -eu
cd "$(dirname "$0")/.."
go=${GO:-go}

grep -rl --include='*_test.go' '^func Fuzz' . | sed 's|/[^/]*$||' | sort -u | while read -r dir; do
	grep -h '^func Fuzz' "$dir"/*_test.go | sed 's/^func \(Fuzz[[:alnum:]_]*\).*/\1/' | sort | while read -r name; do
		echo "$dir $name"
		"$go" test -run '^$' -fuzz "^$name\$" -fuzztime "$1" "$dir" </dev/null
	done
done
