"""`ragstone rank`: the documented JSON, notes on queries that do not match, and exit codes."""

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
    """Run the command; errors of Ragstone are raised."""
    return CliRunner().invoke(
        command, list(arguments), catch_exceptions=False, standalone_mode=False
    )


def test_json_has_the_documented_shape(files: tuple[str, str]) -> None:
    """A query that is missing in the run is failed and counts as 0, unless it is excluded."""
    found = json.loads(rank(*files, "MRR", "R@5", "--json").stdout)
    excluded = json.loads(rank(*files, "MRR", "--failures", "exclude", "--json").stdout)

    assert list(found) == ["MRR", "R@5"]
    assert found["MRR"] == {
        "mean": 0.25,
        "n": 2,
        "failed": 1,
        "not_applicable": 0,
        "missing": 1,
        "interval": pytest.approx([0.014921673373293864, 0.8138882128733795]),
        "mean_of_answered": 0.5,
        "mean_of_all": 0.25,
        "policy": "wrong",
        "unscored": 0,
        "worst_and_best": None,
    }
    assert (excluded["MRR"]["mean"], excluded["MRR"]["n"], excluded["MRR"]["failed"]) == (0.5, 1, 1)


def test_queries_that_do_not_match_are_listed_on_stderr(files: tuple[str, str]) -> None:
    """Missing and unknown queries are printed on stderr, so that stdout is valid JSON."""
    found = rank(*files, "MRR", "--json")

    assert "q2" in found.stderr
    assert "extra" in found.stderr
    json.loads(found.stdout)


def test_the_table_names_the_ceiling(files: tuple[str, str]) -> None:
    """P@5 of queries with one relevant passage cannot exceed 0.2."""
    text = rank(*files, "P@5").stdout

    assert "ceiling" in text
    assert "0.2000" in text


def test_per_query_lines_contain_every_query(files: tuple[str, str], tmp_path: Path) -> None:
    """The file has one line per query and metric; a failed query has no value."""
    path = tmp_path / "scores.jsonl"
    rank(*files, "MRR", "--per-query", str(path))

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert [(line["query_id"], line["value"]) for line in lines] == [("q1", 0.5), ("q2", None)]


def test_several_collections_have_averages(files: tuple[str, str]) -> None:
    """Weighted and macro averages follow the tables of the collections."""
    text = rank(*files, "MRR", "--also", *files).stdout

    assert "weighted average: MRR 0.2500" in text
    assert "macro average: MRR 0.2500" in text


def test_documents_may_be_named_by_a_file(files: tuple[str, str], tmp_path: Path) -> None:
    """The ranks of passages give the ranks of their documents."""
    pages = tmp_path / "pages.tsv"
    pages.write_text("p1\tp2\n")

    found = json.loads(rank(*files, "MRR", "--documents", str(pages), "--json").stdout)

    assert found["MRR"]["mean"] == 0.5


def test_variants_are_listed_under_the_given_name(files: tuple[str, str]) -> None:
    """With --variant the key is the plain name, and `metric` has the full name."""
    found = json.loads(rank(*files, "nDCG@5", "--variant", "paper", "--json").stdout)

    assert found["nDCG@5"]["metric"] == "nDCG(variant=mirage)@5"


@pytest.mark.parametrize(
    "arguments", [["nDCG@ten"], ["nDGC@10"], ["EM"], ["R@5", "--variant", "x"]]
)
def test_wrong_names_end_with_exit_code_2(files: tuple[str, str], arguments: list[str]) -> None:
    """Unknown metrics, cutoffs and variants end with exit code 2."""
    with pytest.raises(ConfigError) as caught:
        rank(*files, *arguments)

    assert caught.value.exit_code == 2


def test_missing_files_are_named(files: tuple[str, str]) -> None:
    """The message names the path."""
    with pytest.raises(DatasetError, match=r"no\.trec"):
        rank("no.trec", files[1], "MRR")


def test_an_empty_run_scores_0(files: tuple[str, str], tmp_path: Path) -> None:
    """Every judged query counts as missing."""
    empty = tmp_path / "empty.trec"
    empty.write_text("")

    found = json.loads(rank(str(empty), files[1], "MRR", "--json").stdout)

    assert (found["MRR"]["mean"], found["MRR"]["n"], found["MRR"]["missing"]) == (0.0, 2, 2)


def test_a_metric_of_subtopics_reads_the_second_column(tmp_path: Path) -> None:
    """The other metrics use the highest grade of a passage; qrels without subtopics are refused."""
    run, qrels, plain = tmp_path / "run", tmp_path / "qrels", tmp_path / "plain"
    run.write_text("q1 Q0 a 1 3 x\nq1 Q0 b 2 2 x\nq1 Q0 c 3 1 x\n")
    qrels.write_text("q1 1 a 1\nq1 1 b 1\nq1 2 a 0\nq1 2 c 1\n")
    plain.write_text("q1 0 a 1\nq1 0 b 1\n")

    found = json.loads(rank(str(run), str(qrels), "alpha-nDCG@10", "R@1", "--json").stdout)

    assert found["alpha-nDCG@10"]["mean"] == pytest.approx(0.9651954696014429)
    assert found["R@1"]["mean"] == pytest.approx(1 / 3)
    with pytest.raises(DatasetError, match="no subtopics"):
        rank(str(run), str(plain), "alpha-nDCG@10")
