#!/bin/sh
# Runs every fuzz test of the module for a while, one after another.
#
#   fuzz.sh TIME           guided by coverage; TIME is such as 2m
#   fuzz.sh -blind TIME    random changes of the corpus only
#
# Guidance needs all dependencies compiled once more, with counters in them: minutes on a machine that
# has not done so before. Blind fuzzing runs the test binaries as they are. A TIME such as 200x is a
# number of inputs, which no slow machine can turn into a missed deadline.
set -eu
cd "$(dirname "$0")/.."
go=${GO:-go}

blind=
if [ "$1" = -blind ]; then
	blind=yes
	shift
fi
time=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# names DIR: the fuzz tests of one package.
names() { grep -h '^func Fuzz' "$1"/*_test.go | sed 's/^func \(Fuzz[[:alnum:]_]*\).*/\1/' | sort; }

guided() {
	for name in $(names "$1"); do
		echo "$1 $name"
		"$go" test -run '^$' -fuzz "^$name\$" -fuzztime "$time" "$1"
	done
}

blindly() {
	"$go" test -c -o "$work/fuzz.test" "$1"
	for name in $(names "$1"); do
		echo "$1 $name"
		(cd "$1" && "$work/fuzz.test" -test.run '^$' -test.fuzz "^$name\$" -test.fuzztime "$time" -test.fuzzcachedir "$work/corpus")
	done
}

for dir in $(grep -rl --include='*_test.go' '^func Fuzz' . | sed 's|/[^/]*$||' | sort -u); do
	if [ -n "$blind" ]; then blindly "$dir"; else guided "$dir"; fi
done
