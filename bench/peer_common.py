"""What both peers share: reading the answers, and printing a rate beside the engine's."""
import json


def read(path, limit):
    with open(path) as f:
        data = json.load(f)
    if limit:
        data["answers"] = data["answers"][:limit]
    return data


def report(name, data, rate, worst):
    """Prints answers per second, the engine's multiple of it, and how far values are apart."""
    ratio = data["answers_per_second"] / rate
    met = "met" if ratio >= 3 else "NOT MET"
    print(f"  {name:<58} {rate:8.2f} answers/s")
    print(f"  {'the engine, times as many':<58} {ratio:8.2f}           wanted >= 3: {met}")
    print(f"  {'largest difference of a log-probability':<58} {worst:8.2g} nats", flush=True)
