"""`ragstone score`: the documented JSON, variants, explanations, and errors of bad input."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import click
import pytest
from click.testing import CliRunner, Result

from ragstone.cli.score import command
from ragstone.errors import ConfigError, DatasetError

GOLD: list[dict[str, object]] = [
    {"_id": "q1", "text": "Where?", "answers": ["Paris", "City of Paris"]},
    {"_id": "q2", "answers": ["1912"]},
    {"_id": "q3", "answers": []},
    {"_id": "q4", "answers": ["Rome"]},
]
ANSWERS: list[dict[str, object]] = [
    {"query_id": "q1", "answer": "Paris", "context": ["Paris is in France."]},
    {"query_id": "q2", "answer": None, "reason": "timed out"},
    {"query_id": "q3", "answer": "anything"},
    {"query_id": "unknown", "answer": "x"},
]


@pytest.fixture
def files(tmp_path: Path) -> tuple[str, str]:
    """Return answers and gold answers: one right, one failed, one without gold, one missing."""
    return write(tmp_path / "answers.jsonl", ANSWERS), write(tmp_path / "queries.jsonl", GOLD)


def write(path: Path, rows: Sequence[Mapping[str, object]]) -> str:
    """Write JSON lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return str(path)


def score(answers: str, gold: str, *arguments: str) -> Result:
    """Run the command; errors of Ragstone are raised."""
    return CliRunner().invoke(
        command,
        [answers, "--gold", gold, *arguments],
        catch_exceptions=False,
        standalone_mode=False,
    )


def test_json_has_the_documented_shape(files: tuple[str, str]) -> None:
    """Missing and failed answers count as wrong; queries without gold answers do not count."""
    found = json.loads(score(*files, "--metrics", "EM,F1", "--json").stdout)

    assert list(found) == ["EM", "F1"]
    counts = {"n": 3, "failed": 2, "missing": 1, "not_applicable": 1, "policy": "wrong"}
    assert counts.items() <= found["EM"].items()
    assert (found["EM"]["mean"], found["EM"]["mean_of_answered"]) == (pytest.approx(1 / 3), 1.0)
    assert found["EM"]["interval"] == pytest.approx([0.008403758, 0.9057006759497539])


def test_the_paper_variant_is_listed_under_the_given_name(files: tuple[str, str]) -> None:
    """MIRAGE's F1 of a gold answer is below 1 if there are several gold answers."""
    found = json.loads(score(*files, "--metrics", "F1,EM", "--variant", "paper", "--json").stdout)

    assert found["F1"]["mean_of_answered"] == pytest.approx(0.5)
    assert found["F1"]["metric"] == "F1(variant=mirage)"


def test_explain_lists_the_answers_on_which_variants_differ(files: tuple[str, str]) -> None:
    """The output has all variants, and the answers on which they differ."""
    text = score(*files, "--metrics", "F1", "--explain").stdout
    found = json.loads(score(*files, "--metrics", "F1", "--explain", "--json").stdout)

    assert "F1: its variants differ on 1 answers" in text
    assert [row["query_id"] for row in found["differ"]["F1"]] == ["q1"]
    assert set(found["metrics"]) == {"F1", "F1(variant=squad)", "F1(variant=mirage)"}


def test_per_query_lines_contain_reasons(files: tuple[str, str], tmp_path: Path) -> None:
    """The file has one line per query and metric, with a reason for each missing value."""
    path = tmp_path / "scores.jsonl"
    score(*files, "--metrics", "EM", "--per-query", str(path))

    lines = {row["query_id"]: row for row in map(json.loads, path.read_text().splitlines())}
    assert lines["q1"]["value"] == 1.0
    assert (lines["q2"]["status"], lines["q2"]["reason"]) == ("failed", "timed out")
    assert lines["q3"]["status"] == "not_applicable"


def test_the_first_line_of_a_query_has_its_texts(files: tuple[str, str], tmp_path: Path) -> None:
    """`ragstone compare` shows them beside each other."""
    path = tmp_path / "scores.jsonl"
    score(*files, "--metrics", "EM,F1", "--per-query", str(path))

    lines = [json.loads(line) for line in path.read_text().splitlines()]
    told = [row for row in lines if "answer" in row]
    assert len({row["query_id"] for row in lines}) == len(told) == len(lines) / 2
    assert next(row["answer"] for row in told if row["query_id"] == "q2") is None


def test_contexts_in_the_answers_file_are_read(files: tuple[str, str]) -> None:
    """The metric answer-in-context reads the context of each answer."""
    found = json.loads(score(*files, "--metrics", "answer-in-context", "--json").stdout)

    assert (found["answer-in-context"]["mean"], found["answer-in-context"]["n"]) == (1.0, 1)


def test_queries_that_do_not_match_are_listed_on_stderr(files: tuple[str, str]) -> None:
    """Missing and unknown queries are printed on stderr."""
    found = score(*files, "--json")

    assert "q4" in found.stderr
    assert "unknown" in found.stderr


def test_a_second_answer_needs_a_setting(tmp_path: Path) -> None:
    """Two answers to one query are an error, unless one context setting is named."""
    rows = [
        {"query_id": "q1", "answer": a, "setting": s} for a, s in (("Paris", "gold"), ("?", "none"))
    ]
    answers = write(tmp_path / "answers.jsonl", rows)
    gold = write(tmp_path / "gold.jsonl", GOLD[:1])

    with pytest.raises(DatasetError, match="several settings; name one with --setting"):
        score(answers, gold)
    found = json.loads(score(answers, gold, "--setting", "gold", "--json").stdout)
    assert found["EM"]["mean"] == 1.0


@pytest.mark.parametrize(
    ("row", "said"),
    [
        ({"answer": "x"}, "query_id"),
        ({"query_id": "q"}, "'answer' is missing"),
        ({"query_id": "q", "answer": 3}, "must be text"),
    ],
)
def test_malformed_lines_are_named(tmp_path: Path, row: dict[str, object], said: str) -> None:
    """The message names the file, the line and the expected value."""
    answers, gold = write(tmp_path / "a.jsonl", [row]), write(tmp_path / "g.jsonl", GOLD)

    with pytest.raises(DatasetError, match=rf"a\.jsonl, line 1.*{said}"):
        score(answers, gold)


@pytest.mark.parametrize(
    "arguments", [["--metrics", "EN"], ["--variant", "papr"], ["--metrics", "R@5"]]
)
def test_wrong_names_end_with_exit_code_2(files: tuple[str, str], arguments: list[str]) -> None:
    """Unknown metrics and variants, and metrics of rankings, end with exit code 2."""
    with pytest.raises(ConfigError) as caught:
        score(*files, *arguments)

    assert caught.value.exit_code == 2


def rows_score(path: Path, *arguments: str) -> Result:
    """Score a table without a file of gold answers."""
    return CliRunner().invoke(
        command, [str(path), *arguments], catch_exceptions=False, standalone_mode=False
    )


def test_rows_with_references_need_no_gold_file(tmp_path: Path) -> None:
    """The scores are those of the same rows with a file of gold answers, to the digit."""
    answers = ["It is Paris.", "1912", None]
    rows = [
        {"query_id": f"q{n}", "query": f"Question {n}?", "answer": answer, "contexts": ["Paris."]}
        for n, answer in enumerate(answers)
    ]
    gold = [{"_id": f"q{n}", "answers": [text]} for n, text in enumerate(["Paris", "1913", "x"])]
    with_gold = [
        {**row, "gold_answers": one["answers"]} for row, one in zip(rows, gold, strict=True)
    ]
    path = Path(write(tmp_path / "rows.jsonl", with_gold))
    plain = [
        {"query_id": r["query_id"], "answer": r["answer"], "context": r["contexts"]} for r in rows
    ]
    pair = write(tmp_path / "answers.jsonl", plain), write(tmp_path / "gold.jsonl", gold)
    names = ["--metrics", "EM,F1,K-precision", "--json"]

    assert json.loads(rows_score(path, *names).stdout) == json.loads(score(*pair, *names).stdout)


def test_rows_without_gold_get_what_needs_none(tmp_path: Path) -> None:
    """What does not apply is listed with its reason; systems have a table each."""
    path = tmp_path / "rows.csv"
    path.write_text("question,answer,system\nWhere?,Paris,a\nWhere?,I do not know.,b\n")

    result = rows_score(path, "--metrics", "EM,refusal", "--json")

    found = json.loads(result.stdout)["systems"]
    assert {name: one["refusal"]["mean"] for name, one in found.items()} == {"a": 0.0, "b": 1.0}
    assert found["a"]["EM"]["mean"] is None
    assert "EM does not apply to 1 queries: the query has no gold answer" in result.stderr
    assert "columns were guessed: text=question" in result.stderr
    found = json.loads(rows_score(path, "--system", "b", "--json").stdout)
    assert list(found) == ["K-precision", "refusal"]
    with pytest.raises(ConfigError, match="the systems are 'a', 'b'"):
        rows_score(path, "--system", "c")
    with pytest.raises(click.UsageError, match="name one with --system"):
        rows_score(path, "--per-query", str(tmp_path / "s.jsonl"))


def test_gold_answers_may_be_a_table(tmp_path: Path) -> None:
    """Ids that both files lack are digests of the same queries."""
    answers, gold = tmp_path / "answers.csv", tmp_path / "qa.csv"
    answers.write_text("question,answer\nWhere?,Paris\nWhen?,1912\n")
    gold.write_text("query,ground_truth\nWhere?,x\n")

    found = json.loads(score(str(answers), str(gold), "--metrics", "EM", "--json").stdout)

    assert (found["EM"]["n"], found["EM"]["mean"]) == (1, 0.0)


FOREIGN = Path(__file__).parents[1] / "data" / "readers" / "foreign"


def test_gold_answers_may_be_of_another_tool() -> None:
    """In one file or in two of different tools, the scores are equal; the format can be pinned."""
    names = ["--metrics", "EM,F1", "--json"]
    answers, gold = str(FOREIGN / "deepeval.csv"), FOREIGN / "ragas.jsonl"
    both = json.loads(score(answers, str(gold), *names).stdout)
    own = json.loads(rows_score(gold, *names, "--format", "ragas").stdout)
    assert both == own
    examples = str(FOREIGN / "langsmith-examples.jsonl")
    runs = str(FOREIGN / "langsmith-experiment.csv")
    assert json.loads(score(runs, examples, *names).stdout) == own
    with pytest.raises(ConfigError, match="unknown format 'rags'; did you mean 'ragas'"):
        rows_score(gold, "--format", "rags")


def test_the_systems_of_another_tool_have_a_table_each() -> None:
    """A failure of one of them counts for it alone."""
    result = rows_score(FOREIGN / "promptfoo.json", "--metrics", "F1", "--json")
    found = json.loads(result.stdout)["systems"]
    assert {name: one["F1"]["failed"] for name, one in found.items()} == {"first": 0, "second": 1}
    assert "note: promptfoo.json: the format is promptfoo; " in result.stderr
