"""Data sets in another language: the same ids, labels, and no untranslated row."""

from __future__ import annotations

from pathlib import Path

import pytest

from ragstone.building.translated_data import (
    DataTranslator,
    TranslatedData,
    planned_calls,
    translate_dataset,
    write_translated,
)
from ragstone.calls.types import Failure, Request
from ragstone.calls.types import Outcome as CallOutcome
from ragstone.core import limits
from ragstone.data.dataset import Dataset
from ragstone.data.load import load_dataset
from ragstone.errors import ConfigError, DatasetError, LimitReached
from ragstone.testing import ScriptedCalls

ENGLISH = "The river runs through the old town and, after many bends, flows into the sea."


def data() -> Dataset:
    """Return a data set whose second passage is English already."""
    return Dataset.from_records(
        queries=[
            {
                "query_id": "q1",
                "text": "Wohin?",
                "gold_answers": ["Meer", ""],
                "rewrite": "Wohin fließt er?",
                "history": [{"role": "user", "text": "Der Fluss?"}],
                "language": "de",
            },
            {"query_id": "q2", "text": "Where?", "gold_answers": ["sea"], "language": "en"},
        ],
        passages=[
            {"passage_id": "p1", "text": "Er fließt ins Meer.", "title": "Fluss", "topic": "water"},
            {"passage_id": "p2", "text": ENGLISH},
            {"passage_id": "p3", "text": "Er ist lang.", "title": "Fluss", "language": "de"},
        ],
        qrels=[("q1", "p1", 1), ("q2", "p2", 1), ("q2", "p3", 1)],
    )


def shouted(request: Request) -> str:
    """Return a text in capitals in place of a translation."""
    return request.messages[-1][1].partition("\n\n")[2].upper()


def made(calls: ScriptedCalls, *, queries: bool = False) -> TranslatedData:
    """Return the translated data set."""
    return translate_dataset(data(), DataTranslator(), calls.services(), queries=queries)


def test_passages_are_translated_and_keep_their_ids() -> None:
    """Equal titles have one call; what is English already has none; queries stay."""
    calls = ScriptedCalls(shouted)

    found = made(calls)

    first, second, third = found.dataset.corpus
    assert (first.passage_id, first.title, first.text) == ("p1", "FLUSS", "ER FLIESST INS MEER.")
    assert first.labels == {"topic": "water", "language": "en", "translated_from": "unknown"}
    assert (second.text, second.labels) == (ENGLISH, {"language": "en"})
    assert third.labels == {"language": "en", "translated_from": "de"}
    assert found.dataset.queries == data().queries
    assert found.dataset.qrels == data().qrels
    assert dict(found.counts["passages"]) == {
        "read": 3, "translated": 2, "as_they_were": 1, "not_reached": 0,
    }  # fmt: skip


def test_queries_are_translated_with_all_their_texts() -> None:
    """Gold answers, rewrite and history too; an English query stays as it is."""
    found = made(ScriptedCalls(shouted), queries=True)

    first, second = found.dataset.queries
    assert (first.text, first.rewrite) == ("WOHIN?", "WOHIN FLIESST ER?")
    assert first.gold_answers[0] == "MEER"
    assert [message.text for message in first.history] == ["DER FLUSS?"]
    assert first.labels == {"language": "en", "translated_from": "de"}
    assert (second.text, second.labels) == ("Where?", {"language": "en"})


@pytest.mark.parametrize("reply", ["", Failure("no route"), "I cannot translate that."])
def test_a_row_that_was_not_translated_is_left_out(reply: str | CallOutcome) -> None:
    """With its judgements, and with the reason."""
    calls = ScriptedCalls(
        lambda request: reply if "lang" in request.messages[-1][1] else shouted(request)
    )

    found = made(calls)

    assert found.dataset.corpus.passage_ids == ["p1", "p2"]
    (lost,) = found.left_out
    assert (lost.kind, lost.id) == ("passages", "p3")
    assert lost.reason.startswith("not translated: ")
    assert found.judgements_left_out == 1
    assert found.counts["passages"]["failed"] == 1


def test_a_spent_budget_ends_the_work(monkeypatch: pytest.MonkeyPatch) -> None:
    """Finished batches are in the data set, which has the reason and the number of the rest."""
    monkeypatch.setattr(limits, "TRANSLATION_BATCH", 1)
    calls = ScriptedCalls(shouted)

    def limited(request: Request) -> str:
        if len(calls.asked) > 2:
            raise LimitReached("the budget is spent")
        return shouted(request)

    calls.answer = limited
    found = made(calls, queries=True)

    document = found.document()
    assert found.dataset.corpus.passage_ids == ["p1", "p2"]
    assert document["partial"] == "the budget is spent"
    assert document["passages"]["not_reached"] == 1
    assert document["queries"] == {"read": 2, "not_reached": 2}


def test_the_plan_counts_different_texts() -> None:
    """Those in the language already, and blank ones, do not count."""
    assert planned_calls(data(), DataTranslator(), queries=False) == 4
    assert planned_calls(data(), DataTranslator(), queries=True) == 8


def test_a_folder_is_written_in_place_of_an_earlier_one(tmp_path: Path) -> None:
    """It is a data set; a foreign folder is refused."""
    found = made(ScriptedCalls(shouted), queries=True)
    folder = tmp_path / "set"

    files = write_translated(found, folder)
    write_translated(found, folder)

    assert [path.name for path in files] == [
        "corpus.jsonl", "left_out.jsonl", "qrels.tsv", "queries.jsonl", "translation.json",
    ]  # fmt: skip
    read = load_dataset(str(folder))
    assert read.queries[0].text == "WOHIN?"
    assert read.corpus["p1"].labels["translated_from"] == "unknown"
    (tmp_path / "other.txt").write_text("mine")
    with pytest.raises(DatasetError, match="not a translated data set"):
        write_translated(found, tmp_path)


def test_an_unknown_language_is_an_error() -> None:
    """The error has the nearest one."""
    with pytest.raises(ConfigError, match="did you mean 'ja'"):
        DataTranslator(to="jp")
