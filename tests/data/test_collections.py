"""Collections: each query searches its own corpus; wrong collections are errors with the names."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

import ragstone
from ragstone.cli.data import _lines
from ragstone.data.collections import with_collection_labels
from ragstone.data.dataset import Dataset
from ragstone.data.describe import CollectionSizes, describe
from ragstone.data.load import load_dataset
from ragstone.data.readers.mtrag_files import document_rows
from ragstone.data.readers.rows import json_rows
from ragstone.data.writers.folder import write_dataset
from ragstone.data_quality import subject_of
from ragstone.data_quality.repair import cleaned
from ragstone.data_quality.scope import looked_at
from ragstone.errors import ConfigError, DatasetError
from ragstone.experiment.load import load_experiment
from ragstone.results.html import render_report
from ragstone.results.passport_numbers import numbered

SharedData = Callable[[str], Path]
TEXTS = {"clapnq": "the moon is round", "cloud": "the moon server is a server", "fiqa": "moon tax"}


def lines(path: Path, rows: list[dict[str, Any]]) -> Path:
    """Write JSON lines."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a query per domain, one of which has another name for its domain."""
    for name, text in TEXTS.items():
        rows = [{"_id": f"{name}{n}", "text": f"{text} {n}"} for n in range(3)]
        lines(tmp_path / f"corpora/{name}.jsonl", rows)
    asked = [("q1", "clapnq"), ("q2", "ibmcloud"), ("q3", "fiqa")]
    same = {"text": "moon 0", "answers": ["0"]}
    queries = [{"_id": query_id, "domain": domain, **same} for query_id, domain in asked]
    lines(tmp_path / "set/queries.jsonl", queries)
    (tmp_path / "set/qrels.tsv").write_text("q1\tclapnq0\t1\nq2\tcloud0\t1\nq3\tfiqa0\t1\n")
    return tmp_path


def data(folder: Path, **keys: Any) -> dict[str, Any]:
    """Return the value of `data` with a corpus per domain."""
    corpora = {name: str(folder / f"corpora/{name}.jsonl") for name in TEXTS}
    by: dict[str, Any] = {"by": "domain", "aliases": {"ibmcloud": "cloud"}}
    return {"path": str(folder / "set"), "corpus": corpora, "collections": by} | keys


def run(folder: Path, given: Mapping[str, Any], **keys: Any) -> Any:
    """Return the results of BM25."""
    systems = {"bm25": {"retriever": "bm25"}}
    file = {"data": given, "store": str(folder / "store"), "systems": systems, "metrics": ["R@1"]}
    return load_experiment(file | keys).run()


def test_each_query_is_answered_from_its_own_corpus(folder: Path) -> None:
    """Rankings, noise, means by collection and over collections, terminal and report."""
    generating = {"bm25": {"retriever": "bm25", "generator": "gold"}}
    asked = {"systems": generating, "settings": ["gold+noise(1)"], "correct": "EM"}
    results = run(folder, data(folder), metrics=["R@1", "EM"], **asked)

    (ranking,) = results.rankings
    (trial,) = results.trials
    own = {"q1": "clapnq", "q2": "cloud", "q3": "fiqa"}
    for query_id, name in own.items():
        shown = (*ranking.rankings[query_id].passage_ids, *trial.contexts[query_id].passage_ids)
        assert {passage_id.rstrip("012") for passage_id in shown} == {name}
    rows = results.to_dict()["collections"]
    assert [row["collection"] for row in rows if row["metric"] == "R@1"] == [
        "clapnq",
        "cloud",
        "fiqa",
        "(each equal)",
    ]
    assert "R@1 by collections" in str(results)
    assert 'id="collections"' in render_report(results)


def test_none_pools_the_passages(folder: Path) -> None:
    """Every query then searches all nine passages, and there are no means by collection."""
    results = run(folder, data(folder, collections="none"))

    (ranking,) = results.rankings
    assert len(ranking.rankings["q1"]) == 9
    assert results.to_dict()["collections"] == []


def test_passages_of_one_file_are_divided_by_their_label(folder: Path) -> None:
    """Equal to a file per collection, whatever the order of the passages."""
    rows = [
        {"_id": f"{n}{i}", "text": f"{t} {i}", "domain": n}
        for i in range(3)
        for n, t in TEXTS.items()
    ]
    one = lines(folder / "all.jsonl", rows)

    found = load_dataset(data(folder, corpus=str(one)))
    files = load_dataset(data(folder))

    assert found.collections == files.collections == {"q1": "clapnq", "q2": "cloud", "q3": "fiqa"}
    for name in TEXTS:
        assert found.corpus.part(name).passage_ids == files.corpus.part(name).passage_ids


def test_a_wrong_collection_is_an_error_that_names_what_is_there(folder: Path) -> None:
    """No corpus, no label, no query, no choice, a passage in two, a wrong form."""
    with pytest.raises(DatasetError, match=r"'ibmcloud', which has no corpus.*clapnq, cloud, fiqa"):
        load_dataset(data(folder, collections={"by": "domain"}))
    with pytest.raises(DatasetError, match=r"3 queries have no collection.*single label 'tenant'"):
        load_dataset(data(folder, collections={"by": "tenant"}))
    corpora = data(folder)["corpus"]
    extra = lines(folder / "telco.jsonl", [{"_id": "t", "text": "phone"}])
    with pytest.raises(DatasetError, match="no query has the domain 'telco'"):
        load_dataset(data(folder, corpus=corpora | {"telco": str(extra)}))
    with pytest.raises(ConfigError, match=r"'corpus' has 3 collections.*collections: none"):
        load_dataset(data(folder, collections=None))
    twice = lines(folder / "twice.jsonl", [{"_id": "fiqa0", "text": "tax"}])
    with pytest.raises(DatasetError, match="'fiqa0' is in the collections 'fiqa' and 'cloud'"):
        load_dataset(data(folder, corpus={"fiqa": corpora["fiqa"], "cloud": str(twice)}))
    with pytest.raises(ConfigError, match="must be none or a mapping"):
        load_dataset(data(folder, collections="domain"))
    with pytest.raises(ConfigError, match=r"smallest collection .* has only 3"):
        run(folder, data(folder), systems={"b": {"retriever": "bm25", "generator": "gold"}},
            settings=["retrieved(5)"], metrics=["EM"], correct="EM")  # fmt: skip


def newer_set(folder: Path) -> Path:
    """Return a folder in the form of MTRAG-UN: tasks with passages inside, corpora beside it."""
    row = {"Collection": "mt-rag-ibmcloud-elser-512-100-20240502"}
    inside = [{"document_id": "cloud1", "text": "moon 0"}]
    said = [{"speaker": "user", "text": "moon 0"}]
    task = {"task_id": "a<::>1", "input": said, "targets": [], "contexts": inside, **row}
    other = task | {"task_id": "b<::>1", "Collection": "fiqa", "contexts": []}
    lines(folder / "un/published/reference.jsonl", [task, other])
    qrels = folder / "un/retrieval_tasks/qrels/cloud.tsv"
    qrels.parent.mkdir(parents=True)
    qrels.write_text("query-id\tcorpus-id\tscore\na<::>1\tcloud0\t1\n")
    return folder / "un"


def test_a_newer_mtrag_set_is_read_with_published_qrels_and_corpora(folder: Path) -> None:
    """Tasks are found by their form, qrels in a deeper folder, and corpora beside the folder."""
    found = load_dataset({"name": "mtrag", "path": str(newer_set(folder))})

    assert found.collections == {"a<::>1": "cloud", "b<::>1": "fiqa"}
    assert found.qrels == {"a<::>1": {"cloud0": 1}}
    assert len(found.corpus) == 9


def test_a_corpus_folder_that_cannot_be_read_is_an_error(folder: Path) -> None:
    """Packed files never mean that the passages inside the tasks are searched."""
    path = newer_set(folder)
    (path / "corpora").mkdir()
    (path / "corpora/cloud.jsonl.zip").write_bytes(b"PK")

    with pytest.raises(DatasetError, match=r"contains no passages.*found cloud.jsonl.zip; unpack"):
        load_dataset({"name": "mtrag", "path": str(path)})


def test_four_domains_in_one_experiment_equal_four_experiments(
    shared_data: SharedData, tmp_path: Path
) -> None:
    """MtRAG's 777 tasks: every mean, count and interval of BM25, to the digit."""
    whole = {"name": "mtrag", "path": str(shared_data("mtrag"))}
    keys = {"systems": {"bm25": {"query_former": "rewrite", "retriever": "bm25"}},
            "metrics": ["R@5", "nDCG@5"]}  # fmt: skip
    one = run(tmp_path, whole, **keys).to_dict()

    for domain in ("clapnq", "cloud", "fiqa", "govt"):
        own = run(tmp_path, whole | {"domains": domain}, name=domain, **keys).to_dict()
        rows = [row for row in one["collections"] if row["collection"] == domain]
        placed = {"rank": [1, 1], "group": 1}
        assert [{**row, **placed} for row in rows] == [
            {"collection": domain, **row} for row in own["retrieval"]
        ]
        assert own["collections"] == []
        means = {row["metric"]: round(row["mean"], 3) for row in rows}
        assert (
            means["R@5"] == {"clapnq": 0.232, "cloud": 0.23, "fiqa": 0.138, "govt": 0.442}[domain]
        )
    equally = [row["mean"] for row in one["collections"] if row["collection"] == "(each equal)"]
    assert round(equally[0], 3) == 0.26
    assert round(one["retrieval"][0]["mean"], 3) == 0.264


def test_tasks_with_passages_inside_are_searched_in_their_corpora(
    shared_data: SharedData, tmp_path: Path
) -> None:
    """The last judged turns in MTRAG-UN's form: R@5 is not the .613 of the passages inside."""
    published = shared_data("mtrag")
    tasks = [row for _, row in document_rows(published / "tasks/mtrag_human_tasks.jsonl.gz")]
    last = {str(row["conversation_id"]): row for row in tasks if row["qrels"]}
    wanted = {p for row in last.values() for p in row["qrels"]}
    texts: dict[str, str] = {}
    for path in sorted((published / "corpus").iterdir()):
        (tmp_path / "corpora").mkdir(exist_ok=True)
        (tmp_path / "corpora" / path.name).symlink_to(path)
        texts |= {row["_id"]: row["text"] for _, row in json_rows(path) if row["_id"] in wanted}
    kept = ("task_id", "conversation_id", "input", "targets", "collection")
    rows = [
        {key: row[key] for key in kept}
        | {"contexts": [{"document_id": p, "text": texts[p]} for p in row["qrels"]]}
        for row in last.values()
    ]
    lines(tmp_path / "un/generation_tasks/reference.jsonl", rows)
    (tmp_path / "un/retrieval_tasks/qrels").mkdir(parents=True)
    for path in sorted((published / "qrels").iterdir()):
        (tmp_path / "un/retrieval_tasks/qrels" / path.name).symlink_to(path)
    given = {"name": "mtrag", "path": str(tmp_path / "un"), "dangling_qrels": "drop"}

    found = run(tmp_path, given, metrics=["R@5"]).to_dict()["retrieval"][0]
    assert (found["n"], round(found["mean"], 3)) == (110, 0.183)
    (tmp_path / "corpora").rename(tmp_path / "elsewhere")
    inside = run(tmp_path, given, metrics=["R@5"], name="inside").to_dict()["retrieval"][0]
    assert round(inside["mean"], 3) == 0.613


def test_a_passport_has_the_numbers_of_each_collection(folder: Path) -> None:
    """They are verified; a changed one names its collection."""
    results = run(folder, data(folder), name="e")
    passport = results.passport()
    place = folder / "p.json"
    place.write_text(json.dumps(passport))
    numbers = passport["numbers"]["collections"]
    assert {row["collection"] for row in numbers} == {*TEXTS, "(each equal)"}

    assert ragstone.verify(place, store=folder / "store").is_equal
    places = numbered(passport["numbers"])
    assert ("collections cloud", "bm25", "", "R@1") in places


def test_the_contents_list_the_collections(folder: Path) -> None:
    """In `data show`, in its JSON, and among what the doctor read."""
    dataset = load_dataset(data(folder))

    found = describe(dataset)

    assert found.collections["cloud"] == CollectionSizes(queries=1, passages=3)
    assert "  collection cloud: 3 passages, 1 queries" in "\n".join(_lines(found))
    assert looked_at(subject_of(dataset))["collections"] == 3


def test_a_converted_data_set_keeps_its_collections(folder: Path) -> None:
    """As the label `collection`, which the copy is read with."""
    dataset = load_dataset(data(folder))

    write_dataset(with_collection_labels(dataset), folder / "copy")

    read = {"path": str(folder / "copy"), "collections": {"by": "collection"}}
    copy = load_dataset(read)
    assert copy.collections == dataset.collections
    assert {n: len(p) for n, p in copy.corpus.collections.items()} == dict.fromkeys(TEXTS, 3)
    assert with_collection_labels(load_dataset("sample")) == load_dataset("sample")


def test_a_cleaned_copy_keeps_equal_texts_of_two_collections(folder: Path) -> None:
    """A merged passage would be lost to the queries of one of them."""
    for name in ("cloud", "fiqa"):
        rows = [{"_id": f"{name}{n}", "text": f"same text {n}"} for n in range(3)]
        lines(folder / f"corpora/{name}.jsonl", rows)

    dataset, changes = cleaned(subject_of(load_dataset(data(folder))))

    assert len(dataset.corpus) == 9
    assert not [change for change in changes if change.action == "merge"]
    assert dataset.queries[1].labels["collection"] == "cloud"


def test_a_label_that_means_something_else_is_an_error(folder: Path) -> None:
    """The label `collection` must not change its meaning in silence."""
    dataset = load_dataset(data(folder))
    rows = [{"query_id": i, "text": "?", "collection": "other"} for i in dataset.collections]
    other = replace(dataset, query_table=Dataset.from_records(queries=rows).query_table)

    with pytest.raises(DatasetError, match="the label 'collection' has the value 'other'"):
        with_collection_labels(other)


def _languages(folder: Path, **corpora: str) -> Dataset:
    """Return queries in Japanese and Finnish with the passages of some languages."""
    rows = [{"_id": c, "text": f"{c}?", "language": c} for c in ("ja", "fi")]
    (folder / "queries.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for code, text in corpora.items():
        row = {"_id": f"{code}/1", "text": text}
        (folder / f"{code}.jsonl").write_text(json.dumps(row))
    files = {code: str(folder / f"{code}.jsonl") for code in corpora}
    path = str(folder / "queries.jsonl")
    return load_dataset({"path": path, "corpus": files, "collections": {"by": "language"}})


@pytest.mark.parametrize("corpora", [{"ja": "a", "en": "b"}, {"en": "b"}])
def test_languages_may_have_passages_or_queries_alone(
    tmp_path: Path, corpora: dict[str, str], caplog: pytest.LogCaptureFixture
) -> None:
    """A language without queries is a warning; one without passages is for a datastore."""
    found = _languages(tmp_path, **corpora)

    assert found.collections == {"ja": "ja", "fi": "fi"}
    assert list(found.corpus.collections) == list(corpora)
    assert "'en', which is a collection: its passages are not searched without" in caplog.text
    assert describe(found).collections["en"] == CollectionSizes(0, 1)
