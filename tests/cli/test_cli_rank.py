"""`ragstone rank`: the promised JSON, notes on what does not fit, and exit codes."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from ragstone.cli.rank import command
from ragstone.errors import ConfigError, DatasetError

RUN = "q1 Q0 p1 1 3.5 x\nq1 Q0 p2 2 2.5 x\nextra Q0 p1 1 1.0 x\n"
QRELS = "query-id\tcorpus-id\tscore\nq1\tp2\t1\nq2\tp9\t1\n"


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Return a run and qrels: one query found at rank 2, one missing, one unknown."""
    run, qrels = tmp_path / "run.trec.gz", tmp_path / "qrels.tsv"
    run.write_bytes(gzip.compress(RUN.encode()))
    qrels.write_text(QRELS)
    return str(run), str(qrels)


def rank(*arguments: str) -> Result:
    """Run the command; errors of ours are raised."""
    return CliRunner().invoke(
        command, list(arguments), catch_exceptions=False, standalone_mode=False
    )


def test_json_has_the_promised_shape(files: tuple[str, str]) -> None:
    """Mean, n, missing, failed and interval by metric, in the order asked for, unrounded."""
    found = json.loads(rank(*files, "MRR", "R@5", "--json").stdout)

    assert list(found) == ["MRR", "R@5"]
    assert list(found["MRR"]) == ["mean", "n", "missing", "failed", "interval"]
    assert found["MRR"] == {"mean": 0.25, "n": 2, "missing": 1, "failed": 0, "interval": [0.0, 0.5]}


def test_queries_that_do_not_fit_are_named_beside_the_output(files: tuple[str, str]) -> None:
    """Missing and unknown queries go to the other stream, so that JSON stays JSON."""
    found = rank(*files, "MRR", "--json")

    assert "q2" in found.stderr
    assert "extra" in found.stderr
    json.loads(found.stdout)


def test_the_table_names_the_ceiling(files: tuple[str, str]) -> None:
    """P@5 of queries with one relevant passage cannot exceed 0.2."""
    text = rank(*files, "P@5").stdout

    assert "ceiling" in text
    assert "0.2000" in text


def test_per_query_lines_hold_every_query(files: tuple[str, str], tmp_path: Path) -> None:
    """One line per query and metric, readable by `ragstone compare`."""
    path = tmp_path / "scores.jsonl"
    rank(*files, "MRR", "--per-query", str(path))

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["query_id"], line["value"]) for line in lines] == [("q1", 0.5), ("q2", 0.0)]


def test_several_collections_have_averages(files: tuple[str, str]) -> None:
    """Weighted by queries and macro, beside each collection's own table."""
    text = rank(*files, "MRR", "--also", *files).stdout

    assert "weighted average: MRR 0.2500" in text
    assert "macro average: MRR 0.2500" in text


def test_documents_may_be_named_by_a_file(files: tuple[str, str], tmp_path: Path) -> None:
    """Passages stand for the documents that the qrels judge."""
    pages = tmp_path / "pages.tsv"
    pages.write_text("p1\tp2\n")

    found = json.loads(rank(*files, "MRR", "--documents", str(pages), "--json").stdout)

    assert found["MRR"]["mean"] == 0.5


def test_variants_answer_under_the_name_asked_for(files: tuple[str, str]) -> None:
    """With --variant the key is the plain name; the metric's own stands beside the values."""
    found = json.loads(rank(*files, "nDCG@5", "--variant", "paper", "--json").stdout)

    assert found["nDCG@5"]["metric"] == "nDCG(variant=mirage)@5"


@pytest.mark.parametrize(
    "arguments", [["nDCG@ten"], ["nDGC@10"], ["EM"], ["R@5", "--variant", "x"]]
)
def test_wrong_names_are_wrong_usage(files: tuple[str, str], arguments: list[str]) -> None:
    """Unknown metrics, cutoffs and variants end with exit code 2."""
    with pytest.raises(ConfigError) as caught:
        rank(*files, *arguments)

    assert caught.value.exit_code == 2


def test_files_that_are_not_there_are_named(files: tuple[str, str]) -> None:
    """The path stands in the message."""
    with pytest.raises(DatasetError, match=r"no\.trec"):
        rank("no.trec", files[1], "MRR")


def test_an_empty_run_scores_0(files: tuple[str, str], tmp_path: Path) -> None:
    """Every judged query is missing, and counted."""
    empty = tmp_path / "empty.trec"
    empty.write_text("")

    found = json.loads(rank(str(empty), files[1], "MRR", "--json").stdout)

    assert (found["MRR"]["mean"], found["MRR"]["n"], found["MRR"]["missing"]) == (0.0, 2, 2)
