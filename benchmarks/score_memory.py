"""What `ragstone score` takes for many answers: peak memory and CPU seconds of the whole process.

    python benchmarks/score_memory.py --answers 800000

Answers are 61 words of the passages of nq_singlehop, one after another; each has NQ-open's gold
answers of one question, in turn.
"""

from __future__ import annotations

import gzip
import sys
import tempfile
from collections.abc import Iterator
from itertools import cycle, islice
from pathlib import Path

import click
import orjson
from measured import (  # type: ignore[import-not-found]  # a file beside this one
    DATA,
    Measured,
    need_data,
    process_costs,
    write_measured,
)


def _rows(path: Path) -> Iterator[dict[str, object]]:
    with gzip.open(path) as file:
        yield from map(orjson.loads, file)


def _words() -> Iterator[str]:
    while True:
        for row in _rows(DATA / "nq_singlehop" / "corpus.jsonl.gz"):
            yield from str(row["text"]).split()


def write(folder: Path, size: int) -> tuple[Path, Path]:
    """Write answers and queries with gold answers."""
    answers, gold = folder / "answers.jsonl", folder / "gold.jsonl"
    asked, words = cycle(_rows(DATA / "nq_open" / "NQ-open.dev.jsonl.gz")), _words()
    with answers.open("wb") as said, gold.open("wb") as wanted:
        for number, row in enumerate(islice(asked, size)):
            text = " ".join(islice(words, 61))
            said.write(orjson.dumps({"query_id": f"q{number}", "answer": text}) + b"\n")
            query = {"_id": f"q{number}", "text": row["question"], "answers": row["answer"]}
            wanted.write(orjson.dumps(query) + b"\n")
    return answers, gold


@click.command()
@click.option("--answers", "size", default=800_000, show_default=True)
@click.option("--json", "path", type=click.Path(path_type=Path), help="Write the figures here.")
def main(size: int, path: Path | None) -> None:
    """Print the figures."""
    need_data("nq_singlehop", "nq_open")
    with tempfile.TemporaryDirectory() as name:
        answers, gold = write(Path(name), size)
        command = [
            str(Path(sys.executable).with_name("ragstone")),
            "score",
            str(answers),
            "--gold",
            str(gold),
        ]
        seconds, peak, told = process_costs(command)
    print(told)
    print(
        f"{size:,} answers: {peak:.0f} MB, {seconds:.1f} CPU s, {size / seconds:,.0f} a CPU second"
    )
    if path:
        said = "Match, EM and F1 of 61 words, whole process"
        job = "score, recorded answers"
        costs = {"MB": peak, "CPU s": seconds}
        write_measured(
            path,
            [
                Measured(job=job, n=size, unit=unit, ours=cost, conditions=said)
                for unit, cost in costs.items()
            ],
        )


if __name__ == "__main__":
    main()
