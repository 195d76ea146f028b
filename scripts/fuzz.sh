#!/bin/sh
# Runs every fuzz test of the module for a while, one after another, guided by coverage. A failing input
# is printed, and lies in the testdata of its package; the rest goes on.
#
#   fuzz.sh TIME       guided by all code that a test reaches; TIME is such as 2m
#   fuzz.sh -own TIME  guided by our own code alone
#
# Counters in all code mean compiling it all once more, which takes minutes on a machine that has not done
# so before: nearly all of that goes to libraries. Counters in our own take seconds.
set -u
cd "$(dirname "$0")/.."
go=${GO:-go}
module=$("$go" list -m) || exit 1

own=
if [ "$1" = -own ]; then
	own=yes
	shift
fi
time=$1
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
dirs=$(grep -rl --include='*_test.go' '^func Fuzz' . | sed 's|/[^/]*$||' | sort -u)

# names DIR: the fuzz tests of one package.
names() { grep -h '^func Fuzz' "$1"/*_test.go | sed 's/^func \(Fuzz[[:alnum:]_]*\).*/\1/' | sort; }

# binary DIR: its test binary. What comes before its name keeps two packages of one name apart.
binary() { echo "$work/$(echo "$1" | tr / _).test"; }

# once DIR NAME: one fuzz test. An input that takes long to make smaller is reported as it is.
once() {
	if [ -n "$own" ]; then
		(cd "$1" && "$(binary "$1")" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$time" \
			-test.fuzzminimizetime 5s -test.fuzzcachedir "$(binary "$1").corpus")
	else
		"$go" test -run '^$' -fuzz "^$2\$" -fuzztime "$time" "$1"
	fi
}

# ended LOG: whether the test failed for nothing but the end of its time, which Go 1.26 can take for an
# error (go.dev/issue/75804).
ended() { grep -q '^ *context deadline exceeded$' "$1" && ! grep -q 'Failing input written\|failure while testing' "$1"; }

failed=
for dir in $dirs; do
	if [ -n "$own" ]; then
		"$go" test -c -gcflags="$module/...=-d=libfuzzer" -o "$(binary "$dir")" "$dir" || exit 1
	fi
	for name in $(names "$dir"); do
		echo "$dir $name"
		if once "$dir" "$name" >"$work/log" 2>&1 || ended "$work/log"; then
			grep '^fuzz: elapsed' "$work/log" | tail -n 1
			continue
		fi
		cat "$work/log"
		sed -n 's/.*Failing input written to //p' "$work/log" | while read -r input; do
			echo "$dir/$input:"
			cat "$dir/$input"
		done
		failed="$failed $dir.$name"
	done
done
if [ -n "$failed" ]; then
	echo "fuzz: failed:$failed" >&2
	exit 1
fi
