"""What a data card states, and what it lists as unknown."""

from __future__ import annotations

import json
from pathlib import Path

from ragstone.building.card_facts import CardFacts, Statements, card_facts
from ragstone.data.load import load_dataset
from ragstone.data.writers.folder import write_dataset


def facts(folder: Path, *ratings: str, **said: str) -> CardFacts:
    """Return the facts of the sample, whose files are in a folder."""
    if not (folder / "queries.jsonl").exists():
        write_dataset(load_dataset("sample"), folder)
    return card_facts(load_dataset(folder), folder, folder, Statements(**said), ratings)


def test_nothing_is_invented(tmp_path: Path) -> None:
    """A data set alone has no licence, creator, URL or date."""
    found = facts(tmp_path / "größe")
    assert found.unknown == ["licence", "creator", "URL", "date published"]
    assert found.statements.title == "größe"
    assert (found.splits, found.built, found.ratings) == ({}, {}, None)
    stated = facts(tmp_path / "größe", licence="MIT", creator="us", url="https://x.y", date="2026")
    assert stated.unknown == []


def test_a_licence_beside_the_data_is_named(tmp_path: Path) -> None:
    """Its text is not interpreted."""
    found = facts(tmp_path / "set")
    (tmp_path / "set" / "LICENSE.txt").write_text("Do what you like.")
    found = facts(tmp_path / "set")
    assert found.statements.licence == "see the file LICENSE.txt"


def test_origin_splits_and_agreement(tmp_path: Path) -> None:
    """`build.json`, a label `split` and ratings are read."""
    folder = tmp_path / "set"
    facts(folder)
    sets = [{"name": "nq", "given": "nq.jsonl", "licence": "CC-BY-SA-3.0"}]
    (folder / "build.json").write_text(json.dumps({"recipe": {"command": "mirage", "sets": sets}}))
    rows = [
        {"query_id": f"q-places-00{n}", "rater": rater, "property": "support", "value": "yes"}
        for n in range(1, 4)
        for rater in ("ann", "ben")
    ]
    (folder / "labels.jsonl").write_text("\n".join(map(json.dumps, rows)))
    lines = [json.loads(line) for line in (folder / "queries.jsonl").read_text().splitlines()]
    split = (json.dumps(row | {"split": "dev" if n % 2 else "test"}) for n, row in enumerate(lines))
    (folder / "queries.jsonl").write_text("\n".join(split))

    found = facts(folder)

    assert [one["licence"] for one in found.sources] == ["CC-BY-SA-3.0"]
    assert found.splits == {"test": 102, "dev": 101}
    assert found.ratings is not None
    assert found.ratings.whole.properties["support"].n == 3
    document = found.to_dict()
    assert document["agreement"]["support"]["raters"] == ("ann", "ben")
    assert document["sources"] == sets


def test_labels_of_a_model_are_no_ratings(tmp_path: Path) -> None:
    """`ragstone data label` may write labels under the same name."""
    facts(tmp_path / "set")
    (tmp_path / "set" / "labels.jsonl").write_text('{"query_id": "a", "label": "summary"}\n')
    assert facts(tmp_path / "set").ratings is None
