"""Translations of a set, read as one data set."""

from __future__ import annotations

import json
import logging
from pathlib import Path
from typing import Any

import pytest

from ragstone.data.collections import with_collection_labels
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.data.readers.parallel import ParallelReader, parallel_ids
from ragstone.data.writers.layouts import WRITERS
from ragstone.errors import ConfigError, DatasetError
from ragstone.experiment.clusters import clusters_table


def squad(path: Path, *articles: tuple[str, list[tuple[str, list[str]]]]) -> str:
    """Write a SQuAD-form file of (title, [(paragraph, query ids)]) and return its path."""
    data = [
        {
            "title": title,
            "paragraphs": [
                {
                    "context": text,
                    "qas": [
                        {"id": i, "question": f"{i} {text}?", "answers": [{"text": text}]}
                        for i in ids
                    ],
                }
                for text, ids in paragraphs
            ],
        }
        for title, paragraphs in articles
    ]
    path.write_text(json.dumps({"data": data}))
    return str(path)


@pytest.fixture
def sets(tmp_path: Path) -> dict[str, Any]:
    """Two languages with the same questions on three paragraphs."""
    return {
        "en": squad(
            tmp_path / "en.json",
            ("Rivers", [("The Tagus", ["q1"]), ("The Po", ["q2"])]),
            ("Lakes", [("Lake Como", ["q3"])]),
        ),
        "de": squad(
            tmp_path / "de.json",
            ("Flüsse", [("Der Tejo", ["q1"]), ("Der Po", ["q2"])]),
            ("Seen", [("Der Comer See", ["q3"])]),
        ),
    }


def read(sets: dict[str, Any]) -> Dataset:
    """Return the data set of the languages."""
    return load_dataset({"name": "parallel", "sets": sets})


def test_queries_and_passages_have_their_language_and_the_id_of_their_translations(
    sets: dict[str, Any],
) -> None:
    """Queries and passages have their language and the id of their translations."""
    found = read(sets)

    assert [q.query_id for q in found.queries] == [
        f"{c}/q{n}" for c in ("en", "de") for n in (1, 2, 3)
    ]
    assert found.queries[3].labels == {"language": "de", "parallel": "q1"}
    assert found.corpus["de/1-2"].text == "Der Po"
    assert found.corpus["de/1-2"].labels == {"language": "de", "parallel": "1-2"}
    assert found.qrels["de/q3"] == {"de/2-1": 1}
    assert found.collections["de/q1"] == "de"
    assert found.corpus.collections == {"en": range(3), "de": range(3, 6)}
    assert list(found.source.facts()["files"]) == ["en/en.json", "de/de.json"]


def test_the_questions_on_an_article_and_their_translations_are_one_cluster(
    sets: dict[str, Any],
) -> None:
    """The questions on an article and their translations are one cluster."""
    found = read(sets)

    assert found.corpus["de/1-2"].document_id == "de/Flüsse"
    clusters = clusters_table(found).table.column("cluster").to_pylist()
    assert clusters[:3] == clusters[3:]
    assert clusters[0] == clusters[1] != clusters[2]


def test_a_chunker_cuts_each_language_alone(sets: dict[str, Any]) -> None:
    """No document has text in two languages, and chunks of one passage are no translations."""
    found = load_dataset({"name": "parallel", "sets": sets, "chunker": "words(1)"})

    languages = {p.labels["language"] for p in found.corpus if p.document_id == "de/Flüsse"}
    assert languages == {"de"}
    assert {code: len(places) for code, places in found.corpus.collections.items()} == {
        "en": 6,
        "de": 7,
    }
    assert not parallel_ids(found.corpus)


def test_chunks_of_other_borders_are_no_translations(
    sets: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    """A chunk with the answers of two chunks in another language is not a translation of them."""
    cut = {"name": "squad", "path": sets["en"]}
    sets["de"] = {"name": "squad", "path": sets["de"], "chunker": "words(50)"}

    with caplog.at_level(logging.WARNING):
        found = read({**sets, "en": cut})

    labels = {p.text: p.labels.get("parallel") for p in found.corpus}
    assert labels["The Tagus"] is labels["The Po"] is None
    assert labels["Lake Como"] is not None
    assert "3 passages have several counterparts in one language" in caplog.text


def test_queries_without_passages_are_in_the_cluster_of_their_translations(tmp_path: Path) -> None:
    """Queries without passages are in the cluster of their translations."""
    for code, text in (("en", "Which river?"), ("de", "Welcher Fluss?")):
        (tmp_path / f"{code}.jsonl").write_text(json.dumps({"id": "q", "query": text}) + "\n")

    found = read({code: str(tmp_path / f"{code}.jsonl") for code in ("en", "de")})

    assert set(clusters_table(found).table.column("cluster").to_pylist()) == {"translations of q"}


def test_a_written_copy_is_read_with_its_collections(sets: dict[str, Any], tmp_path: Path) -> None:
    """A written copy is read with its collections."""
    found = read(sets)
    WRITERS["ragstone"](with_collection_labels(found), tmp_path / "copy")

    again = load_dataset({"path": str(tmp_path / "copy"), "collections": {"by": "collection"}})

    assert again.collections == found.collections
    assert list(map(list, again.corpus.collections.values())) == [[0, 1, 2], [3, 4, 5]]
    assert parallel_ids(again.corpus) == parallel_ids(found.corpus)


def test_the_queries_tell_the_translations_if_articles_have_another_order(
    sets: dict[str, Any], tmp_path: Path
) -> None:
    """The queries tell the translations if articles have another order."""
    sets["de"] = squad(
        tmp_path / "de.json",
        ("Seen", [("Der Comer See", ["q3"])]),
        ("Flüsse", [("Der Tejo", ["q1"]), ("Der Rhein", []), ("Der Po", ["q2"])]),
    )

    found = read(sets)

    same = {p.text: p.labels.get("parallel") for p in found.corpus}
    assert same["Der Comer See"] == same["Lake Como"] is not None
    assert same["Der Po"] == same["The Po"] != same["Der Tejo"]
    assert same["Der Rhein"] is None


def test_other_sizes_and_a_set_without_translations_are_told(
    sets: dict[str, Any], tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Other sizes, and a set without translations, are told."""
    sets["Japanese"] = squad(tmp_path / "ja.json", ("湖", [("琵琶湖", ["a"])]))

    with caplog.at_level(logging.WARNING):
        found = read(sets)

    assert "different numbers of queries: en 3, de 3, ja 1" in caplog.text
    assert "ja: no query has the id of a query in another language" in caplog.text
    assert found.corpus["ja/1-1"].labels == {"language": "ja"}


@pytest.mark.usefixtures("sets")
def test_sets_are_readers_and_paths_beside_the_experiment_file(tmp_path: Path) -> None:
    """Sets are readers and paths beside the experiment file."""
    named = {"en": "en.json", "de": {"name": "squad", "path": "de.json"}}

    found = load_dataset({"name": "parallel", "sets": named}, folder=tmp_path)

    assert len(found.queries) == 6


@pytest.mark.parametrize(
    ("languages", "problem"),
    [
        (["en", "germn"], "unknown language 'germn'; did you mean 'german'"),
        (["en"], "two or more languages"),
        (["de", "German"], "two or more languages"),
    ],
)
def test_wrong_languages_are_errors(languages: list[str], problem: str) -> None:
    """Wrong languages are errors."""
    with pytest.raises(ConfigError, match=problem):
        ParallelReader(dict.fromkeys(languages, "sample"))


def test_a_label_of_another_language_is_an_error(sets: dict[str, Any], tmp_path: Path) -> None:
    """A label of another language is an error."""
    (tmp_path / "fr.jsonl").write_text('{"id": "q1", "query": "Quel fleuve ?", "language": "it"}\n')

    with pytest.raises(DatasetError, match="'q1' of the set in fr has the label language"):
        read({**sets, "fr": str(tmp_path / "fr.jsonl")})
