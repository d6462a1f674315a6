"""Datastores of systems: what they search, and how their rankings are judged."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.components.metrics.parse import parse_metric
from ragstone.components.metrics.score import score_rankings
from ragstone.core.schemas import columns, table_to_scores
from ragstone.data.readers.trec import read_qrels, read_run
from ragstone.errors import ConfigError
from ragstone.evaluation.changes import query_changes
from ragstone.experiment.load import load_experiment
from ragstone.experiment.ranking_scores import OUT_OF_REACH
from ragstone.results.causes.found import causes_of
from ragstone.results.changes import answered_texts
from ragstone.results.exporters.trec import Trec
from ragstone.results.factors import system_factors
from ragstone.results.results import Results
from ragstone.results.terminal import query_text
from ragstone.statistics.flipped import flipped_queries

TEXTS = {
    "en": ["Lisbon is on the river Tagus.", "Turin is on the river Po.", "Rome has seven hills."],
    "de": ["Lissabon liegt am Tejo.", "Turin liegt am Po.", "Rom hat sieben Hügel."],
    "ja": ["リスボンは川沿いにある。", "Turin は川沿いにある。", "ローマには七つの丘がある。"],
}
QUERIES = {
    "en": ["Which river is Turin on?", "How many hills has Rome?"],
    "de": ["An welchem Fluss liegt Turin?", "Wie viele Hügel hat Rom?"],
}
GOLD = [1, 2]
LEAD_NAME = "lead.py:Lead"
LEAD = '''
from dataclasses import dataclass

from ragstone.core.component import Outcome
from ragstone.protocols import Generator
from ragstone.types import Prediction


@dataclass(frozen=True)
class Lead(Generator):
    """Answers with the first passage of the context."""

    def generate(self, tasks, services):
        for task in tasks:
            texts = [p.text for p in task.context.passages] or ["I do not know."]
            yield Outcome(Prediction(task.query.query_id, texts[0]))
'''


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """Queries in English and German, passages in both and in Japanese, all translations."""
    monkeypatch.chdir(tmp_path)
    return write(tmp_path / "set", parallel=True)


def write(folder: Path, *, parallel: bool) -> dict[str, Any]:
    """Write a data set whose passages have the label `language`, and return its key."""
    folder.mkdir()
    passages = [
        {"_id": f"{code}/{n}", "text": text, "language": code} | shared(f"p{n}", parallel)
        for code, texts in TEXTS.items()
        for n, text in enumerate(texts)
    ]
    queries = [
        {"_id": f"{code}/q{n}", "text": text, "answers": [TEXTS[code][GOLD[n]]], "language": code}
        | shared(f"q{n}", parallel)
        for code, texts in QUERIES.items()
        for n, text in enumerate(texts)
    ]
    qrels = [f"{code}/q{n}\t{code}/{GOLD[n]}\t1" for code in QUERIES for n in range(2)]
    for name, rows in (("corpus", passages), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "qrels.tsv").write_text("\n".join(qrels))
    (folder.parent / "lead.py").write_text(LEAD)
    return {"path": str(folder), "collections": {"by": "language"}}


def shared(name: str, parallel: bool) -> dict[str, str]:
    """Return the label of translations."""
    return {"parallel": name} if parallel else {}


def load(data: dict[str, Any], system: dict[str, Any], **keys: Any) -> Any:
    """Return an experiment with one system or a sweep."""
    base = Path(data["path"]).parent
    document = {
        "name": "stores",
        "data": data,
        "store": str(base / "store"),
        "systems": {"bm25": {"retriever": "bm25", **system}},
        "metrics": ["hit@3", "MRR@3", "R@3"],
    }
    return load_experiment({**document, **keys})


def run(data: dict[str, Any], system: dict[str, Any], **keys: Any) -> Results:
    """Return the results of one system or a sweep."""
    found: Results = load(data, system, **keys).run()
    return found


def found(results: Results, name: str) -> dict[str, list[str]]:
    """Return query id -> languages of the retrieved passages, each once."""
    runs = next(one.rankings for one in results.rankings if one.system == f"bm25 [{name}]")
    return {
        q: sorted({passage_id.partition("/")[0] for passage_id in ranking.passage_ids})
        for q, ranking in runs.items()
    }


def test_each_datastore_searches_its_collections(data: dict[str, Any]) -> None:
    """Each datastore searches its collections, and a sweep makes a system of each."""
    results = run(data, {"datastore": ["en", "user", "user+en", "all"]})

    assert results.systems == [f"bm25 [{name}]" for name in ("en", "user", "user+en", "all")]
    assert found(results, "en")["de/q0"] == ["en"]
    assert found(results, "user")["de/q0"] == ["de"]
    assert found(results, "user+en")["de/q0"] == ["de", "en"]
    assert found(results, "user+en")["en/q0"] == ["en"]
    assert found(results, "all")["de/q0"] == ["de", "en", "ja"]
    assert system_factors(results.record)["bm25 [user+en]"]["datastore"] == "user+en"


def test_a_gold_passage_stands_for_its_translations_in_the_datastore(data: dict[str, Any]) -> None:
    """The English translation is relevant to the German query; of two, the first one counts."""
    results = run(data, {"datastore": ["en", "user+en"]})
    scores = {one.system: one.scores for one in results.rankings}

    assert scores["bm25 [en]"]["hit@3"]["de/q0"].value == 1
    assert scores["bm25 [user+en]"]["R@3"]["de/q0"].value == 1
    assert results.qrels["de/q0"] == {"de/1": 1}
    assert results.qrels_of("bm25 [en]")["de/q0"] == {"en/1": 1}
    assert results.qrels_of("bm25 [user+en]")["de/q0"] == {"de/1": 1, "en/1": 1}
    assert results.qrels_of("bm25 [en]", "gold") is results.qrels
    assert results.grades("de/q0") == {"de/1": 1, "en/1": 1}


def test_a_query_without_gold_in_the_datastore_has_no_ranking_score(tmp_path: Path) -> None:
    """Without translations, English passages are not relevant to German queries."""
    results = run(write(tmp_path / "set", parallel=False), {"datastore": ["en", "user+en"]})
    scores = {one.system: one.scores["R@3"] for one in results.rankings}

    assert scores["bm25 [en]"]["de/q0"].status == "not_applicable"
    assert scores["bm25 [en]"]["de/q0"].reason == OUT_OF_REACH
    assert scores["bm25 [en]"]["en/q0"].value == 1
    assert scores["bm25 [user+en]"]["de/q0"].value == 1


def test_user_is_the_same_as_no_datastore(data: dict[str, Any]) -> None:
    """The steps of `user` are those of a system without a datastore."""
    plain = {"name": "plain", "retriever": "bm25"}
    experiment = load(data, {}, systems=[plain, {**plain, "name": "user", "datastore": "user"}])

    first, second = experiment.steps().rankings

    assert (first.run, first.scores) == (second.run, second.scores)


def test_without_collections_the_languages_of_the_passages_are_the_collections(
    data: dict[str, Any],
) -> None:
    """A system without a datastore then searches all passages."""
    pooled = {"path": data["path"]}
    plain = {"name": "plain", "retriever": "bm25"}
    results = run(pooled, {}, systems=[plain, {**plain, "name": "bm25 [de]", "datastore": "de"}])

    assert found(results, "de")["en/q0"] == ["de"]
    assert set(next(iter(results.rankings)).rankings["en/q0"].passage_ids) > {"de/1", "en/1"}


def test_contexts_keep_the_gold_of_the_data_set_and_causes_know_the_translations(
    data: dict[str, Any],
) -> None:
    """A retrieved translation is not a missed passage."""
    results = run(
        data,
        {"datastore": ["en"], "generator": LEAD_NAME},
        settings=["none", "gold", "retrieved(1)"],
        metrics=["R@3", "EM"],
        correct="EM",
    )
    gold, retrieved = results.trials[1:]

    assert gold.contexts["de/q0"].passage_ids == ("de/1",)
    assert retrieved.contexts["de/q0"].passage_ids == ("en/1",)
    causes = {q: causes_of(results).find(q, "bm25", "retrieved(1)") for q in ("de/q0", "de/q1")}
    assert [one and one.cause for one in causes.values()] == ["distraction", "retrieval_miss"]
    assert "[en/1; retrieved, relevance 1]" in query_text(results, "de/q0")


def test_a_run_is_exported_with_its_own_judgements(data: dict[str, Any], tmp_path: Path) -> None:
    """The TREC files of a system with a datastore have judgements of their own."""
    results = run(data, {"datastore": ["en", "user"]})

    names = [path.name for path in Trec().export(results, tmp_path / "trec")]

    assert names == ["bm25--en.trec", "bm25--en.qrels.txt", "bm25--user.trec", "qrels.txt"]
    assert "de/q0 0 en/1 1" in (tmp_path / "trec/bm25--en.qrels.txt").read_text()


def test_exported_judgements_give_the_scores_of_the_experiment(
    data: dict[str, Any], tmp_path: Path
) -> None:
    """Several translations of one relevant passage are one judgement: the first in the ranking."""
    results = run(data, {"datastore": ["user+en", "all"]})
    Trec().export(results, tmp_path / "trec")
    metrics = [parse_metric(name) for name in ("hit@3", "MRR@3", "R@3")]

    for one in results.rankings:
        name = one.system.replace(" [", "--").replace("+", "-").rstrip("]")
        runs = read_run(tmp_path / f"trec/{name}.trec")
        judged = read_qrels(tmp_path / f"trec/{name}.qrels.txt")
        scores = table_to_scores(score_rankings(metrics, judged, runs, list(judged)))
        assert all(len(grades) == 1 for grades in judged.values())
        assert {(s.metric, s.query_id): s.value for s in scores} == {
            (metric, q): s.value for metric, held in one.scores.items() for q, s in held.items()
        }


def test_another_datastore_is_not_another_label(data: dict[str, Any]) -> None:
    """The gold passages of the data set are the same, so a change has another cause."""
    results = run(data, {"datastore": ["en", "ja"]})
    scores = {one.system: one.scores for one in results.rankings}
    answered = {name: answered_texts(results, name, "") for name in scores}
    before, after = ((name, scores[name]["MRR@3"]) for name in ("bm25 [en]", "bm25 [ja]"))
    flipped = flipped_queries(before[1], after[1], results.record.scale("MRR@3"))
    changes = query_changes("MRR@3", (before[0], after[0]), flipped, scores, answered)

    assert changes
    assert "label" not in {one.cause for one in changes}


def test_a_rerun_computes_nothing(data: dict[str, Any]) -> None:
    """The record of a second run is that of the first."""
    first = run(data, {"datastore": ["en", "all"]})

    plan = load(data, {"datastore": ["en", "all"]}).plan()
    assert not any(step.to_do for step in plan.steps)
    assert run(data, {"datastore": ["en", "all"]}).record.finished == first.record.finished


def test_a_sample_keeps_all_translations_of_a_query(data: dict[str, Any]) -> None:
    """`per: parallel` draws translations together."""
    shared = load(data, {}, sample={"limit": 1, "per": "parallel"}).shared

    ids = columns(shared.answered.table)["query_id"]

    assert len(ids) == 2
    assert {query_id.partition("/")[2] for query_id in ids} in ({"q0"}, {"q1"})


@pytest.mark.parametrize(
    ("datastore", "problem"),
    [
        ("eng", "unknown collection 'eng'; did you mean 'en'?"),
        ("user+fr", "unknown collection 'fr'"),
    ],
)
def test_an_unknown_collection_is_an_error(
    data: dict[str, Any], datastore: str, problem: str
) -> None:
    """The error has the nearest name, before anything is run."""
    with pytest.raises(
        ConfigError, match=f"datastore {datastore!r}: {problem}".replace("+", r"\+")
    ):
        load(data, {"datastore": datastore}).check()


def test_queries_without_passages_of_their_own_need_a_datastore(tmp_path: Path) -> None:
    """Queries in Japanese may search English; `user` is an error with their number."""
    data = write(tmp_path / "set", parallel=True)
    path = tmp_path / "set" / "queries.jsonl"
    path.write_text(path.read_text().replace('"de"', '"fi"'))

    message = r"2 of 4 queries have no collection of their own.*\(fi; such as 'de/q0'\).*de, en, ja"
    with pytest.raises(
        ConfigError, match=rf"the datastore 'user' searches {message[60:]}|{message}"
    ):
        load(data, {"datastore": "user"}).check()
    with pytest.raises(ConfigError, match="which a system without a datastore searches"):
        load(data, {}).check()
    assert found(run(data, {"datastore": ["en", "all"]}), "en")["de/q0"] == ["en"]


def test_a_system_without_a_retriever_is_an_error(data: dict[str, Any]) -> None:
    """Nothing would search the datastore."""
    system = {"retriever": None, "generator": LEAD_NAME, "datastore": "en"}
    with pytest.raises(ConfigError, match="system 'bm25' has no retriever"):
        load(data, system, settings=["none"], metrics=["EM"]).check()


def test_passages_without_a_language_are_an_error(data: dict[str, Any]) -> None:
    """The error has their number and the way out."""
    path = Path(data["path"]) / "corpus.jsonl"
    path.write_text(path.read_text().replace('"language": "ja", ', ""))

    with pytest.raises(ConfigError, match=r"3 passages of .* have no label 'language': 'ja/0'"):
        load({"path": data["path"]}, {"datastore": "en"}).check()


def test_a_collection_with_a_joining_mark_is_an_error(data: dict[str, Any]) -> None:
    """The error shows the alias that renames it."""
    collections = {"by": "language", "aliases": {"ja": "ja+"}}
    with pytest.raises(ConfigError, match=r"aliases: \{ja\+: NAME\}"):
        load({**data, "collections": collections}, {"datastore": "en"}).check()


def test_noise_over_all_languages_is_told(data: dict[str, Any]) -> None:
    """Without collections, noise can be a translation of a gold passage: a note says so."""
    keys = {"settings": ["gold+noise(2)"]}
    system = {"generator": LEAD_NAME}
    pooled = load({**data, "collections": "none"}, system, **keys).plan()
    own = load(data, system, **keys).plan()

    assert any("noise is searched in all languages" in note for note in pooled.notes)
    assert not any("noise is searched" in note for note in own.notes)
