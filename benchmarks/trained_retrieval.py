"""`ragstone train embedder` and `reranker` on nq_singlehop, from the bundled MiniLM.

    python benchmarks/trained_retrieval.py DATA OUT [--steps 30] [--queries 100] [--passages 1000]
                                                    [--device cpu]

DATA is the folder of public data sets. Prints the rankings of the test queries, whose documents
the training never reads, before and after.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import orjson
import yaml
from click.testing import CliRunner

from ragstone.cli.train import command


def main() -> None:
    """Train both, and print what changed."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--steps", type=int, default=30)
    parser.add_argument("--queries", type=int, default=100)
    parser.add_argument("--passages", type=int, default=1000)
    parser.add_argument("--device", default="cpu")
    given = parser.parse_args()
    shared = {
        "device": given.device,
        "base": "all-minilm-l6-v2",
        "data": str(given.data / "nq_singlehop"),
        "max_tokens": 96,
        "validation": 0.02,
        "test_queries": given.queries,
    }
    files = {
        "embedder": {
            **shared,
            "per_query": 1,
            "test_passages": given.passages,
            "optim": {"steps": given.steps, "batch": 16, "validations": 1, "checkpoint_every": 10},
        },
        "reranker": {
            **shared,
            "depth": 10,
            "optim": {
                "steps": given.steps,
                "batch": 6,
                "validations": 1,
                "checkpoint_every": 10,
                "lr": 1e-4,
            },
        },
    }
    given.out.mkdir(parents=True, exist_ok=True)
    for kind, recipe in files.items():
        path = given.out / f"{kind}.yaml"
        path.write_text(yaml.safe_dump({**recipe, "output": str(given.out / kind)}))
        _train(kind, path, given.out / kind)


def _train(kind: str, path: Path, output: Path) -> None:
    started = time.monotonic()
    done = CliRunner().invoke(command, [kind, str(path), "--json"], catch_exceptions=False)
    told = orjson.loads(done.stdout)
    first, last = (told["validation"][place]["loss"] for place in (0, -1))
    seconds = orjson.loads((output / "training.json").read_bytes())["seconds"]
    whole = time.monotonic() - started
    test = told["test"]
    print(f"{kind}: {len(told['loss'])} steps in {seconds:.0f} s, {whole:.0f} s with the test")
    print(f"validation loss {first:.4f} -> {last:.4f}; before: {test['before']}")
    for row in test["rows"]:
        low, high = row["interval"]
        print(
            f"{row['metric']}: {row['before']:.3f} -> {row['after']:.3f}, {row['difference']:+.3f} "
            f"[{low:+.3f}, {high:+.3f}], p {row['p_holm']:.3f}, n {row['n']}"
        )


if __name__ == "__main__":
    main()
