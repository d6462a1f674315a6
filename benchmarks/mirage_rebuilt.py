"""MIRAGE's pipeline on nq_singlehop, whose own judgements it does not see.

    python benchmarks/mirage_rebuilt.py nq_singlehop OUT [--queries 40 --model local]

The titles of the judged passages are the reference articles. The judgements serve to measure the
labels: of all labelled chunks that are judged relevant, and of all that the judge calls supporting.
Without `--model` the judge and the reader are `FakeExpert`, which knows the judgements.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from ragstone.building.articles import Articles
from ragstone.building.mirage import MirageBuild, MirageBuilder, MirageRecipe
from ragstone.calls.client import Calls
from ragstone.components.judges.support import Support
from ragstone.core.registry import create
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.protocols import Services
from ragstone.statistics.proportions import Proportion, proportion
from ragstone.testing import FakeExpert, FakeModelServer


def main() -> None:
    """Build, and print the steps and the quality of the labels."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data")
    parser.add_argument("out", type=Path)
    parser.add_argument("--queries", type=int, help="random sample of this many queries")
    parser.add_argument("--model", help="generator spec in place of the fake expert")
    parser.add_argument("--chunker", default="none")
    given = parser.parse_args()
    whole = load_dataset(given.data)
    asked = whole.sample(given.queries, 13) if given.queries else whole
    cutter = (
        None if given.chunker == "none" else create("chunkers", given.chunker, where="--chunker")
    )
    articles = Articles.read(whole.corpus, cutter)
    given.out.mkdir(parents=True, exist_ok=True)
    if given.model:
        made = build(asked, articles, given.model, given.out)
    else:
        with FakeModelServer(answer=FakeExpert(whole)) as server:
            spec = {"name": "chat", "base_url": server.url, "model": "fake"}
            made = build(asked, articles, spec, given.out)
    for stage in made.funnel.stages_document():
        print(f"{stage['stage']:16} {stage['in']:6,} -> {stage['out']:6,}  {stage['rejected']}")
    yes, no = made.accuracy.true_yes, made.accuracy.true_no
    print(f"controls: {yes.count} of {yes.n} supporting, {no.count} of {no.n} foreign")
    for name, share in quality(made, whole).items():
        print(f"{name}: {shown(share)}")
    print(f"result: {len(made.queries):,} queries, positives {made.about['positives']}")


def build(asked: Dataset, articles: Articles, model: Any, out: Path) -> MirageBuild:
    """Return the benchmark; a judge that fails on the controls is measured all the same."""
    with Calls.at(out / "calls.sqlite") as calls:
        judge = Support(model=model, max_tokens=24, least_parse_rate=0.0)
        reader = create("generators", model, where="--model")
        recipe = MirageRecipe(least_informed=-1.0)
        return MirageBuilder(articles, judge, reader, Services(calls=calls), recipe).build([asked])


def quality(made: MirageBuild, truth: Dataset) -> dict[str, Proportion]:
    """Return the shares that the search and the judge find of the judgements."""
    judged = [
        (label, truth.qrels.get(one.item_id, {}).get(chunk_id, 0) > 0)
        for one in made.labelled
        for chunk_id, label in one.supporting.items()
    ]
    relevant = sum(
        grade > 0 for one in made.labelled for grade in truth.qrels.get(one.item_id, {}).values()
    )
    hits = sum(bool(label) and true for label, true in judged)
    found = sum(true for _, true in judged)
    return {
        "search: relevant chunks among the five": proportion(found, relevant),
        "labels: recall": proportion(hits, found),
        "labels: precision": proportion(hits, sum(bool(label) for label, _ in judged)),
    }


def shown(found: Proportion) -> str:
    """Return a share with its counts and interval."""
    if found.value is None or found.interval is None:
        return "none"
    low, high = found.interval
    return f"{found.count} of {found.n} = {found.value:.3f} [{low:.3f}, {high:.3f}]"


if __name__ == "__main__":
    main()
