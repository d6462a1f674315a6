"""Retrieval by language of the query, retriever and datastore: XQuAD, JSQuAD and SQuAD-it.

    python benchmarks/languages_x_datastores.py ../shared/data --store STORE
    python benchmarks/languages_x_datastores.py ../shared/data --store S --limit 9 --embedder X

XQuAD has the same questions and paragraphs in ten languages, so that each paragraph stands for its
translations. The Japanese and the Italian questions are asked in Japanese or Italian, with the
English paragraphs of XQuAD beside their own; only what shares a question with XQuAD has an English
translation. `--limit` draws questions, of XQuAD with all their translations. The tables are also
those of `ragstone leaderboard STORE --rows language --columns retriever,datastore`.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ragstone.experiment.load import load_experiment
from ragstone.results.by_label import label_table
from ragstone.results.languages import language_tables, retrieved_languages
from ragstone.results.parallel import parallel_agreement, parallel_tables
from ragstone.results.results import Results

XQUAD: Final = ("ar", "de", "el", "en", "es", "ro", "ru", "tr", "vi", "zh")
DATASTORES: Final = ("en", "user", "user+en", "all")
OTHERS: Final = {
    "jsquad": ("ja", "jsquad/jsquad-valid-v1.3.json.gz"),
    "squad_it": ("it", "squad_it/SQuAD_it-test.json.gz"),
}


def xquad(folder: Path, code: str) -> str:
    """Return the path of XQuAD in a language."""
    return str(folder / "xquad" / f"xquad.{code}.json.gz")


def data_sets(
    folder: Path, languages: list[str], limit: int | None
) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the name of each experiment, with the keys `data` and `sample`."""
    chosen: list[str] = [code for code in XQUAD if code in languages]
    if len(chosen) > 1:
        sets = {code: xquad(folder, code) for code in chosen}
        sample: dict[str, Any] = {"limit": limit, "per": "parallel"} if limit else {}
        yield "xquad", {"data": {"name": "parallel", "sets": sets}, "sample": sample}
    for name, (code, path) in OTHERS.items():
        if code in languages:
            sets = {code: str(folder / path), "en": xquad(folder, "en")}
            sample = {"where": {"language": code}} | ({"limit": limit} if limit else {})
            yield name, {"data": {"name": "parallel", "sets": sets}, "sample": sample}


def run(name: str, keys: Mapping[str, Any], asked: argparse.Namespace) -> Results:
    """Return the results of both retrievers with every datastore."""
    retrievers = {"bm25": "bm25", "dense": {"name": "dense", "embedder": asked.embedder}}
    document = {
        "name": name,
        "store": str(asked.store),
        "systems": {
            key: {"retriever": written, "datastore": list(DATASTORES)}
            for key, written in retrievers.items()
            if key in asked.retrievers.split(",")
        },
        "metrics": asked.metrics.split(","),
    }
    found: Results = load_experiment({**document, **keys}).run()
    return found


def table(results: Results, metric: str) -> str:
    """Return a Markdown table: a row per language, a column per retriever and datastore."""
    found = label_table(results, "language", metric)
    lines = [["language", "n", *(system for system, _ in found.columns)]]
    lines.append(["---"] * len(lines[0]))
    for language, cells in found.rows:
        held = [cells.get(column) for column in found.columns]
        n = max((one.n for one in held if one), default=0)
        shown = [
            "-"
            if one is None or one.mean is None
            # A datastore without an answer to a question leaves it out.
            else f"{one.mean:.3f}" + (f" (n {one.n})" if one.n < n else "")
            for one in held
        ]
        lines.append([language, str(n), *shown])
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def main() -> None:
    """Run and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("data", type=Path)
    parser.add_argument("--store", type=Path, required=True, help="folder of the results")
    parser.add_argument("--limit", type=int, help="number of questions per language")
    parser.add_argument("--embedder", default="minilm", help="the embedder of `dense`")
    parser.add_argument("--retrievers", default="bm25,dense")
    parser.add_argument("--languages", default=",".join([*XQUAD, "ja", "it"]))
    parser.add_argument("--metrics", default="R@5,nDCG@10")
    parser.add_argument(
        "--bias", action="store_true", help="print the languages of the first passages too"
    )
    asked = parser.parse_args()
    for name, keys in data_sets(asked.data, asked.languages.split(","), asked.limit):
        results = run(name, keys, asked)
        for metric in asked.metrics.split(","):
            print(f"\n{name}, {metric}\n\n{table(results, metric)}")
        if asked.bias:
            found = [*language_tables(retrieved_languages(results))]
            found += parallel_tables(parallel_agreement(results))
            print("\n\n".join(map(str, found)))


if __name__ == "__main__":
    main()
