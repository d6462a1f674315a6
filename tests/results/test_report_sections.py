"""The report's verdict, causes, gains, changes, populations and failures, of real runs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from html import unescape
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.faulty_system import FAULTS, PARTS, faulty, lines
from tests.fakes.made_results import made_results

import ragstone
from ragstone.causes.order import BY_NAME
from ragstone.core import limits
from ragstone.results.causes.found import causes_of
from ragstone.results.failure_classes import failure_classes
from ragstone.results.html import render_report
from ragstone.results.leaderboards import leaderboard, leads
from ragstone.results.lesson import main_lead, verdict_sentence
from ragstone.results.results import Results
from ragstone.results.same_rows import distinct_board, same_rows
from ragstone.results.shown_changes import shown_changes
from ragstone.testing import FakeModelServer

READER = """
from dataclasses import dataclass
from ragstone import Ranking
from ragstone.types import Prediction


@dataclass(frozen=True)
class Finder:
    depth: int = 3
    first: int = 0
    top_k: int = 3

    def retrieve(self, search, corpus):
        of = int(search.text.split()[1])
        ids = [f"p{(of + self.first + n) % 12}" for n in range(self.depth)]
        return Ranking(ids, list(range(len(ids), 0, -1)))


@dataclass(frozen=True)
class Reader:
    skill: int = 6

    def generate(self, task):
        query_id = task.query.query_id
        of = int(query_id[1:])
        if of == 11:
            raise TimeoutError(f"no reply to {query_id}")
        shown = any(p.passage_id == f"p{of}" for p in task.context.passages)
        return Prediction(query_id, f"in {1900 + of}" if shown and of < self.skill else "never")
"""
Run = Callable[..., Results]


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Return a function that runs an experiment with these parts."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "set" / "qrels").mkdir(parents=True)
    (tmp_path / "parts.py").write_text(READER, encoding="utf-8")
    numbers = range(12)
    rows = [
        {"_id": f"q{n}", "text": f"When, {n} ?", "answers": [f"in {1900 + n}"]} for n in numbers
    ]
    rows = [row | {"text": f"When {n} happened?"} for n, row in enumerate(rows)]
    lines(tmp_path / "set/queries.jsonl", rows)
    passages = [{"_id": f"p{n}", "text": f"Number {n} was in {1900 + n}."} for n in numbers]
    lines(tmp_path / "set/corpus.jsonl", passages)
    judged = "".join(f"q{n}\tp{n}\t1\n" for n in numbers)
    head = "query-id\tcorpus-id\tscore\n"
    (tmp_path / "set/qrels/test.tsv").write_text(f"{head}{judged}", encoding="utf-8")

    def _run(systems: dict[str, tuple[int, int]], **changes: Any) -> Results:
        file = {
            "name": "e",
            "data": "set",
            "systems": {
                name: {
                    "retriever": {"name": "parts.py:Finder", "first": first},
                    "generator": {"name": "parts.py:Reader", "skill": skill},
                }
                for name, (first, skill) in systems.items()
            },
            "settings": ["none", "gold", "retrieved(1)"],
            "metrics": ["Match", "R@3"],
            "correct": "Match",
            "store": "store",
            **changes,
        }
        Path("e.yaml").write_text(json.dumps(file), encoding="utf-8")
        return ragstone.load_experiment("e.yaml").run()

    return _run


def section(page: str, name: str) -> str:
    """Return the text of one section of a report."""
    found = re.search(rf'<section id="{name}".*?</section>', page, re.DOTALL)
    assert found is not None, name
    shown = re.sub(r"<script.*?</script>", "", found[0], flags=re.DOTALL)
    return " ".join(unescape(re.sub(r"<[^>]+>", " ", shown)).split())


@pytest.fixture(scope="module")
def faults(tmp_path_factory: pytest.TempPathFactory) -> Results:
    """Return the results of systems that fail on purpose."""
    return faulty(tmp_path_factory.mktemp("faults"), PARTS)


@pytest.fixture(scope="module")
def page(faults: Results) -> str:
    """Return their report."""
    return render_report(faults)


def test_each_section_is_in_the_contents(page: str) -> None:
    """Each section has a link, and each link leads to a section."""
    listed = re.findall(r'<li dir="auto"><a href="#([\w-]+)">', page.partition("</nav>")[0])
    assert listed[0] == "summary"
    assert listed[1:] == re.findall(r'<section id="([\w-]+)"', page)
    assert {"causes", "gains", "changes", "populations", "failures"} <= set(listed)


def test_the_heading_is_the_verdict(faults: Results, page: str) -> None:
    """A system is only called best if a test shows it."""
    heading = unescape(re.findall(r"<h1>(.*?)</h1>", page)[0])
    assert heading == verdict_sentence(faults, main_lead(leads(faults)))
    assert heading.startswith("No system is shown to be best: a has Match")
    assert "under retrieved(3) on 16 queries, 1 of them failed" in heading
    assert heading.endswith("b is not told apart from it.")
    assert ' best"' not in page
    assert verdict_sentence(faults, None) == ""


def test_a_best_system_is_named(run: Run) -> None:
    """The verdict has its mean, and its cell alone is marked."""
    shown = run({"good": (0, 11), "bad": (0, 0)})
    page = render_report(shown)
    heading = unescape(re.findall(r"<h1>(.*?)</h1>", page)[0])
    assert heading.startswith("good is shown to be better than bad: Match 0.917 [")
    alone = re.findall(r'<td class="number best alone"[^>]*><b>([\d.]+)</b>', page)
    assert set(alone) == {"0.917"}
    single = render_report(run({"only": (0, 11)}, store="other"))
    assert "<h1>only has Match 0.917 [" in single


def test_causes_have_the_numbers_of_show(faults: Results, page: str) -> None:
    """Each share has its count, and the meaning of each cause is below."""
    text = section(page, "causes")
    for one in causes_of(faults).shares:
        name = one.cause.replace("_", " ")
        assert (
            f"{one.setting} {'of which ' if BY_NAME[one.cause].refines else ''}{name} {one.n} "
            in text
        )
        assert BY_NAME[one.cause].meaning in text
    assert "Not looked for: insufficient context: add" in text
    assert FAULTS["border"][0].replace("_", " ") in text


def test_gains_are_bounds_if_a_trial_is_missing(page: str) -> None:
    """The trial that would measure a gain is named with its number of calls."""
    text = section(page, "gains")
    assert re.search(r"retrieved\(3\) retrieval at most \+0\.\d+ \[.*\] .* the setting gold", text)
    assert "noise +0.0" in text


def test_failures_are_counted_by_class(run: Run) -> None:
    """The query and the file of tracebacks are not part of a reason; shared answers count once."""
    shown = run({"a": (0, 6), "b": (1, 6)})
    found = failure_classes(shown, same_rows(shown))
    assert [(one.what, one.system, one.setting, one.n, one.of) for one in found] == [
        ("answer", "a", "none", 1, 12),
        ("answer", "a", "gold", 1, 12),
        ("answer", "a", "retrieved(1)", 1, 12),
        ("answer", "b", "retrieved(1)", 1, 12),
    ]
    assert {one.reason for one in found} == {
        "Reader raised TimeoutError: no reply to q11 in parts.py, line 27"
    }
    text = section(render_report(shown), "failures")
    assert "A failed query counts as wrong." in text
    assert "retrieved(1) answer Reader raised TimeoutError" in text


def test_no_row_stands_twice(run: Run) -> None:
    """Answers without retrieval and rankings are shown once, with the names of all systems."""
    shown = run({"a": (0, 6), "b": (1, 6), "c": (0, 3)})
    same = same_rows(shown)
    boards = {one.setting: distinct_board(shown, one, same) for one in leaderboard(shown)}
    assert {s: [row.system for row in one.rows] for s, one in boards.items()} == {
        "none": ["a", "c"],
        "gold": ["a", "c"],
        "retrieved(1)": ["a", "b", "c"],
    }
    assert same.others("a", "gold") == ("b",)
    assert same.others("a", "") == ("c",)
    assert [place.rank for place in boards["gold"].ranks.values()] == [(1, 2), (1, 2)]
    page = render_report(shown)
    assert "a same answers: b" in section(page, "leaderboard")
    assert "a same rankings: c" in section(page, "retrieval")
    assert section(page, "cost").count("gold") == 2


def test_changes_are_those_against_the_earlier_run(run: Run) -> None:
    """Without one they are those between the two best systems; without those there are none."""
    alone = run({"a": (0, 6)})
    assert shown_changes(alone, main_lead(leads(alone))) is None
    two = run({"a": (0, 6), "b": (1, 6)}, store="two")
    between = shown_changes(two, main_lead(leads(two)))
    assert between is not None
    assert (between.a, between.b, between.setting) == ("b", "a", "retrieved(1)")

    later = run({"a": (0, 9)})
    found = shown_changes(later, main_lead(leads(later)))
    assert found is not None
    assert found.a.startswith("run of ")
    assert found.b == "a, this run"
    assert [(one.cause, one.better, one.worse) for one in found.counts] == [
        ("generator", ("q6", "q7", "q8"), ())
    ]
    text = section(render_report(later), "changes")
    assert "generator 3 0 the same context and prompt with another generator" in text
    assert "q6 : better, generator" in text


def test_the_populations_have_their_reasons(tmp_path: Path) -> None:
    """Each table has the number of its queries and of those that it could have."""
    text = section(render_report(made_results(tmp_path)), "populations")
    assert "leaderboard 12 12 none retrieval 12 12 none adaptability 12 12 none" in text


def test_the_report_of_an_experiment_with_judges(run: Run) -> None:
    """Judges are metrics of the boards, and their failures are counted by class."""
    answers = iter(range(1_000))
    with FakeModelServer(answer=lambda _: "yes" if next(answers) % 3 else "who knows") as server:
        model = {"name": "chat", "model": "fake", "base_url": server.url}
        judges = [{"name": "equivalence", "model": model, "least_parse_rate": 0}]
        shown = run({"a": (0, 6), "b": (1, 3)}, judges=judges)
    page = render_report(shown)

    found = [one for one in failure_classes(shown, same_rows(shown)) if one.what == "equivalence"]
    unread = sum(
        score.status == "unscored"
        for trial in shown.trials
        if same_rows(shown).is_first(trial.system, trial.setting)
        for score in trial.scores["equivalence"].values()
    )
    assert unread > 0
    assert sum(one.n for one in found) == unread
    assert "equivalence" in section(page, "leaderboard")
    assert f"equivalence {found[0].reason}" in section(page, "failures")
    assert '<dt dir="auto">equivalence</dt>' in page


def test_long_tables_are_closed_at_first(
    faults: Results, page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Up to a number of rows or cells they are open."""
    rows = len(causes_of(faults).shares)
    assert f"<summary>{rows} rows</summary>" in page
    closed = f"<details><summary>{rows} rows</summary>"
    assert (closed in page) == (rows > limits.REPORT_OPEN_ROWS)
    monkeypatch.setattr(limits, "REPORT_OPEN_ROWS", 1)
    monkeypatch.setattr(limits, "REPORT_OPEN_CELLS", 1)
    labelled = made_results(tmp_path)
    assert "<details><summary>turn</summary>" in render_report(labelled)
    assert closed in render_report(faults)
