"""What the prompt cache of a local model saves: processor time of prompts with and without it.

    python benchmarks/prompt_cache.py SHARED/nq_singlehop [--groups 2] [--questions 10] [--whole 6]
        [--json]

The questions of a group have the same four passages. Every prompt is asked with the cache; a half
of them is asked again by a second process in another order, and answers and log-probabilities are
compared. Some of the prompts are computed without the cache by a third process.
"""

from __future__ import annotations

import argparse
import json
import random
import urllib.request
from pathlib import Path
from typing import Any

import ragstone
from ragstone.components.generators.local import Local
from ragstone.models import llama_server
from ragstone.models.llama_server import Pool, local_servers
from ragstone.types import Context, ContextPassage, Task

PASSAGES = 4
MODEL = "smollm2-135m-instruct"


def prompts(folder: Path, groups: int, questions: int, seed: int = 7) -> list[list[dict[str, str]]]:
    """Return the messages of each question; the questions of a group share passages."""
    data = ragstone.load_dataset(folder)
    texts = {passage.passage_id: passage.text for passage in data.corpus}
    judged = [
        query for query in data.queries if set(data.qrels.get(query.query_id, ())) & set(texts)
    ]
    random.Random(seed).shuffle(judged)
    generator, made = Local(), []
    for start in range(0, groups * questions, questions):
        group = judged[start : start + questions]
        gold = [next(p for p in data.qrels[q.query_id] if p in texts) for q in group]
        shown = tuple(ContextPassage(p, texts[p], "retrieved") for p in gold[:PASSAGES])
        for query in group:
            task = Task(query, Context(query.query_id, "shared", shown))
            messages = generator.request(task).messages
            made.append([{"role": role, "content": text} for role, text in messages])
    return made


def post(pool: Pool, path: str, body: dict[str, Any]) -> dict[str, Any]:
    """Return the reply of a worker."""
    headers = {"Authorization": f"Bearer {pool.api_key}", "Content-Type": "application/json"}
    url = pool.urls[0].removesuffix("/v1") + path
    request = urllib.request.Request(url, json.dumps(body).encode(), headers)  # noqa: S310 - a worker
    with urllib.request.urlopen(request) as reply:  # noqa: S310
        found: dict[str, Any] = json.loads(reply.read())
    return found


def seconds_of(pid: int) -> float:
    """Return the processor time of a process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / 100


def measured(asked: list[list[dict[str, str]]], path: str) -> tuple[float, dict[str, Any]]:
    """Return processor seconds for all prompts in a new process, and the answer to each."""
    llama_server.close_all()
    pool = local_servers(MODEL, workers=1)
    before, answers = seconds_of(pool.processes[0].pid), {}
    # One token: the time of the prompt alone, and its log-probabilities.
    options = {"temperature": 0, "max_tokens": 1, "logprobs": True, "top_logprobs": 5}
    for messages in asked:
        reply = post(pool, path, {"messages": messages, **options})
        choice = reply["choices"][0]
        answers[json.dumps(messages)] = choice["message"]["content"], choice["logprobs"]
    return seconds_of(pool.processes[0].pid) - before, answers


def main() -> None:
    """Print processor time a question, and how many answers are equal."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--groups", type=int, default=2)
    parser.add_argument("--questions", type=int, default=10)
    parser.add_argument("--whole", type=int, default=6, help="prompts without the cache")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    found = figures(prompts(given.folder, given.groups, given.questions), given.whole)
    if given.json:
        print(json.dumps(found))
        return
    print(f"{MODEL}, one thread, {given.groups} groups of {given.questions} questions")
    for name, value in found.items():
        print(f"{name.replace('_', ' ')}: {value}")


def figures(asked: list[list[dict[str, str]]], without: int) -> dict[str, float]:
    """Return processor times a question with and without the cache, and counts of equal answers."""
    mixed = random.Random(1).sample(asked, (len(asked) + 1) // 2)
    some = asked[:: max(1, len(asked) // without)][:without]
    # The front prepares the path with /v1; at the other one the server computes whole prompts.
    whole, plain = measured(some, "/chat/completions")
    grouped, first = measured(asked, "/v1/chat/completions")
    shuffled, second = measured(mixed, "/v1/chat/completions")
    means = {
        "whole": whole / len(some),
        "parts": grouped / len(asked),
        "shuffled": shuffled / len(mixed),
    }
    return {
        "questions": len(asked),
        "without_cache": len(some),
        **{f"{name}_ms": round(mean * 1000) for name, mean in means.items()},
        "times": round(means["whole"] / means["parts"], 1),
        "in_two_orders": len(second),
        "equal_to_the_last_bit": sum(first[key] == second[key] for key in second),
        "first_token_as_whole": sum(plain[key][0] == first[key][0] for key in plain),
    }


if __name__ == "__main__":
    main()
