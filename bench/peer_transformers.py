"""Scores answers with transformers and torch on the CPU: the same GGUF file, dequantised to 32 bits.

Texts of like length go into a batch of eight; the output projection is computed for the answers' tokens only.
Loading is not counted.
"""
import os
import sys
import time

import torch
from transformers import AutoModelForCausalLM

from peer_common import read, report

BATCH = 8


def score(model, batch):
    """Log-probabilities of the answers of a batch, in one forward pass over left-padded texts."""
    texts = [a["prompt"] + a["answer"][:-1] for a in batch]
    longest = max(map(len, texts))
    ids = torch.tensor([[0] * (longest - len(t)) + t for t in texts])
    mask = torch.tensor([[0] * (longest - len(t)) + [1] * len(t) for t in texts])
    keep = max(len(a["answer"]) for a in batch)
    logits = model(input_ids=ids, attention_mask=mask, position_ids=(mask.cumsum(1) - 1).clamp(min=0),
                   logits_to_keep=keep, use_cache=False).logits
    out = []
    for row, a in zip(torch.log_softmax(logits.double(), -1), batch):
        n = len(a["answer"])
        out.append([row[keep - n + i, t].item() for i, t in enumerate(a["answer"])])
    return out


def main():
    data = read(sys.argv[1], int(sys.argv[2]))
    torch.set_num_threads(os.cpu_count())
    folder, name = os.path.split(data["weights"])
    model = AutoModelForCausalLM.from_pretrained(folder, gguf_file=name, dtype=torch.float32).eval()
    answers = sorted(data["answers"], key=lambda a: len(a["prompt"]) + len(a["answer"]))
    worst = 0.0
    with torch.inference_mode():
        score(model, answers[:1])
        start = time.time()
        for i in range(0, len(answers), BATCH):
            batch = answers[i:i + BATCH]
            for a, got in zip(batch, score(model, batch)):
                worst = max(worst, max(abs(x - y) for x, y in zip(got, a["log_probs"])))
        took = time.time() - start
    report("transformers, batches of eight", data, len(answers) / took, worst)


if __name__ == "__main__":
    main()
