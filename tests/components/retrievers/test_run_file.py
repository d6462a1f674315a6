"""Replaying a run file."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest
from tests.support import rankings

from ragstone.components.retrievers.run_file import RunFile
from ragstone.core.fingerprint import cache_key_parts
from ragstone.data.corpus import Corpus
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Passage, Search

CORPUS = Corpus.from_passages([Passage(name, name) for name in ("p1", "p2", "p3")])
RUN = "q1 Q0 p1 1 0.5 x\nq1 Q0 p2 2 0.9 x\nq1 Q0 p3 3 0.5 x\nq9 Q0 p1 1 1 x\n"


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run of two queries."""
    path = tmp_path / "run.trec"
    path.write_text(RUN, encoding="utf-8")
    return path


def test_rankings_are_replayed_in_trec_order(run: Path) -> None:
    """Highest score first, ties by passage id descending; an absent query has no hits."""
    found, absent = rankings(RunFile(str(run)), [Search("q1", "a"), Search("q2", "b")], CORPUS)
    assert list(found.passage_ids) == ["p2", "p3", "p1"]
    assert list(found.scores) == [0.9, 0.5, 0.5]
    assert len(absent) == 0


def test_top_k_cuts(run: Path) -> None:
    """No more than `top_k` passages are returned."""
    (found,) = rankings(RunFile(str(run), top_k=1), [Search("q1", "a")], CORPUS)
    assert list(found.passage_ids) == ["p2"]


def test_the_recipe_is_the_files_content(run: Path, tmp_path: Path) -> None:
    """The key depends on the bytes of the file and not on its path."""
    copy = tmp_path / "copy.trec"
    copy.write_text(RUN, encoding="utf-8")
    assert cache_key_parts(RunFile(str(run))) == cache_key_parts(RunFile(str(copy)))
    copy.write_text(RUN + "q2 Q0 p1 1 1 x\n", encoding="utf-8")
    assert cache_key_parts(RunFile(str(run))) != cache_key_parts(RunFile(str(copy)))


def test_gzip_is_read(tmp_path: Path) -> None:
    """A compressed run is replayed like a plain one."""
    path = tmp_path / "run.trec.gz"
    path.write_bytes(gzip.compress(RUN.encode()))
    (found,) = rankings(RunFile(str(path)), [Search("q1", "a")], CORPUS)
    assert list(found.passage_ids) == ["p2", "p3", "p1"]


def test_a_run_of_another_data_set_is_refused(run: Path) -> None:
    """A run with unknown passages, or without any of the queries, is refused."""
    other = Corpus.from_passages([Passage("p1", "")])
    with pytest.raises(DatasetError, match="2 passages that are not in the corpus"):
        rankings(RunFile(str(run)), [Search("q1", "a")], other)
    with pytest.raises(DatasetError, match=r"no ranking for any of the 1 queries.*'q1'.*'z'"):
        rankings(RunFile(str(run)), [Search("z", "a")], CORPUS)


def test_a_missing_file_and_a_wrong_top_k(tmp_path: Path) -> None:
    """The error names the missing path; `top_k` is at least 1."""
    with pytest.raises(DatasetError, match=r"absent\.trec: no such run file"):
        _ = RunFile(str(tmp_path / "absent.trec")).content_revision
    with pytest.raises(ConfigError, match="top_k must be 1 or more"):
        RunFile("x", top_k=0)
