"""The parts that run on torch, on a CPU and on a GPU: their pace, and whether they agree.

    python benchmarks/gpu.py OUT [--data DATA] [--passages 2000] [--prompts 128] [--json FILE]
                                 [--reranker FOLDER] [--base MODEL] [--devices cpu cuda]

Texts are those of nq_singlehop. Embedder and encoder of BERTScore are the bundled MiniLM, the
reranker is a folder that `ragstone train reranker` made from it, and answers are those of the
base to a query with its gold passage, 32 tokens at most. Each device is a process of its
own, with all cores of the machine; each part runs once on a few texts before it is timed.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from ragstone.calls.types import Reply, Request, Sampling
from ragstone.components.embedders.sentence_transformers import SentenceTransformers
from ragstone.components.metrics.bert_encoder import load
from ragstone.components.rerankers.cross_encoder import CrossEncoder
from ragstone.core.tables import TextTable
from ragstone.data.load import load_dataset
from ragstone.models.locate import find_model
from ragstone.models.transformers_lm import HfModel
from ragstone.protocols import Services

ENCODER = "all-minilm-l6-v2"
LAYER = 5
"""A layer of the encoder that torch computes; the last one is computed by ONNX Runtime."""


def main() -> None:
    """Measure every part on each device, and compare what they returned."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--passages", type=int, default=2000)
    parser.add_argument("--prompts", type=int, default=128)
    parser.add_argument("--reranker", type=Path)
    parser.add_argument("--base", default="smollm2-135m-instruct")
    parser.add_argument("--devices", nargs="+", default=["cpu", "cuda"])
    parser.add_argument("--json", type=Path)
    parser.add_argument("--only", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    if given.only:
        measure(given, given.only)
        return
    for device in given.devices:
        hidden = {"CUDA_VISIBLE_DEVICES": ""} if device == "cpu" else {}
        command = [sys.executable, __file__, *sys.argv[1:], "--only", device]
        subprocess.run(command, check=True, env={**os.environ, **hidden})
    rows = compared(given)
    if given.json:
        given.json.write_text(json.dumps(rows))
    headers = ["part", *(f"{device}, a second" for device in given.devices), "agreement"]
    cells = [[f"{v:.1f}" if isinstance(v, float) else v for v in row.values()] for row in rows]
    sys.stdout.write(f"{TextTable(headers, cells)}\n")


def compared(given: argparse.Namespace) -> list[dict[str, Any]]:
    """Return a row per part: the pace per device, and how the results of two devices differ."""
    told = [json.loads((given.out / f"{device}.json").read_bytes()) for device in given.devices]
    return [
        {
            "part": part,
            **{device: one["pace"][part] for device, one in zip(given.devices, told, strict=True)},
            "agreement": agreement(told[0]["results"][part], told[-1]["results"][part]),
        }
        for part in told[0]["pace"]
    ]


def agreement(first: list[Any], last: list[Any]) -> str:
    """Return the number of equal answers, or the largest difference of numbers."""
    if isinstance(first[0], str):
        return f"{sum(map(str.__eq__, first, last))} of {len(first)} answers equal"
    return f"largest difference {np.abs(np.array(first) - np.array(last)).max():.1e}"


def measure(given: argparse.Namespace, device: str) -> None:
    """Write the pace and the results of every part on a device."""
    told: dict[str, Any] = {"pace": {}, "results": {}}
    for name, texts, run in parts(given, device):
        run(texts[:8])
        rest = texts[8:]  # a text that was computed is not computed again
        started = time.perf_counter()
        told["results"][name] = run(rest)
        told["pace"][name] = len(rest) / (time.perf_counter() - started)
        sys.stderr.write(f"{device}, {name}: {told['pace'][name]:.1f} a second\n")
    (given.out / f"{device}.json").write_text(json.dumps(told))


def parts(
    given: argparse.Namespace, device: str
) -> Iterator[tuple[str, list[Any], Callable[[list[Any]], list[Any]]]]:
    """Yield the name of each part, what it reads, and the function that computes it."""
    data = load_dataset(given.data / "nq_singlehop")
    texts = {passage.passage_id: passage.text for passage in data.corpus}
    passages = list(texts.values())[: given.passages]
    asked = [query for query in data.queries if query.query_id in data.qrels][: given.prompts]
    pairs = [(query.text, texts[next(iter(data.qrels[query.query_id]))]) for query in asked]
    embedder = SentenceTransformers(ENCODER, device=device, pooling="mean")
    yield "embedding passages", passages, lambda some: embedded(embedder, some)
    if given.reranker:
        reranker = CrossEncoder(str(given.reranker), device=device)
        yield "reranking pairs", pairs, lambda some: reranker.score(some)[0]
    encoder = load(ENCODER, LAYER, 512)
    yield "BERTScore of pairs", pairs, lambda some: [one.f1 for one in encoder.scores(some)]
    for dtype, batch in (("float32", 32), ("bfloat16", 32)):
        model = HfModel(find_model(given.base), given.base, device, dtype)
        yield f"answers, {dtype}, {batch} at once", pairs, lambda some: answers(model, batch, some)  # noqa: B023  # used before the next turn


def embedded(embedder: SentenceTransformers, texts: list[str]) -> list[list[float]]:
    """Return the vectors of passages."""
    found = embedder.own_embed(texts, "passage", Services())
    return [outcome.value.tolist() for outcome in found]


def answers(model: HfModel, batch: int, pairs: list[tuple[str, str]]) -> list[str]:
    """Return a greedy answer per pair of query and passage."""
    asked = [
        Request((("user", f"{passage}\n\nQuestion: {query}"),), Sampling(max_tokens=32))
        for query, passage in pairs
    ]
    found: list[str] = []
    for start in range(0, len(asked), batch):
        replies = model.answer(asked[start : start + batch], lambda: True)
        found += [reply.text if isinstance(reply, Reply) else str(reply) for reply in replies]
    return found


if __name__ == "__main__":
    main()
