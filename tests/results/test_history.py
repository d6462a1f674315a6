"""Histories: the order of runs, what makes values incomparable, and what is left out."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.made_history import made_passports

from ragstone.core import limits
from ragstone.errors import ConfigError, UnknownMetric
from ragstone.results.history import HistoryLine, make_history

Passport = dict[str, Any]
SYSTEM = "bm25 + small"


def line(passports: list[Passport], metric: str = "F1") -> HistoryLine:
    """Return the history of the first system under `none`."""
    return make_history(passports, metric=metric, system=SYSTEM, setting="none").lines[0]


def new_corpus(passport: Passport) -> None:
    """Change the passages."""
    passport["data"]["corpus_digest"] = "1" * 64


def new_licence(passport: Passport) -> None:
    """Change a fact of the data set that is not part of its content."""
    passport["data"]["licence"] = "other"


def new_gold(passport: Passport) -> None:
    """Change the gold answers of the first query."""
    gold = passport["contents"]["gold_answers"]
    gold |= {"digest": "0" * 64, "marks": "____" + gold["marks"][4:]}


def new_part(name: str, **changes: Any) -> Callable[[Passport], None]:
    """Return a change of the part of a metric, which has none before."""

    def change(passport: Passport) -> None:
        passport["parts"] |= {"old": {"component": "m"}, "new": {"component": "m", **changes}}
        entry = passport["metrics"][name]
        entry["part"] = "old" if entry["part"] is None else "new"

    return change


def new_retriever(passport: Passport) -> None:
    """Change a parameter of both systems."""
    part = passport["systems"][SYSTEM]["retriever"]
    passport["parts"][part] = {**passport["parts"][part], "parameters": {"k1": 0.9}}


def new_policy(passport: Passport) -> None:
    """Leave failed queries out."""
    for row in passport["numbers"]["leaderboard"]:
        row["policy"] = "exclude"


@pytest.mark.parametrize(
    ("change", "marks"),
    [
        (new_corpus, ("data",)),
        (new_gold, ("data",)),
        (new_policy, ("failures",)),
        (new_licence, ()),
        (new_retriever, ()),
    ],
)
def test_a_change_of_the_measurement_begins_a_segment(
    tmp_path: Path, change: Callable[[Passport], None], marks: tuple[str, ...]
) -> None:
    """Values on both sides are not comparable; a change of the system is listed alone."""
    points = line(made_passports(tmp_path, 4, {2: change})).points

    assert [point.marks for point in points] == [(), (), marks, ()]
    assert [point.segment for point in points] == [0, 0, bool(marks), bool(marks)]
    assert bool(points[2].changes) == (change not in {new_licence, new_policy})
    assert not any(point.changes for point in (points[0], points[1], points[3]))


@pytest.mark.parametrize(("kind", "mark"), [("judge", "judge"), ("answer", "code")])
def test_the_code_of_a_metric_or_a_judge_counts_for_it_alone(
    tmp_path: Path, kind: str, mark: str
) -> None:
    """Another metric's values stay comparable."""

    def of_kind(passport: Passport) -> None:
        passport["metrics"]["F1"]["kind"] = kind
        new_part("F1")(passport)

    changes = {0: of_kind, 2: new_part("F1", source="other", revision="new model")}
    passports = made_passports(tmp_path, 3, changes)

    assert [point.marks for point in line(passports).points] == [(), (), (mark,)]
    assert [point.marks for point in line(passports, "Match").points] == [(), (), ()]


def test_runs_are_in_the_order_of_their_dates_and_counted_once(tmp_path: Path) -> None:
    """A passport that is given twice is one run, and one of an unfinished run is none."""
    passports = made_passports(tmp_path, 4)
    unfinished = {**passports[0], "finished": None, "checksum": "other"}

    points = line([unfinished, *reversed(passports), passports[1]]).points

    assert [point.finished[:10] for point in points] == [f"2026-03-0{day}" for day in range(1, 5)]
    assert [point.release for point in points] == ["v1.0", "v1.0", "v1.1", "v1.1"]


def test_the_default_metric_is_the_first_of_the_file_that_is_of_answers(tmp_path: Path) -> None:
    """The metrics of a passport are sorted by name, which is not the order of the file."""
    [passport] = made_passports(tmp_path, 1)
    passport["experiment"].update(metrics=["nDCG@10", "Match", "F1"], correct=None, headline=None)
    kinds = {name: entry["kind"] for name, entry in passport["metrics"].items()}
    passport["metrics"]["nDCG@10"]["kind"] = "ranking"

    assert kinds["Match"] != "ranking"
    assert make_history([passport]).metric == "Match"
    for entry in passport["metrics"].values():
        entry["kind"] = "ranking"
    assert make_history([passport]).metric == "nDCG@10"


def test_one_run_is_a_history_and_none_is_an_error(tmp_path: Path) -> None:
    """The default metric is the headline of the last run."""
    passports = made_passports(tmp_path, 1)

    found = make_history(passports)

    assert found.metric == "Match"
    assert [len(one.points) for one in found.lines] == [1] * 4
    assert "2026-03-01 10:04" in str(found)
    with pytest.raises(ConfigError, match="no finished run"):
        make_history([])


def test_names_are_checked_against_the_last_run(tmp_path: Path) -> None:
    """The message has the nearest name."""
    passports = made_passports(tmp_path, 1)

    with pytest.raises(UnknownMetric, match="did you mean 'F1'"):
        make_history(passports, metric="F2")
    with pytest.raises(ConfigError, match="no system 'bm25'"):
        make_history(passports, system="bm25")
    with pytest.raises(ConfigError, match="did you mean 'gold'"):
        make_history(passports, setting="golden")


def test_the_terminal_shows_intervals_and_a_few_changes(tmp_path: Path) -> None:
    """Intervals of all runs are on one scale; JSON has every change."""

    def many(passport: Passport) -> None:
        passport["packages"] |= {f"package{i}": "2" for i in range(9)}

    history = make_history(made_passports(tmp_path, 3, {1: new_corpus, 2: many}), metric="F1")

    rows = [row for row in str(history).splitlines() if "2026-03-0" in row]
    plots = [row.split("]")[1].split()[0] for row in rows if "[" in row][:3]
    assert len({len(plot) for plot in plots}) == 1
    assert [plot.index("●") for plot in plots] == sorted(plot.index("●") for plot in plots)
    assert "data (not comparable)" in rows[1]
    assert f"and {9 - limits.SHOWN_HISTORY_CHANGES} more; --json lists all" in str(history)
    points = json.loads(json.dumps(history.to_dict()))["lines"][0]["points"]
    assert len(points[2]["changes"]) == 9
    assert points[2]["mean"] > points[1]["mean"]
