"""Verifying a passport: equal in another folder, and every change found and named."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml
from arro3.io import write_parquet
from click.testing import CliRunner, Result

import ragstone
from ragstone.cli import root
from ragstone.core.schemas import predictions_to_table, table_to_predictions
from ragstone.core.store import Store
from ragstone.core.stored_table import unverified_table
from ragstone.data.load import SAMPLE
from ragstone.errors import ConfigError, StoreError
from ragstone.experiment.load import load_experiment
from ragstone.experiment.verification import Verification
from ragstone.results.kept_board import write_report
from ragstone.results.passport_file import read_passport, sealed, write_passport
from ragstone.results.record import Record
from ragstone.results.results import Results
from ragstone.testing import FakeModelServer

OWN = """
from dataclasses import dataclass

import numpy as np

from ragstone.components.metrics.base import AnswerMetric


@dataclass(frozen=True)
class Words(AnswerMetric):
    name = "Words"
    range = None

    def values(self, pairs):
        return np.array([len(answer.split()) for answer in pairs.answers], float)
"""


def run(folder: Path, own: str = OWN, **changes: Any) -> Results:
    """Run an experiment with real parts in a folder: BM25, recorded answers, own metric."""
    folder.mkdir(exist_ok=True)
    shutil.copytree(SAMPLE, folder / "data", dirs_exist_ok=True)
    (folder / "own.py").write_text(own, "utf-8")
    queries = ragstone.load_dataset(folder / "data").queries
    with (folder / "answers.jsonl").open("w") as file:
        for place, query in enumerate(queries):
            answer = query.gold_answers[0] if query.gold_answers and place % 3 else "no idea"
            file.write(json.dumps({"query_id": query.query_id, "answer": answer}) + "\n")
    document = {
        "data": str(folder / "data"),
        "store": str(folder / "store"),
        "sample": {"limit": 16, "seed": 7, "where": {"turn": None}, "retrieval": "matching"},
        "systems": {
            "recorded": {"retriever": "bm25", "generator": f"recorded({folder}/answers.jsonl)"},
            "upper": {"retriever": {"name": "bm25", "k1": 0.9}, "generator": "gold"},
        },
        "settings": ["none", "gold", "retrieved(3)"],
        "metrics": ["Match", "F1", "own.py:Words", "nDCG@10", "R@3"],
    }
    (folder / "e.yaml").write_text(yaml.safe_dump(document | changes), "utf-8")
    return load_experiment(folder / "e.yaml").run()


@pytest.fixture
def moved(tmp_path: Path) -> Path:
    """Return a folder to which passport, store, data and own metric of a run were moved."""
    results, clone = run(tmp_path / "here"), tmp_path / "clone"
    clone.mkdir()
    write_passport(results.passport(), clone / "p.json")
    for name in ("store", "data", "own.py"):
        shutil.move(tmp_path / "here" / name, clone / name)
    shutil.rmtree(tmp_path / "here")
    return clone


def verified(clone: Path) -> Verification:
    """Verify a passport with the store and the data beside it."""
    return ragstone.verify(clone / "p.json", store=clone / "store", data=clone / "data")


def changed_numbers(found: Verification) -> set[str]:
    """Return the metrics whose numbers differ."""
    return {one.metric for one in found.different if one.what == "number"}


def change_answer(clone: Path, query_id: str, answer: str) -> None:
    """Write another answer into the store, as a person with an editor would."""
    record = Record.load(Store(clone / "store"), "e")
    entry = next(t for t in record.trials if (t.system, t.setting) == ("upper", "gold"))
    folder = clone / "store" / "steps" / entry.predictions
    predictions = [
        replace(one, answer=answer) if one.query_id == query_id else one
        for one in table_to_predictions(unverified_table(folder))
    ]
    write_parquet(predictions_to_table(predictions), str(folder / "table.parquet"))


def answerable(clone: Path) -> str:
    """Return the id of an answered query that has gold answers."""
    passport = read_passport(clone / "p.json")
    known = {q.query_id: q for q in ragstone.load_dataset(clone / "data").queries}
    answered: list[str] = passport["contents"]["answered"]
    return next(query_id for query_id in answered if known[query_id].gold_answers)


def test_all_numbers_are_equal_in_another_folder(moved: Path) -> None:
    """The store, the data and the own metric may be moved; nothing is left unchecked."""
    found = verified(moved)

    assert found.different == ()
    assert found.not_checked == ()
    assert found.equal > 200


def test_a_changed_answer_is_named(moved: Path) -> None:
    """The query is named, and so is the cause of each number that changes."""
    query_id = answerable(moved)
    change_answer(moved, query_id, "nonsense")

    found = verified(moved)

    (answers,) = [one for one in found.different if one.what == "answers"]
    assert (answers.system, answers.setting, answers.query_ids) == ("upper", "gold", (query_id,))
    assert {"Match", "F1"} <= changed_numbers(found)
    match = next(one for one in found.different if (one.metric, one.number) == ("Match", "mean"))
    assert match.passport > match.recomputed
    assert any(query_id in cause and "answers" in cause for cause in match.causes)
    assert {one.system for one in found.different if one.what == "number"} == {"upper"}


def test_a_changed_answer_without_effect_is_found(moved: Path) -> None:
    """An answer to a query without gold answers changes no score, and is still named."""
    passport = read_passport(moved / "p.json")
    known = {q.query_id: q for q in ragstone.load_dataset(moved / "data").queries}
    query_id = next(q for q in passport["contents"]["answered"] if not known[q].gold_answers)
    before = unverified_answer(moved, query_id)
    change_answer(moved, query_id, " ".join(reversed((before or "x").split())) + "!")

    assert any(one.query_ids == (query_id,) for one in verified(moved).different)


def unverified_answer(clone: Path, query_id: str) -> str | None:
    """Return an answer of the store."""
    record = Record.load(Store(clone / "store"), "e")
    entry = next(t for t in record.trials if (t.system, t.setting) == ("upper", "gold"))
    table = unverified_table(clone / "store" / "steps" / entry.predictions)
    return next(p.answer for p in table_to_predictions(table) if p.query_id == query_id)


def test_a_changed_gold_answer_is_named(moved: Path) -> None:
    """The data set's gold answers count, not those that the store repeats."""
    query_id = answerable(moved)
    path = moved / "data" / "queries.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    for row in rows:
        if row["_id"] == query_id:
            row["answers"] = ["something else"]
    path.write_text("\n".join(map(json.dumps, rows)), "utf-8")

    found = verified(moved)

    (gold,) = [one for one in found.different if one.what == "gold_answers"]
    assert gold.query_ids == (query_id,)
    assert {"Match", "F1", "adaptability"} == changed_numbers(found)
    numbers = [one for one in found.different if one.what == "number"]
    assert {one.causes for one in numbers} == {(f"the gold answers of query {query_id!r} differ",)}


def test_a_changed_line_of_a_metric_is_named(moved: Path) -> None:
    """Numbers of that metric alone differ, and the digests of the code are the cause."""
    own = moved / "own.py"
    own.write_text(OWN.replace("len(answer.split())", "len(answer.split()) + 1"), "utf-8")

    found = verified(moved)

    (code,) = [one for one in found.different if one.what == "code"]
    assert code.metric == "Words"
    assert changed_numbers(found) == {"Words"}
    assert all("code" in cause for one in found.different for cause in one.causes)
    assert len(found.not_checked) == 0


def test_a_table_that_other_code_cannot_fill_is_not_checked(tmp_path: Path) -> None:
    """Adaptability needs answers that are right or wrong; half a right answer is named."""
    judged = {"metrics": ["own.py:Words"], "correct": "Words"}
    binary = OWN.replace("len(answer.split())", "bool(answer)")
    binary = binary.replace("    range = None", "    range = None\n    graded = False")
    results = run(tmp_path / "here", own=binary, **judged)
    path = write_passport(results.passport(), tmp_path / "here" / "p.json")
    (tmp_path / "here" / "own.py").write_text(binary.replace("bool(answer)", "0.5"), "utf-8")

    found = verified(path.parent)

    assert {one.what for one in found.different} == {"code", "number"}
    assert {one.what.partition(" ")[0] for one in found.not_checked} == {"adaptability"}


def test_a_comment_in_a_metric_changes_nothing(moved: Path) -> None:
    """Code counts, not its layout."""
    (moved / "own.py").write_text(f"# A note.\n{OWN}", "utf-8")

    assert verified(moved).is_equal


def test_a_metric_that_is_not_there_is_not_checked(moved: Path) -> None:
    """Other metrics are; the reason has the name of the file."""
    (moved / "own.py").unlink()

    found = verified(moved)

    assert found.is_equal
    assert len(found.not_checked) == 6
    assert all(one.what.startswith("Words of ") for one in found.not_checked)
    assert all("own" in one.why for one in found.not_checked)


def test_other_data_are_told_before_anything_is_computed(
    moved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No metric runs: the queries are other ones."""
    other = moved / "other"
    other.mkdir()
    (other / "queries.jsonl").write_text('{"_id": "a", "text": "Who?"}\n', "utf-8")
    monkeypatch.setattr("ragstone.experiment.recompute.compute", pytest.fail)

    with pytest.raises(ConfigError, match=r"is of other data .*: 0 of its 121 queries"):
        ragstone.verify(moved / "p.json", store=moved / "store", data=other)


def test_without_data_the_store_is_checked_and_that_is_said(
    moved: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The path of the experiment file is not that of this machine."""
    (moved / "data").rename(moved / "elsewhere")
    monkeypatch.chdir(moved)

    found = ragstone.verify(moved / "p.json", store=moved / "store")

    assert found.is_equal
    assert [one.what for one in found.not_checked] == ["the files of the data set"]


def test_a_changed_passport_is_refused(moved: Path) -> None:
    """One digit of a mean."""
    path = moved / "p.json"
    path.write_text(path.read_text("utf-8").replace('"mean": 1.0', '"mean": 0.9', 1), "utf-8")

    with pytest.raises(ConfigError, match="was changed after it was written"):
        verified(moved)


@pytest.mark.parametrize("text", ["", "[]", "{", "null", "<html></html>", '{"kind": "x"}'])
def test_a_file_that_is_no_passport_is_refused(tmp_path: Path, text: str) -> None:
    """The message names the file."""
    (tmp_path / "p.json").write_text(text, "utf-8")

    with pytest.raises(ConfigError, match=r"p\.json"):
        ragstone.verify(tmp_path / "p.json")


def test_a_passport_without_its_keys_is_refused(tmp_path: Path) -> None:
    """A checksum that fits does not make a passport."""
    write_passport(sealed({"name": "e"}), tmp_path / "p.json")

    with pytest.raises(ConfigError, match="has no 'calls'"):
        ragstone.verify(tmp_path / "p.json")


def test_a_store_without_the_experiment_is_an_error(moved: Path) -> None:
    """Nothing can be checked, so nothing is called equal."""
    with pytest.raises(StoreError, match="has no experiment 'e'"):
        ragstone.verify(moved / "p.json", store=moved / "empty")


def test_a_report_is_verified_by_its_passport(moved: Path) -> None:
    """A report contains the passport that `Results.passport` returns."""
    results = Results.load(Store(moved / "store"), "e")
    report = write_report(results, moved / "report.html")

    assert read_passport(report) == results.passport() == read_passport(moved / "p.json")
    assert ragstone.verify(report, store=moved / "store", data=moved / "data").is_equal


def test_the_exit_code_says_whether_something_differs(moved: Path) -> None:
    """0 if all is equal, 1 if a number differs, 2 if the passport cannot be used."""
    given = ["--store", str(moved / "store"), "--data", str(moved / "data")]

    def verify(passport: str = "p.json") -> Result:
        return CliRunner().invoke(root, ["verify", str(moved / passport), *given, "--json"])

    equal = verify()
    (moved / "own.py").write_text(OWN.replace("len(answer", "2 * len(answer"), "utf-8")
    differs, absent = verify(), verify("absent.json")

    assert (equal.exit_code, differs.exit_code) == (0, 1)
    assert isinstance(absent.exception, ConfigError)
    assert absent.exception.exit_code == 2
    document = json.loads(differs.stdout)
    assert list(document) == ["equal", "different", "not_checked"]
    assert document["different"][0]["what"] == "code"


def test_verdicts_are_read_again_from_kept_replies(tmp_path: Path) -> None:
    """No judge is asked; without the replies the verdicts are not checked."""
    with FakeModelServer(answer=lambda _: "yes") as server:
        model = {"name": "chat", "model": "fake", "base_url": server.url}
        results = run(tmp_path / "here", judges=[{"name": "equivalence", "model": model}])
        asked = sum(server.asked.values())
        passport = results.passport()
        check: Callable[[], Verification] = lambda: ragstone.verify(  # noqa: E731
            passport, store=tmp_path / "here" / "store", data=tmp_path / "here" / "data"
        )
        found = check()
        assert sum(server.asked.values()) == asked > 0

    assert found.is_equal
    assert not any("equivalence" in one.what for one in found.not_checked)
    for path in (tmp_path / "here" / "store").glob("calls.sqlite*"):
        path.unlink()
    found = check()
    assert found.is_equal
    assert {one.what.partition(" ")[0] for one in found.not_checked} == {"Words", "equivalence"}
    assert any("not in the call log" in one.why for one in found.not_checked)


def test_figures_of_all_answers_are_computed_again(tmp_path: Path) -> None:
    """BLEU of all answers is equal, and differs if a gold answer does."""
    results = run(tmp_path / "here", metrics=["Match", "BLEU"])
    path = write_passport(results.passport(), tmp_path / "here" / "p.json")
    assert verified(path.parent).is_equal

    query_id = answerable(path.parent)
    queries = path.parent / "data" / "queries.jsonl"
    rows = [json.loads(line) for line in queries.read_text().splitlines()]
    changed = [
        {**row, "answers": ["quite another"]} if row["_id"] == query_id else row for row in rows
    ]
    queries.write_text("\n".join(map(json.dumps, changed)))
    numbers = {one.number for one in verified(path.parent).different if one.metric == "BLEU"}
    assert "beside.corpus" in numbers
