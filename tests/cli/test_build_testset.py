"""`ragstone build testset` by a scripted writer: all types, budgets, resumption, bad documents."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import orjson
import pytest
from click.testing import CliRunner, Result
from tests.fakes.scripted_writer import ScriptedWriter
from tests.fakes.town_documents import answered_by, town_documents

from ragstone.building.few_shot import EXAMPLES
from ragstone.building.strategies import STRATEGIES
from ragstone.cli.build import command
from ragstone.cli.data import command as data_command
from ragstone.data.load import load_dataset
from ragstone.testing import FakeModelServer

TYPES = STRATEGIES["mixed"].labels
COPIED = ("Ann Hale", "Mill Bridge", "Oldby", "Tarn", "Pell Bridge", "Martha Quill")
"""Names in the examples of the prompts."""
COMMON = ["--no-label", "--pool", "bm25"]


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    """Yield a server that writes and judges by a script."""
    with FakeModelServer(answer=answered_by(ScriptedWriter())) as made:
        yield made


def build(server: FakeModelServer, folder: Path, *more: str, docs: Path | None = None) -> Result:
    """Run the command with documents about towns, and return its result."""
    documents = docs or town_documents(folder / "docs")
    model = f"chat(model=fake, base_url={server.url})"
    arguments = ["testset", str(documents), str(folder / "set"), "--model", model, *COMMON, *more]
    return CliRunner().invoke(command, arguments)


def document(result: Result) -> dict[str, Any]:
    """Return the JSON document that a command printed."""
    assert not result.exception, result.output
    found: dict[str, Any] = json.loads(result.stdout)
    return found


def test_every_type_is_built_and_nothing_is_rejected_wrongly(
    server: FakeModelServer, tmp_path: Path
) -> None:
    """One query of each of the nine types, with labels; the steps reject nothing."""
    told = document(build(server, tmp_path, "--count", str(len(TYPES)), "--json"))

    assert told["composition"] == dict.fromkeys(TYPES, 1)
    assert {one["stage"]: one["rejected"] for one in told["stages"]} == {
        name: {}
        for name in (
            "passages",
            "writing",
            "repeats",
            "label",
            "critique",
            "leak",
            "support",
            "count",
        )
    }
    assert told["dataset"] == str(tmp_path / "set")
    assert told["coverage"]["topics"] == 4
    assert told["coverage"]["covered"] == 4
    dataset = load_dataset(tmp_path / "set")
    by_type = {query.labels["taxonomy"]: query for query in dataset.queries}
    assert len(by_type["multi_turn"].history) == 4
    assert by_type["multi_turn"].rewrite
    assert by_type["underspecified"].labels["answerability"] == "underspecified"
    for name, query in by_type.items():
        sources = dataset.qrels.get(query.query_id, {})
        expected = {"unanswerable": 0, "underspecified": 0, "comparison": 2, "multi_hop": 2}
        assert len(sources) == expected.get(str(name), 1)
        assert bool(query.labels.get("vital_nuggets")) == bool(sources)
        if sources:
            assert query.labels["known"] == "no"
            assert query.labels["difficulty"] in {"easy", "medium", "hard"}


def test_twelve_are_twelve_though_some_are_rejected(
    server: FakeModelServer, tmp_path: Path
) -> None:
    """Refusals are replaced from other passages until the count is met."""
    server.answer = answered_by(ScriptedWriter({"facts:son in 161": "refusal"}))

    told = document(
        build(server, tmp_path, "--count", "12", "--json", "--mix", "fact_single,summary,reasoning")
    )

    assert told["queries"] == 12
    assert sum(told["stages"][1]["rejected"].values()) >= 1


def test_texts_of_the_prompts_examples_are_never_in_the_output(
    server: FakeModelServer, tmp_path: Path
) -> None:
    """A query with a name of the prompt's example is rejected and replaced."""
    right = answered_by(ScriptedWriter())

    def copies(messages: Any) -> str:
        said = right(messages)
        copied = len(messages) > 2 and hash_of(messages[-1]["content"]) % 2
        return said.replace("What is", "What did Ann Hale say is") if copied else said

    server.answer = copies
    told = document(build(server, tmp_path, "--count", "12", "--json"))

    assert any("name of the prompt's example" in why for why in told["stages"][1]["rejected"])
    shown = "\n".join(text for example in EXAMPLES.values() for text in example.values())
    assert all(name in shown for name in COPIED)
    for query in load_dataset(tmp_path / "set").queries:
        texts = [query.text, *query.gold_answers, *(m.text for m in query.history)]
        assert not [name for name in COPIED for text in texts if name in text]


def hash_of(text: str) -> int:
    """Return a number that depends on the text alone."""
    return sum(text.encode())


def test_known_queries_are_marked(server: FakeModelServer, tmp_path: Path) -> None:
    """If the reader is right without context, the query stays with the label `known`."""
    first = document(build(server, tmp_path, "--count", "4", "--mix", "fact_single", "--json"))
    query = load_dataset(tmp_path / "set").queries[0]
    script = ScriptedWriter(known={query.text: query.gold_answers[0]})
    server.answer = answered_by(script)

    again = document(
        build(server, tmp_path / "b", "--count", "4", "--mix", "fact_single", "--json")
    )

    assert (first["known"], again["known"], again["queries"]) == (0, 1, 4)


def test_passages_that_contain_the_answer_too_are_judged(
    server: FakeModelServer, tmp_path: Path
) -> None:
    """A longer document with the same sentence is found, judged and part of the qrels."""
    docs = town_documents(tmp_path / "docs", 8)
    for path in sorted(docs.iterdir()):
        more = "Nobody remembers who carried the stones to the square in those days of rain."
        (docs / f"copy-{path.name}").write_text(f"{path.read_text().strip()} {more}\n")

    told = document(
        build(server, tmp_path, "--count", "3", "--mix", "fact_single", "--json", docs=docs)
    )

    assert told["further_passages"] == 3
    assert told["positives"] == {"2": 3}


def test_a_judge_that_calls_everything_supporting_is_stopped(
    server: FakeModelServer, tmp_path: Path
) -> None:
    """The controls stop it before a query is written."""
    server.answer = answered_by(ScriptedWriter(agrees=True))

    result = build(server, tmp_path)

    assert "20 of 20 supporting ones supporting and 0 of 20 foreign" in str(result.exception)
    assert sum(server.asked.values()) == 40


def test_a_spent_budget_leaves_a_valid_set_and_a_rerun_asks_nothing(
    server: FakeModelServer, tmp_path: Path
) -> None:
    """Finished batches are a set marked as partial; the same command goes on from there."""
    size = ["--count", "24", "--mix", "fact_single", "--json"]
    partial = document(build(server, tmp_path, *size, "--max-calls", "200"))

    assert "maximum of 200 calls" in partial["partial"]
    assert 0 < partial["queries"] < 24
    assert partial["stages"][1]["rejected"] == {"not reached": 24 - partial["queries"]}
    assert len(load_dataset(tmp_path / "set").queries) == partial["queries"]

    whole = document(build(server, tmp_path, *size))
    before = sum(server.asked.values())
    again = document(build(server, tmp_path, *size))

    assert (whole["partial"], whole["queries"]) == ("", 24)
    assert again == whole
    assert sum(server.asked.values()) == before


def test_nothing_is_left_of_a_budget_that_ends_within_the_controls(
    server: FakeModelServer, tmp_path: Path
) -> None:
    """There is no query, and the reason is in build.json."""
    told = document(build(server, tmp_path, "--max-calls", "5", "--json"))

    assert told["queries"] == 0
    assert (
        "maximum of 5 calls" in orjson.loads((tmp_path / "set/build.json").read_bytes())["partial"]
    )


def test_a_killed_build_resumes(server: FakeModelServer, tmp_path: Path) -> None:
    """Kept replies are not asked again, and the result is that of a build without a kill."""
    docs = town_documents(tmp_path / "docs")
    server.delay = 0.02
    arguments = ["build", "testset", str(docs), str(tmp_path / "set"), *COMMON, "--count", "9"]
    model = ["--model", f"chat(model=fake, base_url={server.url})"]
    code = "from ragstone.cli import main; main()"
    process = subprocess.Popen(
        [sys.executable, "-c", code, *arguments, *model],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    while sum(server.answered.values()) < 60 and process.poll() is None:
        time.sleep(0.01)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    server.delay = 0.0
    killed_at = sum(server.asked.values())

    resumed = document(build(server, tmp_path, "--count", "9", "--json", docs=docs))
    alone = document(build(server, tmp_path / "alone", "--count", "9", "--json", docs=docs))

    assert killed_at >= 60
    assert resumed | {"dataset": ""} == alone | {"dataset": ""}
    repeated = [n for n in server.asked.values() if n > 2]
    assert len(repeated) <= 16  # Calls in flight when the process was killed.


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("   \n", "text"),
        ("The market of Oldby was opened by a weaver.", "it has fewer than 20 words (1)"),
    ],
)
def test_documents_without_text_for_a_query_are_refused(
    server: FakeModelServer, tmp_path: Path, text: str, message: str
) -> None:
    """The error has the reason, and no call is made."""
    docs = tmp_path / "docs"
    docs.mkdir()
    (docs / "a.txt").write_text(text)

    result = build(server, tmp_path, docs=docs)

    assert message in str(result.exception)
    assert not server.asked


def test_a_document_of_ten_megabytes_is_cut(server: FakeModelServer, tmp_path: Path) -> None:
    """It becomes thousands of passages, and a few queries need a few calls."""
    docs = tmp_path / "docs"
    docs.mkdir()
    lines = (
        f"In the year {n} the tower number {n} of Oldby was painted by worker {n * 7} in May."
        for n in range(140_000)
    )
    (docs / "long.txt").write_text(" ".join(lines))

    result = build(server, tmp_path, "--plan", "--json", docs=docs)

    planned = document(result)
    assert (docs / "long.txt").stat().st_size > 10_000_000
    assert planned["passages"] > 9_000
    assert planned["topics"] == 50
    assert not server.asked


def test_the_plan_has_size_and_power(server: FakeModelServer, tmp_path: Path) -> None:
    """A difference gives the size; a size gives the difference."""
    planned = document(build(server, tmp_path, "--difference", "0.1", "--plan", "--json"))
    assert planned["count"] == 200
    assert planned["detectable_difference"] == pytest.approx(0.1, abs=0.002)

    text = build(server, tmp_path, "--count", "300", "--plan").output
    assert "300 queries show a difference of" in text
    both = build(server, tmp_path, "--count", "3", "--difference", "0.1")
    assert "keep one of them" in str(both.exception)


def test_the_plan_needs_no_model(
    server: FakeModelServer, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It says what the build lacks and the command that fetches it; the build is an error."""
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path / "none"))
    model = ["--model", "local"]

    planned = document(build(server, tmp_path, *model, "--count", "9", "--plan", "--json"))
    text = build(server, tmp_path, *model, "--count", "9", "--plan").output
    built = build(server, tmp_path, *model, "--count", "9")

    (missing,) = planned["missing"]
    assert planned["count"] == 9
    assert "fetch 98 MB with: ragstone models fetch smollm2-135m-instruct" in missing
    assert f"The build cannot start: {missing}" in text
    assert str(built.exception) == missing
    assert not server.asked


def test_personas_and_the_language_of_the_documents_are_in_the_prompts(
    server: FakeModelServer, tmp_path: Path
) -> None:
    """Each persona asks some queries, which have it as a label; German documents ask for German."""
    docs = tmp_path / "docs"
    docs.mkdir()
    for i in range(6):
        (docs / f"{i}.txt").write_text(
            f"Der Markt der Stadt Nummer {i} wurde im Jahr {1600 + i} von Anna der Weberin gebaut "
            f"und hat {i + 30} Stände für Käse. Im Herbst wird die Glocke für {i + 70} Minuten "
            "geläutet, weil der Markt dann zu Ende ist und alle nach Hause gehen."
        )
    options = ["--count", "2", "--mix", "fact_single", "--json"]
    personas = ["--persona", "a nurse in a hurry", "--persona", "a clerk"]

    told = document(build(server, tmp_path, *options, *personas, docs=docs))

    assert told["language"] == "German"
    asked = {query.labels["asked_by"] for query in load_dataset(tmp_path / "set").queries}
    assert asked == {"a nurse in a hurry", "a clerk"}
    prompts = [body["messages"][-1]["content"] for body in server.bodies]
    assert sum(text.endswith("Write in German.") for text in prompts) == 6
    assert sum("Word it as this person would: a clerk" in text for text in prompts) == 1


def test_a_built_set_is_read_by_the_data_doctor_and_drawn(
    server: FakeModelServer, tmp_path: Path
) -> None:
    """The data doctor finds no error, and the chart has the steps."""
    chart = tmp_path / "steps.svg"
    document(build(server, tmp_path, "--count", "9", "--json", "--chart", str(chart)))

    checked = CliRunner().invoke(data_command, ["check", str(tmp_path / "set"), "--json"])

    assert checked.exit_code == 0, checked.output
    assert chart.read_text().startswith("<svg")


def test_a_target_among_the_documents_is_refused(tmp_path: Path) -> None:
    """A second build would read the first result as documents."""
    docs = town_documents(tmp_path / "docs")
    result = CliRunner().invoke(command, ["testset", str(docs), str(docs / "set")])
    assert "choose a folder outside of it" in str(result.exception)


def test_a_data_set_can_be_cut_again(server: FakeModelServer, tmp_path: Path) -> None:
    """DOCS may be a data set; `--chunker` cuts its passages."""
    result = build(
        server, tmp_path, "--chunker", "words(60)", "--plan", "--json", docs=Path("sample")
    )
    cut = document(result)["passages"]
    whole = document(build(server, tmp_path, "--plan", "--json", docs=Path("sample")))["passages"]
    assert cut > whole


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--mix", "comparisons=1"], "has no label 'comparisons'"),
        (["--turns", "9"], "turns must be from 2 to 8, found 9"),
        (["--pool", "bm52"], "bm25"),
    ],
)
def test_impossible_choices_are_refused_before_a_call(
    server: FakeModelServer, tmp_path: Path, options: list[str], message: str
) -> None:
    """The error names the choice."""
    assert message in str(build(server, tmp_path, *options).exception)
    assert not server.asked
