"""Facts about the data in a record: the languages of the queries that are asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import orjson
import pytest

from ragstone.core.store import Store
from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError
from ragstone.experiment.data_sets import data_sets
from ragstone.experiment.load import load_experiment
from ragstone.results.reader import StoredResults

TEXTS = {
    "en": "Which river does the capital of Portugal stand on?",
    "de": "An welchem Fluss liegt die Hauptstadt von Portugal?",
    "ja": "ポルトガルの首都はどの川のほとりにありますか。",
}


def data(*codes: str, labelled: bool = False, prefix: str = "q") -> Dataset:
    """Return a data set with one query per code."""
    return Dataset.from_records(
        queries=[
            {"query_id": f"{prefix}{n}", "text": TEXTS[code], "gold_answers": ["Tagus"]}
            | ({"language": code} if labelled else {})
            for n, code in enumerate(codes)
        ],
        passages=[{"passage_id": code, "text": text} for code, text in TEXTS.items()],
    )


def run(tmp_path: Path, dataset: Dataset, **keys: Any) -> StoredResults:
    """Return the stored results of an experiment that answers with the gold answers."""
    file = {"name": "e", "systems": [{"generator": "gold"}], "settings": ["none"], **keys}
    made = {"metrics": ["Match"], "store": str(tmp_path / "store"), "data": dataset}
    load_experiment({**file, **made}).run()
    return StoredResults.load(Store(tmp_path / "store"), "e")


def test_detected_languages_are_kept_and_become_labels(tmp_path: Path) -> None:
    """Queries in results have the label; the data set does not change."""
    dataset = data("en", "de", "de")
    found = run(tmp_path, dataset)

    facts = found.record.data.languages
    assert facts is not None
    assert (facts.queries, facts.stated) == ({"de": 2, "en": 1}, False)
    assert facts.passages == {"en": 1, "de": 1, "ja": 1}
    assert [one.labels for one in found.queries.values()] == [
        {"language": "en"},
        {"language": "de"},
        {"language": "de"},
    ]
    assert found.all_queries.keys() == found.ranked.keys()
    assert dataset.queries[0].labels == {}


def test_stated_languages_need_no_table(tmp_path: Path) -> None:
    """The labels of the queries have them."""
    found = run(tmp_path, data("en", "ja", labelled=True))
    assert found.record.tables.languages == ""
    assert found.record.data.languages is not None
    assert found.record.data.languages.stated


def test_languages_are_those_of_the_asked_queries(tmp_path: Path) -> None:
    """A sample has the languages of its queries, and not those of the others."""
    found = run(tmp_path, data("en", "de"), sample={"limit": 1, "seed": 1})
    assert len(found.queries) == 1
    assert found.languages.keys() == found.all_queries.keys()


def test_records_of_earlier_versions_are_read(tmp_path: Path) -> None:
    """They have no languages; the next run adds them and makes no step again."""
    dataset = data("en", "de")
    store = run(tmp_path, dataset).store
    document = store.read_json("experiments", "e")
    assert document is not None
    del document["data"]["languages"], document["tables"]["languages"]
    store.write_json("experiments", "e", document)

    old = StoredResults.load(store, "e")
    assert (old.record.data.languages, old.languages) == (None, {})
    assert old.queries["q0"].labels == {}

    new = run(tmp_path, dataset)
    assert new.languages == {"q0": "en", "q1": "de"}
    assert new.record.steps == old.record.steps


def test_a_rerun_changes_nothing(tmp_path: Path) -> None:
    """The record of the second run is that of the first one."""
    dataset = data("en", "de", "ja")
    first = run(tmp_path, dataset).store.read_json("experiments", "e")
    second = run(tmp_path, dataset).store.read_json("experiments", "e")
    assert first == second


def test_a_plan_has_the_languages(tmp_path: Path) -> None:
    """In its text and as plain data, before anything runs."""
    file = {"systems": [{"generator": "gold"}], "settings": ["none"], "metrics": ["Match"]}
    made = load_experiment({**file, "data": data("ja"), "store": str(tmp_path)})
    plan = made.plan()
    assert "languages: queries in Japanese (stated)" not in plan.text()
    assert "languages: queries in Japanese (detected by lid.176)" in plan.text()
    assert plan.document()["languages"]["queries"] == {"ja": 1}


def test_a_plan_warns_of_texts_in_another_language_than_stated(tmp_path: Path) -> None:
    """A query file with several languages and one declared."""
    queries = tmp_path / "queries.jsonl"
    lines = ({"_id": str(n), "text": TEXTS[c]} for n, c in enumerate(["en", "de", "de"]))
    queries.write_bytes(b"\n".join(map(orjson.dumps, lines)))
    file = {
        "systems": [{"generator": f"recorded({tmp_path / 'answers.jsonl'})"}],
        "settings": ["none"],
    }
    (tmp_path / "answers.jsonl").write_text('{"query_id": "0", "answer": "Tagus"}\n')
    given = {"queries": str(queries), "language": "en"}
    made = load_experiment(
        {**file, "data": given, "metrics": ["refusal"], "store": str(tmp_path / "store")}
    )
    (note,) = (one for one in made.plan().notes if "language" in one)
    assert note.startswith("2 of 3 queries whose language is recognised are in another language")


def test_the_language_of_a_data_set_is_its_factor() -> None:
    """Of its queries; a wrong code is refused before the first data set is read."""
    both = {"path": "x", "language": {"queries": "Japanese", "passages": "en"}}
    (found,), _ = data_sets({"a": both}, "e.yaml")
    assert found.factors == {"language": "ja"}
    (found,), _ = data_sets({"a": {"path": "x", "language": {"passages": "en"}}}, "e.yaml")
    assert found.factors == {}
    (found,), _ = data_sets({"a": {"path": "x", "language": False}}, "e.yaml")
    assert found.factors == {"language": "no"}
    with pytest.raises(ConfigError, match="did you mean 'ja'"):
        data_sets({"a": "sample", "b": {"path": "x", "language": "jp"}}, "e.yaml")
    (found,), _ = data_sets({"a": {"name": "own:Reader", "language": "simple"}}, "e.yaml")
    assert found.factors == {"language": "simple"}
