"""One adapter in transformers and in llama.cpp, on the same 16-bit weights: how equal are they?

    python benchmarks/adapters_equal.py ADAPTER OUT --data ../shared/data/nq_singlehop --queries 200

The base is copied as an F16 GGUF file, which both libraries load. Each answers the same queries
with their gold passages, greedily; the log-probabilities of an answer's tokens are compared as far
as both wrote the same tokens. Answers are kept in OUT call by call: a second run goes on.
"""

from __future__ import annotations

import argparse
import json
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ragstone.calls.client import Calls
from ragstone.calls.types import Reply, Request
from ragstone.components.generators.llm_base import LlmGenerator
from ragstone.components.generators.local import Local
from ragstone.components.generators.transformers import Hf
from ragstone.core.atomic_files import atomic_files
from ragstone.data.load import load_dataset
from ragstone.models.adapters import Adapter, read_adapter
from ragstone.models.files import is_local, model_file
from ragstone.models.gguf_files import read_gguf, write_f16
from ragstone.models.locate import find_model
from ragstone.types import Context, ContextPassage, Task


def f16_base(adapter: Adapter, out: Path) -> Path:
    """Return the adapter's base with 16-bit weights, written once."""
    path = out / "base-f16.gguf"
    if not path.is_file():
        base = find_model(adapter.base) if is_local(adapter.base) else model_file(adapter.base)
        with atomic_files(out) as folder:
            write_f16(read_gguf(base), folder / path.name)
    return path


def gold_tasks(data: str, count: int, seed: int, tokens: int) -> list[Task]:
    """Return queries drawn at random with their gold passages, no longer than some tokens."""
    dataset = load_dataset(data)
    queries = [query for query in dataset.queries if dataset.qrels.get(query.query_id)]
    found = []
    for query in random.Random(seed).sample(queries, len(queries)):
        gold = [p for p, grade in dataset.qrels[query.query_id].items() if grade > 0]
        shown = tuple(ContextPassage(p, dataset.corpus[p].text, "gold") for p in gold)
        if sum(len(one.text) for one in shown) <= 4 * tokens:
            found.append(Task(query, Context(query.query_id, "gold", shown)))
    return found[:count]


def ask(generator: LlmGenerator, tasks: Sequence[Task], out: Path) -> list[Reply]:
    """Return the replies with the log-probability of each token."""
    sampling = replace(generator.sampling, logprobs=1)
    requests = [Request(generator.request(task).messages, sampling) for task in tasks]
    with Calls.at(out / "calls.sqlite") as calls:
        ended = list(calls.ask(generator.endpoint, requests))
    failed = [one for one in ended if not isinstance(one, Reply)]
    if failed:
        raise SystemExit(f"{len(failed)} calls failed, the first: {failed[0]}")
    return [one for one in ended if isinstance(one, Reply)]


def compare(one: Sequence[Reply], other: Sequence[Reply]) -> dict[str, Any]:
    """Return the differences of log-probabilities while the tokens are equal, and equal answers."""
    differences, equal = [], 0
    for a, b in zip(one, other, strict=True):
        for mine, yours in zip(a.logprobs, b.logprobs, strict=False):
            # At the first unlike token both probabilities are of other tokens.
            if mine.token != yours.token:
                break
            differences.append(abs(mine.logprob - yours.logprob))
        equal += a.text.strip() == b.text.strip()
    return {
        "queries": len(one),
        "tokens_compared": len(differences),
        "mean_difference": sum(differences) / max(len(differences), 1),
        "largest_difference": max(differences, default=0.0),
        "equal_answers": equal,
        "share_equal": equal / len(one),
    }


def main() -> None:
    """Answer with both libraries, with and without the adapter, and print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("adapter", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", default="../shared/data/nq_singlehop")
    parser.add_argument("--queries", type=int, default=200)
    parser.add_argument("--tokens", type=int, default=24, help="maximum tokens of an answer")
    parser.add_argument(
        "--context", type=int, default=600, help="maximum tokens of the gold passages"
    )
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    adapter = read_adapter(given.adapter)
    base = f16_base(adapter, given.out)
    tasks = gold_tasks(given.data, given.queries, given.seed, given.context)
    found: dict[str, Any] = {"adapter": adapter.digest}
    replies: dict[str, list[Reply]] = {}
    for name, path in (("with", str(adapter.folder)), ("without", "")):
        torch = Hf(str(base), adapter=path, max_tokens=given.tokens)
        llama = Local(str(base), adapter=path, max_tokens=given.tokens)
        replies[name] = ask(torch, tasks, given.out)
        found[name] = compare(replies[name], ask(llama, tasks, given.out))
    # An adapter that is not applied would be equal as well.
    found["adapter_changes"] = compare(replies["with"], replies["without"])
    print(json.dumps(found, indent=2))


if __name__ == "__main__":
    main()
