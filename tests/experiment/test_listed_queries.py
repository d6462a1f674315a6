"""`sample.queries`: the queries of an experiment by a file of ids, such as a test part."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragstone.data.load import load_dataset
from ragstone.errors import ConfigError
from ragstone.experiment.config import Sample
from ragstone.experiment.listed_queries import wanted_queries
from ragstone.experiment.load import load_experiment
from ragstone.results.passport import make_passport

DATA = load_dataset("sample")
IDS = [query.query_id for query in DATA.queries]


def experiment(folder: Path, ids: list[str], **sample: Any) -> Any:
    """Return an experiment on the queries of a file beside its own file."""
    (folder / "test.txt").write_text("\n".join(ids) + "\n", encoding="utf-8")
    path = folder / "e.yaml"
    path.write_text(
        "data: sample\nsystems: {b: {retriever: bm25}}\nmetrics: [R@5]\n"
        f"store: {folder / 'store'}\n",
        encoding="utf-8",
    )
    every = {"queries": "test.txt", **sample}
    return load_experiment(path, [f"sample.{key}={value}" for key, value in every.items()])


def asked(one: Any, table: str = "answered") -> list[str]:
    """Return the ids of the queries that are answered, or that measure retrieval."""
    found: list[str] = getattr(one.shared, table).table.column("query_id").to_pylist()
    return found


def test_the_file_beside_the_experiment_names_the_queries(tmp_path: Path) -> None:
    """Empty lines and repeated ids count once; the order is that of the data set."""
    found = experiment(tmp_path, [IDS[7], "", IDS[2], f" {IDS[7]} "])

    assert asked(found) == asked(found, "ranked") == [IDS[2], IDS[7]]


def test_it_works_with_limit_where_and_retrieval(tmp_path: Path) -> None:
    """All keys of the sample hold together."""
    some = IDS[:20]
    wanted = [q.query_id for q in DATA.queries[:20] if q.has_labels({"question_type": "factoid"})]
    where = {"where": "{question_type: factoid}"}

    found = experiment(tmp_path, some, limit=3, retrieval="matching", **where)
    whole = experiment(tmp_path, some, retrieval="all")

    assert asked(found, "ranked") == wanted
    assert set(asked(found)) < set(wanted)
    assert len(asked(found)) == 3
    assert (asked(whole), asked(whole, "ranked")) == (some, IDS)
    with pytest.raises(ConfigError, match=r"no query of test\.txt has the labels \{'turn': 1\}"):
        experiment(tmp_path, some, where="{turn: 1}").check()


def test_the_content_counts_and_not_the_name(tmp_path: Path) -> None:
    """The record, and with it passport and JSON, has the digest of the ids in any order."""
    found = experiment(tmp_path, IDS[:3])
    results = found.run()

    (tmp_path / "renamed.txt").write_text("\n".join(reversed(IDS[:3])), encoding="utf-8")
    renamed = experiment(tmp_path, IDS[:3], queries="renamed.txt")
    other = experiment(tmp_path, IDS[:4])

    digest = results.record.data.listed
    assert len(digest) == 64
    assert make_passport(results)["data"]["listed"] == renamed.shared.listed == digest
    assert other.shared.listed != digest
    assert wanted_queries(DATA, Sample(), Path) == (DATA, "")


@pytest.mark.parametrize(
    ("lines", "problem"),
    [
        (
            ["no-1", IDS[0], "no-2"],
            "names 2 of 3 queries that sample does not have: 'no-1', 'no-2'",
        ),
        ([""], "names no query; it needs a query id per line"),
    ],
)
def test_wrong_files_are_refused(tmp_path: Path, lines: list[str], problem: str) -> None:
    """Unknown ids are named, and an empty file asks nothing."""
    with pytest.raises(ConfigError, match=f"sample.queries: .*{problem}") as error:
        experiment(tmp_path, lines).check()
    assert error.value.key == "sample.queries"


def test_an_absent_file_is_refused(tmp_path: Path) -> None:
    """The path is in the message."""
    with pytest.raises(ConfigError, match=r"sample\.queries: cannot read .*absent\.txt"):
        experiment(tmp_path, IDS[:1], queries="absent.txt").check()
