"""Notes of a plan: queries without a rewrite, and texts that an encoder cannot read."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragstone.core import limits
from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.models.bundled import MODELS
from ragstone.models.files import model_file
from ragstone.models.reading import reading_notes

CHINESE = "皮埃尔和玛丽居里在巴黎发现了镭元素"
RUSSIAN = "Столица Португалии находится на реке"
ENGLISH = "The capital of Portugal is on a river"
needs_minilm = pytest.mark.skipif(
    not MODELS["all-minilm-l6-v2"].fetched, reason="the bundled encoder is not fetched"
)


def data(text: str, *rewrites: str) -> Dataset:
    """Return a data set with one passage, and a query of the same text per rewrite."""
    queries = [
        {"query_id": str(i), "text": text, "rewrite": rewrite} for i, rewrite in enumerate(rewrites)
    ]
    passages = [{"passage_id": "p", "text": text}]
    return Dataset.from_records(queries=queries, passages=passages, qrels=[("0", "p", 1)])


def experiment(tmp_path: Path, dataset: Dataset, **system: Any) -> Experiment:
    """Return an experiment of one system that ranks."""
    store = str(tmp_path / "store")
    return load_experiment(
        {"data": dataset, "systems": [system], "metrics": ["R@1"], "store": store}
    )


@pytest.mark.parametrize("former", ["rewrite", {"name": "translation", "of": "rewrite"}])
def test_rewrites_that_do_not_exist_are_an_error(tmp_path: Path, former: object) -> None:
    """Searching for the queries as they are is another experiment."""
    made = experiment(tmp_path, data(ENGLISH, "", ""), query_former=former, retriever="bm25")

    with pytest.raises(ConfigError, match="none of the 2 queries of the data set 'records' has"):
        made.plan()
    with pytest.raises(ConfigError, match="none of the 2 queries"):
        made.run()


def test_queries_without_a_rewrite_are_counted(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The plan shows the note, and a run logs it while there is something to search."""
    made = experiment(tmp_path, data(ENGLISH, "Who?", ""), query_former="rewrite", retriever="bm25")
    note = "rewrite: 1 of 2 queries have no rewrite and are searched for as they are"

    assert made.plan().notes == (note,)
    assert f"note: {note}" in made.plan().text()
    assert made.plan().document()["notes"] == [note]
    made.run()
    assert caplog.messages.count(note) == 1
    made.run()
    assert caplog.messages.count(note) == 1


def test_the_search_for_noise_needs_no_rewrites(tmp_path: Path) -> None:
    """It takes a rewrite where there is one."""
    gold = {"name": "a", "retriever": "bm25", "generator": "gold"}
    document = {
        "data": "sample",
        "systems": [gold],
        "settings": ["gold+noise(1)"],
        "metrics": ["Match"],
        "store": str(tmp_path),
    }
    assert load_experiment(document).plan().notes == ()


@needs_minilm
@pytest.mark.parametrize(
    ("text", "share"), [(CHINESE, "of their tokens are unknown"), (RUSSIAN, "100% of their words")]
)
def test_a_language_that_an_encoder_cannot_read_is_a_note(
    tmp_path: Path, text: str, share: str
) -> None:
    """Unknown tokens, and words in single letters, are those of the encoder's own tokenizer."""
    hybrid = {"name": "fusion", "retrievers": ["bm25", "dense"]}

    queries, passages = experiment(tmp_path, data(text, ""), retriever=hybrid).plan().notes

    assert queries.startswith("all-minilm-l6-v2 cannot read the queries: ")
    assert passages.startswith("all-minilm-l6-v2 cannot read the passages: ")
    assert share in queries


@needs_minilm
def test_a_language_that_it_can_read_is_no_note(tmp_path: Path) -> None:
    """English, and queries that a model translates before they are searched for."""
    assert experiment(tmp_path, data(ENGLISH, ""), retriever="dense").plan().notes == ()
    translated = experiment(
        tmp_path, data(RUSSIAN, ""), query_former="translation", retriever="dense"
    )
    (note,) = translated.plan().notes
    assert "cannot read the passages" in note


@needs_minilm
def test_a_sample_of_the_texts_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first characters of some texts decide, and the note has their number."""
    monkeypatch.setattr(limits, "MAX_SAMPLED_TEXTS", 2)
    monkeypatch.setattr(limits, "MAX_SAMPLED_CHARACTERS", 15)
    dataset = data(f"{CHINESE}{ENGLISH * 50}", *[""] * 4)

    queries, _ = experiment(tmp_path, dataset, retriever="dense").plan().notes

    assert "(sample of 2)" in queries


@needs_minilm
def test_each_language_of_a_set_is_looked_at(tmp_path: Path) -> None:
    """Two languages that MiniLM cannot read are named among many texts in English."""
    texts = [(ENGLISH, "en")] * 20 + [(CHINESE, "zh"), (RUSSIAN, "ru-RU")]
    queries = [
        {"query_id": f"q{n}", "text": text, "language": language}
        for n, (text, language) in enumerate(texts)
    ]
    passages = [
        {"passage_id": f"p{n}", "text": text, "language": language}
        for n, (text, language) in enumerate(texts)
    ]
    made = Dataset.from_records(queries=queries, passages=passages, qrels=[("q0", "p0", 1)])

    asked, held = experiment(tmp_path, made, retriever="dense").plan().notes

    for note, noun in ((asked, "queries"), (held, "passages")):
        assert note.startswith(f"all-minilm-l6-v2 cannot read the {noun} in ru (")
        assert ", zh (" in note
        assert "en (" not in note


@needs_minilm
@pytest.mark.parametrize(("foreign", "noted"), [(1, False), (4, True)])
def test_unreadable_texts_among_readable_ones_are_counted(
    tmp_path: Path, foreign: int, noted: bool
) -> None:
    """Without labels too; a single one may be a formula."""
    texts = [f"{ENGLISH} " * 9] * 12 + [RUSSIAN] * foreign
    made = Dataset.from_records(
        queries=[{"query_id": f"q{n}", "text": text} for n, text in enumerate(texts)],
        passages=[{"passage_id": "p0", "text": ENGLISH}],
        qrels=[("q0", "p0", 1)],
    )

    notes = experiment(tmp_path, made, retriever="dense").plan().notes

    start = "all-minilm-l6-v2 cannot read the queries in some languages: 4 of a sample of 16"
    assert [note.startswith(start) for note in notes] == [True] * noted


@needs_minilm
def test_no_text_is_read_well() -> None:
    """A share of nothing is 0."""
    empty = Dataset.from_records(queries=[], passages=[], qrels=[])
    assert not [*reading_notes("minilm", model_file("all-minilm-l6-v2", "tokenizer"), empty)]
