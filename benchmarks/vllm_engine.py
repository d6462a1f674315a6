"""The generator `vllm` with vLLM itself on a GPU: how many answers are as they have to be.

    python benchmarks/vllm_engine.py OUT [--data DATA] [--prompts 128] [--adapter FOLDER]
                                     [--base smollm2-135m-instruct] [--only STEP ...]

The prompts are queries of nq_singlehop with their gold passage, and answers have 32 tokens at
most. Each step is a process of its own with an engine of its own; a step that fails is a row with
its error. `folder` writes the base as a folder in bfloat16, which the other steps read; `hf`
answers with transformers on the same card. The table counts equal answers, replies that fit a
schema or a grammar, repeated draws, refused prompts, and answers a second.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeAlias

import psutil  # type: ignore[import-untyped]

from ragstone.calls.types import AttemptError, Reply, Request, Sampling
from ragstone.components.generators.vllm import VllmModel, engine_arguments
from ragstone.core.tables import TextTable
from ragstone.data.load import load_dataset
from ragstone.models.adapters import read_adapter
from ragstone.models.causal_lm import load_causal_lm
from ragstone.models.locate import find_model
from ragstone.models.transformers_lm import HfModel

Row: TypeAlias = tuple[str, str, str]
"""What was checked, how many of how many hold, and a figure or a remark."""
EAGER = {"gpu_memory_utilization": 0.3, "enforce_eager": True}
"""Options of an engine that starts fast; the pace is measured without them."""
SCHEMA = {
    "type": "object",
    "properties": {"answer": {"type": "string", "maxLength": 40}, "sure": {"type": "boolean"}},
    "required": ["answer", "sure"],
    "additionalProperties": False,
}
GRAMMAR = 'root ::= "yes" | "no"'


def main() -> None:
    """Run the steps and print their rows."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--prompts", type=int, default=128)
    parser.add_argument("--adapter", type=Path)
    parser.add_argument("--base", default="smollm2-135m-instruct")
    parser.add_argument("--only", nargs="+", default=list(STEPS), choices=list(STEPS))
    parser.add_argument("--step", help=argparse.SUPPRESS)
    given = parser.parse_args()
    given.out.mkdir(parents=True, exist_ok=True)
    rows: list[Row] = []
    if given.step:
        for row in STEPS[given.step](given):
            rows.append(row)
            (given.out / f"{given.step}.json").write_text(json.dumps(rows))
        return
    for step in given.only:
        started = time.perf_counter()
        (given.out / f"{step}.json").unlink(missing_ok=True)
        command = [sys.executable, __file__, *sys.argv[1:], "--step", step]
        invariant = {"VLLM_BATCH_INVARIANT": "1"} if step == "invariant" else {}
        done = subprocess.run(command, env={**os.environ, **invariant}, check=False)
        file = given.out / f"{step}.json"
        rows = json.loads(file.read_bytes()) if file.exists() else []
        if done.returncode:
            rows.append(("the rest", "failed", f"status {done.returncode}"))
        headers = [f"{step} ({time.perf_counter() - started:.0f} s)", "hold", "figure"]
        sys.stdout.write(f"{TextTable(headers, rows)}\n\n")
        sys.stdout.flush()


def folder(given: argparse.Namespace) -> Iterator[Row]:
    """Write the base as a folder."""
    tokenizer, model = load_causal_lm(find_model(given.base), given.base, "cpu", "bfloat16")
    model.save_pretrained(given.out / "base")
    tokenizer.save_pretrained(given.out / "base")
    yield "weights written", "1 of 1", f"{model.num_parameters() / 1e6:.0f} M"


def hf(given: argparse.Namespace) -> Iterator[Row]:
    """Answer with transformers."""
    model = HfModel(given.out / "base", "base", "cuda", "float32")
    yield from paced(given, "hf-float32-1", model, 1)


def engine(given: argparse.Namespace) -> Iterator[Row]:
    """Answer with an engine that was not compiled; check everything a request can ask for."""
    asked = requests(given)
    model = engine_of(given, EAGER)
    yield listeners()
    yield from paced(given, "engine-1", model, 1)
    yield from paced(given, "engine-128", model, 128)
    yield agreement(given, "engine-1", "hf-float32-1")
    yield agreement(given, "engine-128", "engine-1")
    yield from logprobs(given, model)
    yield counted("replies fit a schema", asked, model, fits, json_schema=SCHEMA, max_tokens=80)
    yield counted("replies fit a grammar", asked, model, yes_or_no, grammar=GRAMMAR)
    yield counted(
        "stop text is absent", asked, model, lambda r: " the" not in r.text, stop=(" the",)
    )
    drawn = [said(model, asked, temperature=1.0, seed=seed) for seed in (1, 1, 2)]
    yield "draws of one seed repeat", shared(drawn[0], drawn[1]), "temperature 1"
    yield "draws of two seeds are equal", shared(drawn[0], drawn[2]), "temperature 1"
    long = replace(asked[0], messages=(("user", "word " * 9_000),))
    mixed = model.answer([asked[0], long, asked[1]], lambda: True)
    right = [
        isinstance(one, kind) for one, kind in zip(mixed, (Reply, AttemptError, Reply), strict=True)
    ]
    yield "a long prompt alone is refused", f"{sum(right)} of 3", str(mixed[1])[:80]


def compiled(given: argparse.Namespace) -> Iterator[Row]:
    """Answer with the engine as it is by default."""
    model = engine_of(given, {"gpu_memory_utilization": 0.3})
    yield from paced(given, "compiled-128", model, 128)
    yield agreement(given, "compiled-128", "engine-128")


def invariant(given: argparse.Namespace) -> Iterator[Row]:
    """Answer with kernels that do not depend on the batch."""
    model = engine_of(given, EAGER)
    yield from paced(given, "invariant-1", model, 1)
    yield from paced(given, "invariant-128", model, 128)
    yield agreement(given, "invariant-1", "invariant-128")


def adapter(given: argparse.Namespace) -> Iterator[Row]:
    """Answer with an adapter, in both libraries."""
    if given.adapter is None:
        return
    read = read_adapter(given.adapter, given.base)
    path = str(given.out / "base")
    arguments = engine_arguments(path, "bfloat16", None, EAGER, adapter=read)
    yield from paced(given, "engine-adapter", VllmModel("base", arguments, read), 128)
    if not (given.out / "said-hf-adapter.json").exists():
        model = HfModel(given.out / "base", "base", "cuda", "float32", adapter=read)
        yield from paced(given, "hf-adapter", model, 1)
    yield agreement(given, "engine-adapter", "hf-adapter")
    yield agreement(given, "engine-adapter", "engine-128")


def gguf(given: argparse.Namespace) -> Iterator[Row]:
    """Answer with the base's GGUF file."""
    arguments = engine_arguments(str(find_model(given.base)), "bfloat16", None, EAGER)
    yield from paced(given, "gguf-128", VllmModel("base", arguments), 128)
    yield agreement(given, "gguf-128", "engine-128")


STEPS: Mapping[str, Callable[[argparse.Namespace], Iterator[Row]]] = {
    one.__name__: one for one in (folder, hf, engine, compiled, invariant, adapter, gguf)
}


def engine_of(given: argparse.Namespace, options: Mapping[str, Any]) -> VllmModel:
    """Return an engine of the base in bfloat16."""
    return VllmModel("base", engine_arguments(str(given.out / "base"), "bfloat16", None, options))


def listeners() -> Row:
    """Return the addresses on which this process and its children listen."""
    this = psutil.Process()
    found = [c for one in (this, *this.children(recursive=True)) for c in one.net_connections()]
    listening = [c.laddr.ip for c in found if c.status == psutil.CONN_LISTEN]
    here = sum(ip in {"127.0.0.1", "::1"} for ip in listening)
    return "listeners on loopback", f"{here} of {len(listening)}", ", ".join(sorted({*listening}))


def requests(given: argparse.Namespace) -> list[Request]:
    """Return the prompts."""
    return _requests(given.data / "nq_singlehop", given.prompts)


@cache
def _requests(path: Path, count: int) -> list[Request]:
    data = load_dataset(path)
    texts = {passage.passage_id: passage.text for passage in data.corpus}
    asked = [query for query in data.queries if query.query_id in data.qrels][:count]
    prompts = [f"{texts[next(iter(data.qrels[q.query_id]))]}\n\nQuestion: {q.text}" for q in asked]
    return [Request((("user", prompt),), Sampling(max_tokens=32)) for prompt in prompts]


def said(model: Any, asked: list[Request], size: int = 128, **sampling: Any) -> list[Any]:
    """Return the replies, `size` at once, with other settings of the draw."""
    given = [replace(one, sampling=replace(one.sampling, **sampling)) for one in asked]
    parts = [given[start : start + size] for start in range(0, len(given), size)]
    return [reply for part in parts for reply in model.answer(part, lambda: True)]


def paced(given: argparse.Namespace, name: str, model: Any, size: int) -> Iterator[Row]:
    """Keep the answers under a name, and yield the pace."""
    asked = requests(given)
    said(model, asked[:2], size)
    started = time.perf_counter()
    replies = said(model, asked, size)
    pace = len(asked) / (time.perf_counter() - started)
    texts = [reply.text if isinstance(reply, Reply) else f"failed: {reply}" for reply in replies]
    kept = {"texts": texts, "rendered": [getattr(reply, "rendered", "") for reply in replies]}
    (given.out / f"said-{name}.json").write_text(json.dumps(kept))
    answered = sum(isinstance(reply, Reply) for reply in replies)
    yield f"{name}: answered", f"{answered} of {len(asked)}", f"{pace:.1f} a second"


def agreement(given: argparse.Namespace, first: str, second: str) -> Row:
    """Return how many answers and how many prompts of two runs are equal."""
    one, other = (
        json.loads((given.out / f"said-{name}.json").read_bytes()) for name in (first, second)
    )
    prompts = sum(map(str.__eq__, one["rendered"], other["rendered"]))
    same = sum(map(str.__eq__, one["texts"], other["texts"]))
    return f"{first} = {second}", f"{same} of {len(one['texts'])}", f"{prompts} prompts equal"


def logprobs(given: argparse.Namespace, model: VllmModel) -> Iterator[Row]:
    """Compare the log-probabilities of the first token with those of transformers."""
    asked = requests(given)
    ours = said(model, asked, logprobs=5, max_tokens=1)
    reference = HfModel(given.out / "base", "base", "cuda", "float32")
    theirs = said(reference, asked, 1, logprobs=5, max_tokens=1)
    pairs = [(a.logprobs[0], b.logprobs[0]) for a, b in zip(ours, theirs, strict=True)]
    gaps = [abs(a.logprob - b.logprob) for a, b in pairs if a.token == b.token]
    five = sum(len(a.top) == len(b.top) == 5 for a, b in pairs)
    figure = f"largest difference of log-probabilities {max(gaps):.3f}; {five} with five each"
    yield "first token = float32 hf", f"{len(gaps)} of {len(pairs)}", figure


def counted(
    what: str, asked: list[Request], model: VllmModel, holds: Callable[[Any], bool], **sampling: Any
) -> Row:
    """Return in how many replies something holds."""
    replies = said(model, asked, **sampling)
    failed = sum(not isinstance(reply, Reply) for reply in replies)
    good = sum(isinstance(reply, Reply) and holds(reply) for reply in replies)
    ended = sum(getattr(reply, "finish_reason", "") == "stop" for reply in replies)
    return what, f"{good} of {len(replies)}", f"{failed} failed, {ended} ended by themselves"


def fits(reply: Reply) -> bool:
    """Whether a reply is an object of the schema."""
    try:
        read = json.loads(reply.text)
    except ValueError:
        return False
    return set(read) == {"answer", "sure"} and isinstance(read["sure"], bool)


def yes_or_no(reply: Reply) -> bool:
    """Whether a reply is one of the grammar's two words."""
    return reply.text in {"yes", "no"}


def shared(first: list[Any], second: list[Any]) -> str:
    """Return how many texts are equal."""
    same = sum(a.text == b.text for a, b in zip(first, second, strict=True))
    return f"{same} of {len(first)}"


if __name__ == "__main__":
    main()
