"""Documents cut by the workers of an executor: the same passages as in this process."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from ragstone.components.chunkers.words import Words
from ragstone.core import limits
from ragstone.core.executors.processes import ProcessExecutor
from ragstone.data.cut_passages import CutJob, cut_by, cut_each
from ragstone.data.dataset import Dataset
from ragstone.data.documents.corpus import DocumentFiles
from ragstone.data.load import load_dataset
from ragstone.data.rechunk.rechunk import rechunk
from ragstone.experiment.load import load_experiment
from ragstone.protocols import Chunker
from ragstone.types import Document


@dataclass(frozen=True)
class DiesOnce:
    """A job whose first worker is killed."""

    job: CutJob
    mark: Path

    def __call__(self, block: Any) -> Any:
        """Return the passages, or kill this process."""
        if not self.mark.exists():
            self.mark.touch()
            os.kill(os.getpid(), signal.SIGKILL)
        return self.job(block)


@dataclass
class Dying(ProcessExecutor):
    """Processes of which the first one is killed in its first block; counts the blocks."""

    mark: Path = Path()
    sent: list[Any] = field(default_factory=list)

    def map(self, job: Any, items: Iterable[Any]) -> Iterator[Any]:
        """Yield the results."""
        return super().map(DiesOnce(job, self.mark), map(self._counted, items))

    def _counted(self, item: Any) -> Any:
        self.sent.append(item)
        return item


@pytest.fixture
def executor(tmp_path: Path) -> Iterator[Dying]:
    """Yield a process that is killed, and replaced."""
    made = Dying(1, mark=tmp_path / "died")
    yield made
    assert made._pool is None, "cut_by closes the executor"


def digests(dataset: Dataset) -> tuple[object, ...]:
    """Return what a data set consists of."""
    return dataset.corpus.digest, dataset.qrels, [query.query_id for query in dataset.queries]


def test_a_killed_process_changes_no_passage(
    executor: Dying, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The passages, the judgements and the counts are those of this process."""
    monkeypatch.setattr(limits, "CUT_BLOCK_CHARACTERS", 5000)
    sample = load_dataset("sample")
    plain = rechunk(sample, Words(20))
    with cut_by(executor):
        found = rechunk(sample, Words(20))
    assert executor.mark.exists()
    assert len(executor.sent) > 2
    assert digests(found.dataset) == digests(plain.dataset)
    assert found.summary() == plain.summary()


def test_files_are_cut_alike(
    executor: Dying, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One file is empty, one is longer than a block; the notes are the same."""
    monkeypatch.setattr(limits, "CUT_BLOCK_CHARACTERS", 300)
    folder = tmp_path / "files"
    folder.mkdir()
    for name, text in {
        "a": "one two three " * 40,
        "b": " ",
        "c": "four",
        "d": "five " * 70,
    }.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    plain = DocumentFiles(str(folder), chunker=Words(5)).corpus()
    with cut_by(executor):
        found = DocumentFiles(str(folder), chunker=Words(5)).corpus()
    assert found.digest == plain.digest
    assert [len(block) for block in executor.sent] == [1, 3]


def test_the_data_of_an_experiment_are_cut_by_its_executor(
    executor: Dying, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The data set is that of an experiment without one."""
    monkeypatch.setattr(limits, "CUT_BLOCK_CHARACTERS", 5000)
    document = {
        "data": {"path": "sample", "chunker": "words(20)"},
        "store": str(tmp_path / "store"),
        "systems": [{"retriever": "bm25"}],
        "metrics": ["R@5"],
    }
    plain = load_experiment(document).dataset
    monkeypatch.setattr("ragstone.experiment.experiment.executor_of", lambda _: executor)
    assert digests(load_experiment(document).dataset) == digests(plain)
    assert executor.mark.exists()


def test_one_block_and_your_own_chunker_stay_here(executor: Dying) -> None:
    """No process is started; nothing is cut from no documents."""

    @dataclass(frozen=True)
    class Halves(Chunker):
        def passages(self, document: Document) -> Any:
            middle = len(document.text) // 2
            return [document.passage(0, middle), document.passage(middle, len(document.text))]

    with cut_by(executor):
        assert list(cut_each([], Words(2))) == []
        ((key, cut),) = cut_each([("k", [Document("d", "one two three")])], Words(2))
        assert (key, [place[1:] for place in cut]) == ("k", [(0, 8), (8, 13)])
        many = (("k", [Document(str(n), "x" * 100_000)]) for n in range(11))
        assert [len(cut) for _, cut in cut_each(many, Halves())] == [2] * 11
    assert not executor.sent


def test_an_error_of_a_worker_is_that_of_this_process(
    executor: Dying, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A document that fails ends the command, whichever process cuts it."""
    monkeypatch.setattr(limits, "CUT_BLOCK_CHARACTERS", 10)
    wrong: Any = Document("wrong", "one two three", labels=None)  # type: ignore[arg-type]
    given = [("a", [Document("right", "one two three")]), ("b", [wrong])]
    with pytest.raises(TypeError, match="not a mapping") as plain:
        list(cut_each(given, Words(2)))
    with cut_by(executor), pytest.raises(TypeError) as sent:
        list(cut_each(given, Words(2)))
    assert str(sent.value) == str(plain.value)
    assert executor.sent
