"""`ragstone build testset` with the bundled model, on 30 passages of a data set.

    python benchmarks/testset_built.py nq_singlehop OUT [MAX_CALLS]

The bundled judge is below the limit of the controls, so the limit is lowered: the yield is that of
the weakest model that Ragstone has. Prints the controls, the steps and the types.
"""

from __future__ import annotations

import random
import sys
from pathlib import Path

import orjson
from click.testing import CliRunner

from ragstone.cli.build import command
from ragstone.data.load import load_dataset

PASSAGES = 30
COUNT = 9


def main(source: str, out: str, max_calls: str = "260") -> None:
    """Build the set, and print what came of it."""
    folder = Path(out)
    corpus = load_dataset(source).corpus
    places = sorted(random.Random(0).sample(range(len(corpus)), PASSAGES))
    rows = ({"_id": p.passage_id, "title": p.title, "text": p.text} for p in map(corpus.at, places))
    documents = folder / "documents"
    documents.mkdir(parents=True, exist_ok=True)
    (documents / "corpus.jsonl").write_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows))
    options = ["--count", str(COUNT), "--rounds", "1", "--max-tokens", "100", "--depth", "2"]
    options += ["--no-label", "--pool", "bm25", "--least-informed", "-1"]
    options += ["--max-calls", max_calls, "--json"]
    arguments = ["testset", str(documents), str(folder / "set"), *options]
    told = orjson.loads(CliRunner().invoke(command, arguments, catch_exceptions=False).stdout)
    for kind, (right, n) in told["judge_on_controls"].items():
        print(f"controls, {kind}: {right} of {n}")
    for stage in told["stages"]:
        rejected = "; ".join(f"{why} ({n})" for why, n in stage["rejected"].items())
        print(f"{stage['stage']}: {stage['out']} of {stage['in']}; {rejected}")
    print(f"kept: {told['queries']} of {COUNT}; {told['composition']}; {told['partial']}")
    print(f"further passages: {told['further_passages']}; known: {told['known']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
