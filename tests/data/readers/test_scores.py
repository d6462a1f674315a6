"""Files of scores and of clusters: read whole, or refused with file, line and value."""

from __future__ import annotations

import gzip
from pathlib import Path

import pytest

from ragstone.data.readers.scores import (
    clusters_by_id,
    clusters_by_label,
    read_clusters,
    read_score_rows,
    read_scores,
)
from ragstone.errors import ConfigError, DatasetError
from ragstone.types import Prediction, Query, Score


def written(folder: Path, text: str, name: str = "x.jsonl") -> Path:
    """Return the path of a new file with this text."""
    path = folder / name
    path.write_text(text)
    return path


def test_a_score_is_read_with_status_and_reason(tmp_path: Path) -> None:
    """A number is scored, a null failed or not_applicable; other fields are passed over."""
    path = written(
        tmp_path,
        '{"query_id": "a", "metric": "EM", "value": 1, "extra": []}\n\n'
        '{"query_id": "b", "metric": "EM", "value": null, "reason": "time-out"}\n'
        '{"query_id": "c", "metric": "EM", "value": null, "status": "not_applicable"}\n'
        '{"query_id": "d", "metric": "EM", "value": true, "status": "scored"}\n'
        '{"query_id": "e", "metric": "EM", "value": 0.5, "status": "", "reason": "a remark"}\n',
    )

    assert read_scores(path) == [
        Score("a", "EM", 1.0),
        Score("b", "EM", None, "failed", "time-out"),
        Score("c", "EM", None, "not_applicable"),
        Score("d", "EM", 1.0),
        Score("e", "EM", 0.5, "scored", "a remark"),
    ]
    assert type(read_scores(path)[3].value) is float


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ('{"query_id": "a", "metric": "EM"}', "line 1: the field 'value' is missing"),
        ('{"query_id": "a", "metric": "EM", "value": "1"}', "finite number or null, found '1'"),
        ('{"query_id": "a", "metric": "EM", "value": NaN}', "line 1: not valid JSON"),
        ('{"query_id": "a", "metric": "EM", "value": 1e999}', "line 1"),
        ('{"query_id": 7, "metric": "EM", "value": 1}', "must be text, found 7"),
        ('{"query_id": "a", "metric": "EM", "value": 1, "status": "failed"}', "have none"),
        ('{"query_id": "a", "metric": "EM", "value": 1, "status": "done"}', "status 'done'"),
        ('{"query_id": "a", "metric": "EM", "value": null, "status": "scored"}', "'scored' has a"),
        ('{"query_id": "a", "metric": "EM", "value": [1]}', "finite number or null, found"),
        ("", "contains no score"),
    ],
)
def test_a_malformed_line_is_named(tmp_path: Path, line: str, message: str) -> None:
    """The error contains file, line, the value found and the values allowed."""
    with pytest.raises(DatasetError, match=message):
        read_scores(written(tmp_path, line))


def test_two_values_for_one_query_are_refused(tmp_path: Path) -> None:
    """Which one counts cannot be known."""
    line = '{"query_id": "a", "metric": "EM", "value": 1}\n'
    with pytest.raises(DatasetError, match="line 2: query 'a' has a second value for EM"):
        read_scores(written(tmp_path, line * 2))
    found = read_scores(
        written(tmp_path, line + line.replace("EM", "F1") + line.replace('"a"', '"b"'))
    )
    assert len(found) == 3


def test_lines_of_several_systems_or_settings_are_refused(tmp_path: Path) -> None:
    """`ragstone export --to scores` writes all of an experiment; rankings have no setting."""
    line = '{{"system": "{}", "setting": "{}", "query_id": "a", "metric": "{}", "value": 1}}\n'
    lines = [line.format(*one) for one in [("x", "", "R@5"), ("x", "none", "EM")]]
    assert len(read_scores(written(tmp_path, "".join(lines)))) == 2

    for other, message in (
        (("y", "none", "F1"), "line 3: the scores of system 'y' follow those of 'x'"),
        (("x", "gold", "F1"), "line 3: the scores of setting 'gold' follow those of 'none'"),
    ):
        with pytest.raises(DatasetError, match=message):
            read_scores(written(tmp_path, "".join([*lines, line.format(*other)])))


@pytest.mark.parametrize("name", ["s.csv", "s.parquet", "s.TSV"])
def test_a_table_is_no_file_of_scores(tmp_path: Path, name: str) -> None:
    """The error has the command that writes one."""
    with pytest.raises(DatasetError, match=r"--to scores -o s\.jsonl"):
        read_scores(written(tmp_path, "query_id,metric,value\n", name))


def test_clusters_are_read_from_tabs_or_json(tmp_path: Path) -> None:
    """Both forms give query id -> cluster."""
    tabs = written(tmp_path, "a\tc1\nb\tc1\n", "x.tsv")
    json = written(
        tmp_path, '{"query_id": "a", "cluster": "c1"}\n{"query_id": "b", "cluster": "c1"}'
    )

    assert read_clusters(tabs) == read_clusters(json) == {"a": "c1", "b": "c1"}
    for name in ("x.json", "x.jsonl.gz"):
        content = b'{"query_id": "a", "cluster": "c"}'
        (tmp_path / name).write_bytes(gzip.compress(content) if "gz" in name else content)
        assert read_clusters(tmp_path / name) == {"a": "c"}
    assert read_clusters(written(tmp_path, "a\tc\na\tc\n", "y.tsv")) == {"a": "c"}


def test_a_query_in_two_clusters_or_a_line_without_is_refused(tmp_path: Path) -> None:
    """The message names line and value."""
    with pytest.raises(DatasetError, match="line 2: query 'a' is in cluster 'c1' already"):
        read_clusters(written(tmp_path, "a\tc1\na\tc2\n", "x.tsv"))
    with pytest.raises(DatasetError, match="line 1: expected a query id, a tab and a cluster"):
        read_clusters(written(tmp_path, "a c1\n", "x.tsv"))
    for line in ("\tc1", "a\t", "a\tc1\tc2"):
        with pytest.raises(DatasetError, match="line 1: expected a query id, a tab and a cluster"):
            read_clusters(written(tmp_path, line, "x.tsv"))
    with pytest.raises(DatasetError, match="contains no cluster; each line") as caught:
        read_clusters(written(tmp_path, "", "x.tsv"))
    assert caught.value.path == tmp_path / "x.tsv"


def test_a_label_gives_clusters() -> None:
    """Conversation before document; the label asked for; queries without it are not named."""
    queries = [
        Query("a", "?", labels={"document": "d", "conversation": "c"}),
        Query("b", "?", labels={"document": "d"}),
        Query("c", "?"),
    ]

    assert clusters_by_label(queries) == ("conversation", {"a": "c"})
    assert clusters_by_label(queries[1:]) == ("document", {"b": "d"})
    assert clusters_by_label([Query("a", "?", labels={"turn": 2})], "turn") == ("turn", {"a": "2"})
    assert clusters_by_id(["a::b::1", "c::2"]) == {"a::b::1": "a::b", "c::2": "c"}
    assert clusters_by_id(["q1", "c::2"]) == {}
    assert clusters_by_label(queries, "document") == ("document", {"a": "d", "b": "d"})
    assert clusters_by_label([Query("a", "?")]) == ("", {})
    with pytest.raises(ConfigError, match="no query has the label 'documant'; did you mean"):
        clusters_by_label(queries, "documant")


def test_texts_of_a_line_are_read_and_other_types_left_out(tmp_path: Path) -> None:
    """The first line of a query with texts counts; a number is not a text."""
    path = written(
        tmp_path,
        '{"query_id": "a", "metric": "EM", "value": 1}\n'
        '{"query_id": "a", "metric": "F1", "value": 1, "query": "Who?", "gold_answers": "Ada",'
        ' "answer": "Ada", "passage_ids": ["p", 7]}\n'
        '{"query_id": "b", "metric": "F1", "value": null, "reason": "late", "answer": 42,'
        ' "query": 3}\n',
    )
    found = read_score_rows(path)

    assert found.queries == {"a": Query("a", "Who?", ("Ada",)), "b": Query("b", "")}
    assert found.predictions["a"] == Prediction("a", "Ada", passage_ids=("p",))
    assert (found.predictions["b"].answer, found.predictions["b"].reason) == (None, "late")
    assert found.predictions["b"].passage_ids is None
    lists = (
        '{"query_id": "a", "metric": "EM", "value": 1, "gold_answers": ["Ada", 3, "Eve"],'
        ' "passage_ids": "p"}\n{"query_id": "a", "metric": "F1", "value": 1, "query": "Other?"}\n'
    )
    found = read_score_rows(written(tmp_path, lists))
    assert found.queries == {"a": Query("a", "", ("Ada", "Eve"))}
    assert found.predictions == {"a": Prediction("a", None)}


def test_a_prediction_is_that_of_the_first_line_with_one(tmp_path: Path) -> None:
    """A later answer does not replace it, and a line without an answer makes none."""
    path = written(
        tmp_path,
        '{"query_id": "a", "metric": "EM", "value": 1, "answer": "Ada"}\n'
        '{"query_id": "a", "metric": "F1", "value": 1, "answer": "Eve"}\n'
        '{"query_id": "b", "metric": "EM", "value": 1}\n',
    )
    assert read_score_rows(path).predictions == {"a": Prediction("a", "Ada")}
