"""Asks the local server of `bench calls -serve` by lm-evaluation-harness's API client (local-completions).

The client alone: no task is loaded, no tokenizer, and nothing is kept of the replies but what it returns.
"""
import logging
import os
import resource
import sys
import time

os.environ["TQDM_DISABLE"] = "1"  # a bar is no part of the work

from lm_eval.api.instance import Instance
from lm_eval.models.openai_completions import LocalCompletionsAPI

QUESTION = (
    "Provide your best guess and the probability that it is correct (0.0 to 1.0) for the following question. Give ONLY the guess and probability, no other words or explanation. "
    "For example: Guess: <most likely guess, as short as possible>. Probability: <the probability between 0.0 and 1.0 that your guess is correct>. The question is: what is the capital of country number %d of the list of all countries, sorted by name?"
)


def main():
    url, n, flight = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    logging.disable(logging.WARNING)
    client = LocalCompletionsAPI(
        model="one", base_url=url + "/v1/completions", tokenizer_backend=None, tokenized_requests=False,
        num_concurrent=flight, max_retries=3, batch_size=1)

    def ask(first, count):
        requests = [
            Instance("generate_until", {}, (QUESTION % i, {"until": [], "max_gen_toks": 16}), i)
            for i in range(first, first + count)
        ]
        start = time.time()
        got = client.generate_until(requests, disable_tqdm=True)
        took = time.time() - start
        if len(got) != count or any("Paris" not in text for text in got):
            raise SystemExit("a reply is missing")
        return took

    ask(-4 * flight, 4 * flight)
    before = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    took = ask(0, n)
    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2]) - before
    print(f"  {f'lm-evaluation-harness, {flight} in flight':<58} {n / took:8.2f} a second")
    print(f"  {'processor time of this process for a thousand calls':<58} {1000 * used / n:8.2f} s")
    print(f"  {'peak of memory':<58} {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e3:8.2f} MB")


if __name__ == "__main__":
    main()
