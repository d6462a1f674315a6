"""Experiments whose queries are asked, and whose answers are judged, several times."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragstone.core import limits
from ragstone.core.registry import create
from ragstone.errors import ConfigError
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.experiment.repeat_spec import samples
from ragstone.experiment.verify import verify
from ragstone.models.bundled import MODELS
from ragstone.models.llama_server import local_servers
from ragstone.results.html import render_report
from ragstone.results.leaderboards import results_document
from ragstone.results.results import Results
from ragstone.results.terminal import query_text
from ragstone.results.variance import variance_rows
from ragstone.testing import FakeModelServer

Make = Callable[..., Experiment]
OWN = """
import hashlib
from pathlib import Path

def log(query):
    path = Path("asked.txt")
    lines = path.read_text().splitlines() if path.exists() else []
    path.write_text("\\n".join([*lines, query]))
    return lines.count(query)

def draw(query, number):
    return hashlib.sha256(f"{query} {number}".encode()).digest()[0] / 256

def sampled(query):
    number = log(query)
    value = draw(query, number)
    if value > 0.95:
        raise ValueError("no luck")
    return "Lisbon" if value < 0.4 else "Rome"

def retrieving(query):
    number = log(query)
    return {"answer": f"answer {number}", "contexts": [f"passage {number} of {query}"]}

class Drawn:
    def generate(self, query):
        number = log(query.text)
        if Path("stop").exists() and number == 2:
            raise KeyboardInterrupt
        return f"answer {number}"
"""
SAMPLED = {"name": "callable", "function": "own.py:sampled"}


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Return a function that writes an experiment file and loads it."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "own.py").write_text(OWN, encoding="utf-8")
    (tmp_path / "queries.jsonl").write_text(
        "\n".join(
            json.dumps({"query_id": f"q{n}", "query": f"Which city is {n}?", "gold_answers": [a]})
            for n in range(12)
            for a in [("Lisbon", "Rome")[n % 2]]
        )
    )

    def _make(*overrides: str, **changes: Any) -> Experiment:
        document = {
            "data": "queries.jsonl",
            "store": "store",
            "systems": {"mine": {"generator": SAMPLED}},
            "settings": ["none"],
            "metrics": ["Match"],
        }
        Path("e.yaml").write_text(yaml.safe_dump(document | changes), encoding="utf-8")
        return load_experiment("e.yaml", overrides)

    return _make


def asked() -> Counter[str]:
    """Return query -> number of times that it was asked."""
    return Counter(Path("asked.txt").read_text(encoding="utf-8").splitlines())


def plain(results: Results) -> Any:
    """Return the means as plain data."""
    return json.loads(json.dumps(results_document(results)["leaderboard"]))


def test_more_repeats_ask_only_the_new_ones(make: Make) -> None:
    """The first answers are those of a run without repeats, in the same folders."""
    one = make().run(reuse=True)
    five = make("repeats=5").run(reuse=True)

    assert set(asked().values()) == {5}
    (before,), (after,) = one.record.trials, five.record.trials
    assert (after.predictions, after.scores) == (before.predictions, before.scores)
    assert len({entry.predictions for entry in after.every}) == 5
    assert plain(make("repeats=1").run(reuse=True)) == plain(one)
    assert set(asked().values()) == {5}


def test_a_score_is_the_mean_over_all_answers(make: Make) -> None:
    """Failed answers count as wrong, and time and statuses are of all answers."""
    results = make("repeats=6", metrics=["Match", "pass@1", "pass@4", "consistency"]).run()

    (trial,) = results.trials
    for query_id, score in trial.scores["Match"].items():
        values = [rows.scores["Match"][query_id].value or 0.0 for rows in trial.answers]
        assert score.value == pytest.approx(sum(values) / 6)
        assert trial.scores["pass@1"][query_id].value == pytest.approx(score.value)
        assert trial.scores["pass@4"][query_id].value >= score.value  # type: ignore[operator]
    (usage,) = results_document(results)["usage"]
    failed = sum(p.answer is None for p in trial.each_prediction())
    assert (usage["answered"], usage["failed"]) == (72 - failed, failed)
    assert failed > 0
    assert results.record.calls[0].asked == 72
    assert "failure rate" in trial.scores


def test_the_share_of_variance_by_query_and_by_repeat_is_shown(make: Make) -> None:
    """In the tables of the terminal, in the report and in JSON; the shares sum to 1."""
    results = make("repeats=5").run()

    (row,) = variance_rows(results)
    assert (row.metric, row.queries, row.answers, row.verdicts) == ("Match", 12, 5, 1)
    assert [one.source for one in row.shares] == ["query", "repeat"]
    assert sum(one.share or 0 for one in row.shares) == pytest.approx(1)
    assert all(one.interval for one in row.shares)
    (document,) = results_document(results)["variance"]
    assert document["shares"][1]["source"] == "repeat"
    assert "Share of variance by source" in str(results)
    assert "Share of variance by source" in render_report(results)


def test_the_page_of_a_query_has_every_answer(make: Make) -> None:
    """With the scores of each, beside the mean."""
    results = make("repeats=3").run()
    text = query_text(results, "q0")
    assert "Each repeat; the scores above are means:" in text
    assert all(f"  {number}: " in text for number in (1, 2, 3))
    first = results.trials[0].answers[0].predictions["q0"]
    assert first.answer in {"Lisbon", "Rome", None}


def test_a_stopped_run_goes_on_with_the_answer_that_is_missing(make: Make) -> None:
    """Each repeat is a step: those that are done are not asked again."""
    systems = {"class": {"generator": "own.py:Drawn"}}
    Path("stop").touch()
    with pytest.raises(KeyboardInterrupt):
        make("repeats=4", systems=systems).run()
    Path("stop").unlink()
    assert sum(asked().values()) == 2 * 12 + 1
    make("repeats=4", systems=systems).run()
    # The call that stopped the run is made again.
    assert sum(asked().values()) == 4 * 12 + 1


def test_what_cannot_differ_is_asked_once_and_the_plan_says_so(make: Make) -> None:
    """Gold answers are looked up; a model with temperature 0 is asked again only if told to."""
    with FakeModelServer() as server:
        chat = {"name": "chat", "model": "fake", "base_url": server.url}
        systems = {
            "gold": {"generator": "gold"},
            "greedy": {"generator": chat},
            "told": {"generator": {**chat, "max_tokens": 9}, "repeats": 2},
            "warm": {"generator": {**chat, "temperature": 0.7, "seed": 5}},
        }
        experiment = make("repeats=3", systems=systems)
        notes = "\n".join(experiment.plan().notes)
        results = experiment.run()

    assert "or no repeats are wanted: gold, greedy" in notes
    assert "told: temperature 0, so 2 repeats cost calls" in notes
    assert [len(trial.answers) for trial in results.trials] == [1, 1, 2, 3]
    # The two systems with temperature 0 have prompts of equal text.
    assert set(server.asked.values()) == {1 + 2 + 3}
    assert {row.system for row in variance_rows(results)} == {"told", "warm"}


def test_the_calls_of_all_repeats_are_planned(make: Make) -> None:
    """In the estimate, in the lines on systems, and in the tree of steps."""
    with FakeModelServer() as server:
        chat = {"name": "chat", "model": "fake", "base_url": server.url, "temperature": 0.7}
        plan = make("repeats=3", systems={"warm": {"generator": chat}}).plan()
    assert plan.answer_calls == 36
    assert plan.asking == ("warm: at most 36 calls for answers",)
    assert plan.text().count("generate answers again: ") == 2


def test_a_judge_that_samples_gives_several_verdicts_on_one_answer(make: Make) -> None:
    """Gold answers are not repeated: the share of variance is that of the verdicts."""
    said = iter(["yes", "no", "yes", "yes"] * 100)
    with FakeModelServer(answer=lambda _: next(said)) as server:
        model = {"name": "chat", "model": "fake", "base_url": server.url}
        judges = [
            {"name": "equivalence", "model": {**model, "temperature": 0.7}},
            {"name": "idk", "model": model, "least_parse_rate": 0},
        ]
        results = make("repeats=4", systems={"gold": {"generator": "gold"}}, judges=judges).run()

    (trial,) = results.trials
    held = [one for one in trial.repeats if "equivalence" in one.scores]
    assert len(held) == 4
    assert len([one for one in trial.repeats if "idk" in one.scores]) == 1
    (row,) = variance_rows(results)
    assert (row.metric, row.answers, row.verdicts) == ("equivalence", 1, 4)
    assert [one.source for one in row.shares] == ["query", "verdict"]


def test_answers_and_verdicts_are_repeated_apart(make: Make) -> None:
    """The shares of three sources sum to 1, and equal repeats share their steps."""
    said = iter(["yes", "no", "yes", "yes", "no"] * 100)
    with FakeModelServer(answer=lambda _: next(said)) as server:
        model = {"name": "chat", "model": "fake", "base_url": server.url, "temperature": 1.0}
        judges = [{"name": "equivalence", "model": model}]
        experiment = make(repeats={"answers": 3, "verdicts": 2}, judges=judges)
        results = experiment.run()

    (trial,) = results.trials
    assert [(one.answer, one.verdict) for one in trial.repeats] == [
        (a, v) for a in range(3) for v in range(2)
    ]
    rows = {row.metric: row for row in variance_rows(results)}
    assert [one.source for one in rows["Match"].shares] == ["query", "repeat"]
    assert [one.source for one in rows["equivalence"].shares] == ["query", "repeat", "verdict"]
    assert sum(one.share or 0 for one in rows["equivalence"].shares) == pytest.approx(1)


def test_an_own_class_and_the_context_that_a_system_reports_are_repeated(make: Make) -> None:
    """Each answer is scored with the context that was reported with it."""
    systems = {
        "class": {"generator": "own.py:Drawn"},
        "context": {"generator": {"name": "callable", "function": "own.py:retrieving"}},
    }
    results = make(
        "repeats=2",
        systems=systems,
        settings=["none", "system"],
        metrics=["Match", "K-precision"],
    ).run()

    trials = {(trial.system, trial.setting): trial for trial in results.trials}
    texts = [rows.predictions["q1"].answer for rows in trials["class", "none"].answers]
    assert len(set(texts)) == 2
    shown = [rows.contexts["q1"].passages[0].text for rows in trials["context", "system"].answers]
    assert len(set(shown)) == 2


def test_the_readers_of_results_know_repeats(make: Make, tmp_path: Path) -> None:
    """A passport is verified, an export has the means, and a mean is the mean of the table."""
    results = make("repeats=4", metrics=["Match", "pass@2", "consistency"]).run()

    passport = results.passport(scores=True)
    assert len(passport["contents"]["trials"]) == 4
    assert passport["calls"][0]["replies"] == sum(
        p.call_key != "" and p.answer is not None for p in results.trials[0].each_prediction()
    )
    found = verify(passport, store="store", data="queries.jsonl")
    assert (found.different, found.equal > 0) == ((), True)
    evaluated = results.evaluation().table.column("metric").to_pylist()
    assert set(evaluated) == {"Match", "pass@2", "consistency"}
    assert results.to_arrow().num_rows == 3 * 12
    for name, target in (("scores", "s.csv"), ("inspector", "i.json"), ("ragas", "r.jsonl")):
        assert results.export(tmp_path / target, to=name)


def test_a_changed_answer_of_a_later_repeat_is_found(make: Make) -> None:
    """The passport has the rows of every answer."""
    passport = make("repeats=2").run().passport()
    Path("own.py").write_text(OWN.replace("Rome", "Oslo"), encoding="utf-8")
    make("repeats=2").run()
    changed = verify(passport, store="store", data="queries.jsonl").different
    assert [one.what for one in changed].count("answers") == 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"repeats": 0}, r"'repeats\.answers'.*greater than or equal to 1, found 0"),
        ({"repeats": limits.MAX_REPEATS + 1}, r"less than or equal to 100, found 101"),
        ({"repeats": "many"}, r"'repeats\.answers'.*found 'many'"),
        ({"repeats": {"answer": 5}}, r"unknown key 'repeats\.answer'.*'answers'"),
        (
            {"metrics": ["Match", "pass@3"]},
            r"'pass@3' needs 3 answers to each query, and no system",
        ),
        (
            {"metrics": ["Match", "pass@3"], "repeats": 2},
            r"needs 3 answers.*and there are 2; write",
        ),
        ({"metrics": ["F1", "pass@2"], "repeats": 2}, r"'pass@2' needs a rule for correct answers"),
        ({"metrics": ["Match", "pass"], "repeats": 2}, r"pass needs the number of answers"),
        (
            {"systems": {"g": {"generator": "gold", "repeats": 2}}},
            r"system 'g': repeats is 2, but it has the generator GoldAnswer, whose answers never",
        ),
        (
            {"systems": {"g": {"retriever": "bm25", "repeats": 2}}, "settings": []},
            r"system 'g': repeats is 2, but it has no generator",
        ),
        (
            {"correct": "pass@2", "metrics": ["Match", "pass@2"], "repeats": 2},
            r"not among the metr",
        ),
    ],
)
def test_bad_input_is_refused_before_anything_is_asked(
    make: Make, changes: dict[str, Any], message: str
) -> None:
    """The error names the key, the value and the way out."""
    with pytest.raises(ConfigError, match=message):
        make(**changes).run()
    assert not Path("asked.txt").exists()


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("gold", False),
        ("local", False),
        ({"name": "live", "generator": "local"}, False),
        ({"name": "chat", "model": "m"}, False),
        ({"name": "chat", "model": "m", "temperature": None}, True),
        ({"name": "live", "generator": {"name": "chat", "model": "m", "temperature": 1.0}}, True),
        ({"name": "http", "url": "http://127.0.0.1:1"}, True),
    ],
)
def test_what_samples(written: Any, expected: bool) -> None:
    """A server without a temperature chooses one; nothing is known of an own system."""
    assert samples(create("generators", written, where="test")) is expected


def test_the_seeds_of_a_sampling_model_are_consecutive(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The bundled model with a temperature: its second answers are those of the next seed."""
    if not MODELS["smollm2-135m-instruct"].fetched:
        pytest.skip("the model is not on this machine")
    pool = local_servers("smollm2-135m-instruct", workers=1, context_tokens=1024)
    monkeypatch.setenv("KEY_OF_THE_TEST", pool.api_key)
    model = {
        "name": "chat",
        "model": "smollm2",
        "identity": "bundled",
        "max_tokens": 8,
        "base_url": pool.urls[0],
        "api_key_env": "KEY_OF_THE_TEST",
        "temperature": 1.2,
    }
    limit, metrics = {"limit": 2}, ["F1"]

    def run(seed: int, repeats: int) -> Results:
        systems = {"m": {"generator": {**model, "seed": seed}}}
        document = {"systems": systems, "sample": limit, "metrics": metrics, "correct": None}
        return make(f"repeats={repeats}", **document).run()

    first, second = run(3, 3).trials[0], run(4, 1)
    texts = {p.answer for p in first.each_prediction()}
    assert len(texts) > 2
    assert second.record.calls[0].asked == 0
    given = {q: p.answer for q, p in second.trials[0].predictions.items()}
    assert given == {q: p.answer for q, p in first.answers[1].predictions.items()}
