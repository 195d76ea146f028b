"""Recomputes a run's numbers from its answers, readings and judgements, with numpy and scikit-learn.

Usage: recompute.py FOLDER. Reads the run's Parquet tables and compares ECE, AUROC and AURC of both
scores, gaps and shifts with metrics.parquet, to 1e-9. Nothing of the program is used.
"""

import sys
from collections import defaultdict

import numpy as np
import pyarrow.parquet as parquet
from sklearn.metrics import roc_auc_score

TOLERANCE = 1e-9
KEY = ("model", "dataset", "item", "source", "prompt", "role", "sample")


def rows(folder, name):
    return parquet.read_table(f"{folder}/{name}.parquet").to_pylist()


def key(row):
    return tuple(row[k] for k in KEY)


def ece(confidence, label):
    """Equal-width bins [k/10, (k+1)/10), the last with 1."""
    bins = np.minimum((confidence * 10).astype(int), 9)
    total = 0.0
    for k in range(10):
        inside = bins == k
        if inside.any():
            total += inside.mean() * abs(label[inside].mean() - confidence[inside].mean())
    return total


def auroc(confidence, label):
    return roc_auc_score(label, confidence) if 0 < label.mean() < 1 else None


def aurc(confidence, label):
    """Mean error of the k surest answers over k; ties in expectation over their random order."""
    risks, before, wrong = [], 0, 0.0
    for value in sorted(set(confidence), reverse=True):
        tied = confidence == value
        share = 1 - label[tied].mean()
        for k in range(1, tied.sum() + 1):
            risks.append((wrong + k * share) / (before + k))
        before += tied.sum()
        wrong += tied.sum() * share
    return float(np.mean(risks))


METRICS = {"ece.equal-width.10.left-closed": ece, "auroc": auroc, "aurc.expected": aurc}


def difference(a, b):
    return None if a is None or b is None else a - b


def main(folder):
    answers = {key(a): a for a in rows(folder, "answers")}
    stated, token = {}, defaultdict(dict)
    for r in rows(folder, "readings"):
        if r["signal"] == "verbalised" and r["elicitation"] == "confidence":
            stated[key(r)] = r["value"]
        elif r["signal"] == "token":
            token[key(r), r["aggregation"]][r["context"]] = r["value"]
    verdicts = {(key(j), j["judge"]): j["verdict"] for j in rows(folder, "judgements")}
    given = [m for m in rows(folder, "metrics") if m["comparison"] == "main"]

    checked = 0
    settings = {(m["model"], m["dataset"], m["judge"], m["aggregation"]) for m in given}
    for setting in sorted(settings):
        model, dataset, judge, aggregation = setting
        mine = [m for m in given if (m["model"], m["dataset"], m["judge"], m["aggregation"]) == setting]
        contexts = list(dict.fromkeys(m["context"] for m in mine if m["context"]))
        used = []
        for k, a in answers.items():
            if (k[0], k[1], k[4]) != (model, dataset, "confidence") or a["missing"]:
                continue
            scores = [stated.get(k)] + [token[k, aggregation].get(c) for c in contexts]
            verdict = verdicts.get((k, judge))
            if None not in scores and verdict in ("correct", "incorrect"):
                used.append(scores + [float(verdict == "correct")])
        if not used:
            continue
        table = np.array(used)
        label = table[:, -1]
        value = {}
        for metric, f in METRICS.items():
            value["verbalised", "", metric] = f(table[:, 0], label)
            for i, c in enumerate(contexts):
                value["token", c, metric] = f(table[:, 1 + i], label)
                value["gap", c, metric] = difference(value["verbalised", "", metric], value["token", c, metric])
                value["shift", c, metric] = difference(value["gap", c, metric], value["gap", contexts[0], metric])
        for m in mine:
            name = (m["quantity"], m["context"], m["metric"])
            if name not in value:
                continue
            if m["n"] != len(used):
                sys.exit(f"{setting} {name}: n is {m['n']}, recomputed over {len(used)}")
            want, got = value[name], m["value"]
            if (want is None) != (got is None) or want is not None and abs(want - got) > TOLERANCE:
                sys.exit(f"{setting} {name}: the run says {got}, recomputed {want}")
            checked += 1
    if not checked:
        sys.exit("nothing to compare")
    print(f"recomputed {checked} values of {len(settings)} comparisons, all within {TOLERANCE}")


if __name__ == "__main__":
    main(sys.argv[1])
