"""Ask which data sets are worth using: several real ones with one model, closed book to gold.

    python -m benchmarks.worth_sets ../shared/data OUT --limit 40
    ragstone data suitability OUT/*.yaml

Writes each set in Ragstone's own layout and an experiment file for it, and runs them; replies are
kept, so the same command resumes. MIRAGE's pool is not among the shared data: it is asked without
context alone.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

import yaml
from benchmarks.doctor_findings import qed, rgb

import ragstone
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.writers.folder import write_dataset

SETTINGS: Final = ["none", "gold", "retrieved(3)"]


def sources(data: Path, sets: Path) -> dict[str, Path]:
    """Return name -> path of a data set, after writing those that have a layout of their own."""
    made: dict[str, Callable[[], Dataset]] = {
        "qed": lambda: qed(data / "qed" / "qed-dev.jsonl.gz"),
        "rgb-en_fact": lambda: rgb(data / "rgb" / "en_fact.jsonl.gz"),
        "xquad-en": lambda: load_dataset(str(data / "xquad" / "xquad.en.json.gz")),
        "mirage": lambda: load_dataset(str(data / "mirage")),
    }
    for name, read in made.items():
        if not (sets / name).is_dir():
            write_dataset(read(), sets / name)
    return {name: sets / name for name in made} | {"nq_singlehop": data / "nq_singlehop"}


def main() -> None:
    """Write, run, and print the time."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("out", type=Path)
    parser.add_argument("--limit", type=int, default=40)
    asked = parser.parse_args()
    out = asked.out.resolve()
    for name, path in sources(asked.data.resolve(), out / "sets").items():
        held = {
            "data": str(path),
            "store": str(out / "store"),
            "sample": {"limit": asked.limit, "seed": 13, "where": {"answerability": "answerable"}},
            "systems": {"bm25": {"retriever": "bm25", "generator": "local"}},
            "settings": ["none"] if name == "mirage" else SETTINGS,
            "metrics": ["Match", "F1"] if name == "mirage" else ["Match", "F1", "R@3"],
        }
        if "answerability" not in load_dataset(str(path)).queries[0].labels:
            held["sample"].pop("where")  # type: ignore[attr-defined]
        file = out / f"{name}.yaml"
        file.write_text(yaml.safe_dump(held, sort_keys=False))
        started = time.perf_counter()
        ragstone.load_experiment(file).run()
        sys.stderr.write(f"{name}: {time.perf_counter() - started:.0f} s\n")


if __name__ == "__main__":
    main()
