"""The check of a judge finds known error rates and judges that are unfit."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

import pytest
from click.testing import CliRunner
from tests.fakes.scripted_verdicts import ScriptedVerdicts, chance

from ragstone.calls.types import Failure
from ragstone.cli.judge import command
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.core.registry import create
from ragstone.errors import ConfigError, DatasetError, RagstoneError
from ragstone.evaluation.human_grades import HumanSet, Labelled, read_human_set
from ragstone.evaluation.judge_check import JudgeCheck, check_judge, check_verdicts
from ragstone.evaluation.judge_check_text import check_document, check_text
from ragstone.statistics.judge_quality import Columns, quality, uses
from ragstone.statistics.prediction_powered import calibrated_mean
from ragstone.testing import FakeModelServer, ScriptedCalls
from ragstone.types import Query

SharedData: TypeAlias = Callable[[str], Path]
MODEL: dict[str, Any] = {"name": "chat", "model": "scripted", "base_url": "http://localhost:1/v1"}
SIZE = 800


def graded(size: int = SIZE) -> HumanSet:
    """Return answers; people accept about 60 % of them, and no answer is part of another."""
    items = []
    for number in range(size):
        label = "yes" if chance("truth", number) < 0.6 else "no"
        item = Item(Query(f"q{number}", "What is it?", ("gold",)), f"answer <{number}> is it")
        system = "scripted" if number % 4 == 0 else "other"
        items.append(Labelled(item, float(label == "yes"), label, system=system))
    return HumanSet("made", tuple(items), "equivalence", "is it right?", {})


def scripted(data: HumanSet, **errors: Any) -> ScriptedCalls:
    """Return calls to a judge's model with known errors."""
    truth = {one.item.answer or "": one.label for one in data.items}
    return ScriptedCalls(ScriptedVerdicts(truth, **errors))


def checked(data: HumanSet, repeats: int = 1, **errors: Any) -> JudgeCheck:
    """Return the check of a scripted judge."""
    spec = {"name": "equivalence", "model": MODEL, "repeats": repeats, "least_parse_rate": 0}
    judge = create("judges", spec, where="test")
    return check_judge(judge, data, scripted(data, **errors).services())


def test_known_error_rates_are_within_the_intervals() -> None:
    """The judge refuses 10 % of right answers, accepts 30 % of wrong ones; 5 % are unreadable."""
    wrong = {"yes": {"no": 0.1}, "no": {"yes": 0.3}}

    found = checked(graded(), wrong=wrong, unreadable=0.05)

    accuracy = found.quality.accuracy
    assert accuracy is not None
    for share, rate in ((accuracy.true_yes, 0.9), (accuracy.true_no, 0.7),
                        (found.quality.parsed, 0.95)):  # fmt: skip
        assert share.interval is not None
        assert share.interval[0] <= rate <= share.interval[1]
    assert sum(found.unscored.values()) == SIZE - found.quality.parsed.count
    assert found.quality.confusion["no"]["unscored"] > 0
    assert found.quality.kappa is not None


def test_repeatability_is_measured() -> None:
    """A quarter of the second answers differ."""
    found = checked(graded(400), repeats=2, fickle=0.25)

    assert found.repeatable is not None
    assert found.repeatable.interval is not None
    assert found.repeatable.interval[0] <= 0.75 <= found.repeatable.interval[1]
    assert not found.uses[0].fit


def test_a_judge_without_error_is_fit_and_a_random_one_is_not() -> None:
    """Each use has a reason."""
    good = checked(graded(200))
    tossing = checked(graded(200), wrong={"yes": {"no": 0.5}, "no": {"yes": 0.5}})
    silent = checked(graded(200), unreadable=0.6)

    assert [use.fit for use in good.uses] == [True, True, True]
    assert not any(use.fit for use in tossing.uses)
    assert "80 of 200" not in check_text(good)
    assert all(not use.fit and "verdict could be read" in use.reason for use in silent.uses[:2])


def test_a_length_bias_is_measured() -> None:
    """A judge whose values grow with length is biased; one that accepts everything is not."""
    human = [0.5] * 100
    judge = [0.5 + place / 250 for place in range(100)]

    found = quality(Columns(judge, human, lengths=list(range(100))))
    mild = quality(Columns([1.0] * 100, [0.0, 1.0] * 50, lengths=[1, 9] * 50))

    assert found.length_bias.value == pytest.approx(1.0)
    assert mild.length_bias.value is None
    assert "longer" in uses(found)[1].reason


def test_a_preference_for_own_answers_is_measured() -> None:
    """The preference is the excess over people on own answers, minus that on others."""
    own = [place % 2 == 0 for place in range(100)]
    judge = [0.75 if mine else 0.5 for mine in own]

    found = quality(Columns(judge, [0.5] * 100, lengths=[1] * 100, own=own))

    assert found.self_preference is not None
    assert found.self_preference.mean == pytest.approx(0.25)


def test_the_calibrated_score_of_a_biased_judge_covers_the_truth() -> None:
    """150 human labels correct the bias of the judge's mean."""
    data = graded(1500)
    found = checked(data, wrong={"no": {"yes": 0.4}})
    said = [verdict.value for verdict in found.verdicts]
    human = [one.value for one in data.items]
    truth = sum(human) / len(human)

    calibrated = calibrated_mean(human[:150], said[:150], said[150:])

    assert calibrated.judge_mean > truth + 0.1
    assert calibrated.interval[0] <= truth <= calibrated.interval[1]


def test_the_report_is_text_and_plain_data() -> None:
    """The document has the numbers of the text, unrounded."""
    found = checked(graded(60), wrong={"no": {"yes": 0.5}})

    text, document = check_text(found), check_document(found)

    json.dumps(document)
    assert "kappa with people" in text
    assert document["quality"]["parsed"]["n"] == 60
    assert document["per_item"]["tokens_in"] == 100


def test_a_judge_without_a_verdict_on_the_data_is_refused() -> None:
    """Faithfulness cannot be checked on answers without passages; the message names a judge."""
    judge = create("judges", {"name": "RL_F", "model": MODEL}, where="test")

    with pytest.raises(ConfigError, match="suits the judge equivalence"):
        check_judge(judge, graded(10), ScriptedCalls(lambda _: "none").services())


@pytest.mark.parametrize(
    ("name", "size", "judge"),
    [
        ("truthfulqa", 300, "equivalence"),
        ("begin", 846, "RL_F"),
        ("ragchecker", 280, "pairwise"),
        ("mtrag", 477, "RL_F"),
    ],
)
def test_graded_sets_are_known_by_their_files(
    shared_data: SharedData, name: str, size: int, judge: str
) -> None:
    """Every item has an answer, possibly empty, and a value from 0 to 1."""
    held = read_human_set(str(shared_data(name)))

    assert (held.name, len(held.items), held.judge) == (name, size, judge)
    assert all(0 <= one.value <= 1 and one.item.answer is not None for one in held.items)
    assert {len(column) for column in held.values.values()} <= {size}


def test_nq_open_without_verdicts_is_refused_and_with_them_read(
    shared_data: SharedData, tmp_path: Path
) -> None:
    """A release without verdicts is an error; the fields of the full release are read."""
    with pytest.raises(DatasetError, match="has no verdicts of people"):
        read_human_set(str(shared_data("nq_open")))
    row = {
        "question": "who?",
        "answer": ["Ann"],
        "def_correct_predictions": ["Ann B."],
        "def_incorrect_predictions": ["Bob", "Cid"],
    }
    (tmp_path / "NQ-open.efficientqa.dev.jsonl").write_text(json.dumps(row) + "\n")

    held = read_human_set(str(tmp_path))

    assert [(one.item.answer, one.label) for one in held.items] == [
        ("Ann B.", "yes"), ("Bob", "no"), ("Cid", "no"),
    ]  # fmt: skip


@pytest.mark.parametrize("written", ["nowhere", "truthfulqa:nowhere", "chess:nowhere", "begin:/"])
def test_a_folder_without_grades_is_an_error_of_the_package(written: str) -> None:
    """Missing, unknown and malformed folders raise an error of the package."""
    with pytest.raises(RagstoneError):
        read_human_set(written)


def test_the_command_checks_a_judge_of_a_file(shared_data: SharedData, tmp_path: Path) -> None:
    """The command checks with and without a schema, and prints text or JSON."""
    with FakeModelServer(answer=lambda _: "**Yes**") as server:
        file = tmp_path / "judge.yaml"
        model = f"{{name: chat, model: fake, base_url: '{server.url}'}}"
        file.write_text(f"name: equivalence\nmodel: {model}\n")
        given = [str(file), "--data", str(shared_data("truthfulqa")), "--limit", "20"]
        store = ["--store", str(tmp_path / "store")]

        shown = CliRunner().invoke(command, ["check", *given, "--form", "both", *store])
        held = CliRunner().invoke(command, ["check", *given, "--json", *store])

    assert shown.exit_code == 0, shown.output
    assert "In free text" in shown.output
    assert "With a JSON schema" in shown.output
    assert "Unfit to grade single answers" in shown.output
    (document,) = json.loads(held.output)
    assert document["quality"]["parsed"]["value"] == 1.0


def test_a_judge_without_labels_is_compared_by_its_values() -> None:
    """A value of 1 is compared as yes and less as no; other words cannot be compared."""
    reply = '{"claims": ["It is so."]}'
    data = graded(40)
    items = tuple(replace(one, item=replace(one.item, passages=("Text.",))) for one in data.items)
    words = tuple(replace(one, label={"yes": "win", "no": "loss"}[one.label]) for one in items)
    judge = create("judges", {"name": "RL_F", "model": MODEL}, where="test")

    def answer(request: Any) -> str:
        return "1: supported" if "numbered claims" in request.messages[-1][1] else reply

    found, other = (
        check_judge(judge, replace(data, items=held), ScriptedCalls(answer).services())
        for held in (items, words)
    )

    assert {column for row in found.quality.confusion.values() for column in row} == {"yes"}
    assert {column for row in other.quality.confusion.values() for column in row} == {"unscored"}


def test_a_failed_call_does_not_count_for_the_judge() -> None:
    """Failed calls are counted separately, not as unread verdicts."""
    data = graded(60)
    scripted_calls = scripted(data)

    def answer(request: Any) -> Any:
        lost = "<7>" in request.messages[-1][1]
        return Failure("no reply within 120 s") if lost else scripted_calls.answer(request)

    judge = create(
        "judges", {"name": "equivalence", "model": MODEL, "least_parse_rate": 0}, where="test"
    )
    found = check_judge(judge, data, ScriptedCalls(answer).services())

    assert (found.calls_failed, found.quality.parsed.n, found.quality.parsed.value) == (1, 59, 1.0)
    assert "1 with failed calls" in check_text(found)


def test_groups_have_one_measure_and_name_it() -> None:
    """Kappa of the whole may leave out answers without a label, agreement by group does not."""
    words = {0.0: "no", 0.5: "", 1.0: "yes"}
    graded = [(n, (0.0, 1.0, 0.5)[n % 3]) for n in range(60)]
    items = tuple(
        Labelled(Item(Query(str(n), "Where?", ("here",)), "there"), value, words[value])
        for n, value in graded
    )
    verdicts = [Verdict(str(n), float(v > 0), "yes" if v else "no") for n, v in graded]

    partly = check_verdicts("judge", HumanSet("x", items, "idk", "?", {}), verdicts, by=["length"])
    kept = [n for n, value in graded if words[value]]
    whole = check_verdicts(
        "judge",
        HumanSet("x", tuple(items[n] for n in kept), "idk", "?", {}),
        [verdicts[n] for n in kept],
        by=["length"],
    )

    assert partly.quality.kappa is not None
    assert (partly.group_measure, whole.group_measure) == ("spearman", "kappa")
    assert "by label (rank correlation)" in check_text(partly)
    assert "by label (kappa)" in check_text(whole)
