#!/bin/sh
# How many calls a second credence makes, every reply durable, beside lm-evaluation-harness's API client, which keeps
# nothing: both ask one local server that answers at once, in turns, ROUNDS times. Then a server that takes half a
# second, with 256 in flight. The peer comes from PyPI, into a virtual environment outside of the project:
# CREDENCE_LOAD_VENV, or one in the temporary folder.
#
#   sh bench/load.sh [CALLS]
set -eu
calls=${1:-20000}
rounds=${ROUNDS:-3}
port=${PORT:-8099}
here=$(dirname "$0")
venv=${CREDENCE_LOAD_VENV:-${TMPDIR:-/tmp}/credence-load-venv}
if [ ! -x "$venv/bin/python3" ]; then
	/usr/bin/env python3 -m venv "$venv"
fi
if ! "$venv/bin/python3" -c 'import lm_eval, aiohttp, tenacity' 2>/dev/null; then
	"$venv/bin/python3" -m pip install -q 'lm_eval[api]==0.4.13'
fi
mkdir -p bin
go build -o bin/bench ./bench
bin/bench calls -serve "127.0.0.1:$port" &
server=$!
trap 'kill $server 2>/dev/null || true' EXIT INT TERM
for round in $(seq "$rounds"); do
	echo "round $round, $calls calls to a server that answers at once; load $(cut -d' ' -f1 /proc/loadavg 2>/dev/null || echo unknown)"
	bin/bench calls -url "http://127.0.0.1:$port" -n "$calls" -in-flight 64
	bin/bench calls -url "http://127.0.0.1:$port" -n "$calls" -in-flight 256
	"$venv/bin/python3" "$here/peer_lm_eval.py" "http://127.0.0.1:$port" "$calls" 64
done
echo "a server that takes 500 ms"
bin/bench calls -wait 500ms -n 15360 -in-flight 256
