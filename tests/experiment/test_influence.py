"""Leave-one-out effects of the passages that were shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.fakes.faulty_system import faulty

from ragstone.cli.why import command
from ragstone.errors import ConfigError
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.influence import ask_influence, planned_calls
from ragstone.experiment.load import load_experiment
from ragstone.results.chain import query_chain
from ragstone.results.counterfactuals import kept_counterfactuals
from ragstone.testing import FakeModelServer

_CUTTER = """
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Cutter:
    def process(self, task):
        return replace(task.context, passages=task.context.passages[:-1])
"""
_TEXTS = ("The bridge is red.", "It was built in 1931.", "A bridge crosses water.")


@pytest.fixture
def server() -> Iterator[FakeModelServer]:
    """Yield a model that reads the year, if it is shown."""
    with FakeModelServer(_reads) as found:
        yield found


def _reads(*request: Any) -> str:
    return "the year is 1931" if "1931" in str(request) else "nobody knows the year"


def _file(server: FakeModelServer, folder: Path, **generator: Any) -> Path:
    """Write a data set and an experiment."""
    (folder / "set" / "qrels").mkdir(parents=True)
    rows = [{"_id": f"p{n}", "text": text} for n, text in enumerate(_TEXTS, start=1)]
    _lines(folder / "set/corpus.jsonl", rows)
    query = {"_id": "q", "text": "When was the red bridge across water built?", "answers": ["1931"]}
    _lines(folder / "set/queries.jsonl", [query])
    (folder / "set/qrels/test.tsv").write_text("query-id\tcorpus-id\tscore\nq\tp2\t1\n", "utf-8")
    made = {"name": "chat", "model": "m", "base_url": server.url, **generator}
    document = {
        "data": "set",
        "store": str(folder / "store"),
        "systems": {"s": {"retriever": "bm25", "generator": made}},
        "settings": ["none", "retrieved(3)"],
        "metrics": ["Match"],
        "correct": "Match",
    }
    path = folder / "e.yaml"
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def _lines(path: Path, rows: list[dict[str, Any]]) -> None:
    path.write_text("".join(f"{json.dumps(row)}\n" for row in rows), encoding="utf-8")


@pytest.fixture
def experiment(server: FakeModelServer, tmp_path: Path) -> Experiment:
    """Return an experiment that ran."""
    made = load_experiment(_file(server, tmp_path))
    made.run()
    return made


def test_the_passage_with_the_answer_has_the_effect(experiment: Experiment) -> None:
    """The others have none; the second time nothing is asked."""
    chain = query_chain(experiment.run(), "q", "s", "retrieved(3)")
    assert planned_calls(experiment, chain) >= 3
    first = ask_influence(experiment, chain, max_calls=10)
    again = ask_influence(experiment, chain, max_calls=0)

    assert first.original == "the year is 1931"
    effects = {one.passage_id: first.effect(one) for one in first.passages}
    assert effects == {"p1": 0, "p2": 1, "p3": 0}
    (gold,) = (one for one in first.passages if one.gold)
    assert gold.without is not None
    assert gold.without.answers == ("nobody knows the year",)
    assert gold.without.similarity == pytest.approx(0.5)
    assert (first.calls, again.calls, again.reason) == (3, 0, "")
    assert again.passages == first.passages


def test_a_maximum_of_calls_leaves_passages(experiment: Experiment) -> None:
    """They are named, with the reason; the next call goes on."""
    chain = query_chain(experiment.run(), "q", "s", "retrieved(3)")
    some = ask_influence(experiment, chain, max_calls=2)
    rest = ask_influence(experiment, chain, max_calls=2)

    assert some.calls <= 2
    assert some.passages[-1].without is None
    assert "maximum of 2 calls" in some.reason
    assert "not asked" in str(some)
    asked = [sum(one.without is not None for one in found.passages) for found in (some, rest)]
    assert asked[0] < asked[1]


def test_a_setting_without_passages_is_refused(experiment: Experiment) -> None:
    """Nothing is asked."""
    chain = query_chain(experiment.run(), "q", "s", "none")

    with pytest.raises(ConfigError, match="no passage"):
        ask_influence(experiment, chain, max_calls=9)


def test_repeats_of_a_model_that_samples(tmp_path: Path) -> None:
    """Every context is answered several times; the effect has an interval."""
    number = count()

    def unsure(*request: Any) -> str:
        return "1931" if "1931" in str(request) and next(number) % 2 else "unknown"

    with FakeModelServer(unsure) as server:
        experiment = load_experiment(_file(server, tmp_path, temperature=1.0))
        chain = query_chain(experiment.run(), "q", "s", "retrieved(3)")
        found = ask_influence(experiment, chain, max_calls=100, repeats=4)

    assert found.whole is not None
    assert (found.whole.n, found.whole.failures) == (4, 0)
    (gold,) = (one for one in found.passages if one.gold)
    effect, interval = found.effect(gold), found.interval(gold)
    assert effect is not None
    assert interval is not None
    assert effect > 0
    assert interval[0] < effect < interval[1]


def test_passages_are_given_as_they_were_shown(server: FakeModelServer, tmp_path: Path) -> None:
    """A processor does not cut them a second time."""
    path = _file(server, tmp_path)
    (tmp_path / "cut.py").write_text(_CUTTER, encoding="utf-8")
    experiment = load_experiment(path, ["systems.s.processor=cut.py:Cutter"])
    results = experiment.run()
    chain = query_chain(results, "q", "s", "retrieved(3)")
    assert chain.context is not None
    assert len(chain.context) == 2

    found = ask_influence(experiment, chain, max_calls=9)

    shown = {
        trial.setting: trial.contexts["q"].passages
        for one in kept_counterfactuals(results, "q")
        for trial in one.trials
    }
    assert shown["all"] == chain.context
    assert shown["without 1"] == chain.context[1:]
    assert found.whole is not None
    assert found.whole.answers == (found.original,)


def test_answers_of_your_own_system_are_counted(tmp_path: Path) -> None:
    """They are not model calls, and the maximum is of them too."""
    results = faulty(tmp_path)
    experiment = load_experiment(tmp_path / "e.yaml")
    chain = query_chain(results, "distracted", "a", "retrieved(3)")

    assert planned_calls(experiment, chain) == 4
    found = ask_influence(experiment, chain, max_calls=2)

    assert [one.without is not None for one in found.passages] == [True, False, False]


def test_the_command(experiment: Experiment, tmp_path: Path) -> None:
    """Without a maximum it names the calls and asks nothing."""
    file = str(tmp_path / "e.yaml")
    assert experiment.file.name == "e"
    before = CliRunner().invoke(command, ["q", file, "--influence"])
    assert isinstance(before.exception, ConfigError)
    most = re.search(r"--max-calls (\d+)", str(before.exception))
    assert most is not None
    asked = ["q", file, "--influence", "--max-calls", most[1]]
    text = CliRunner().invoke(command, asked)
    document = json.loads(CliRunner().invoke(command, [*asked, "--json"]).stdout)

    assert "Influence of each passage (s under retrieved(3))" in text.stdout
    assert document["influence"]["calls"] == 0
    assert [one["effect"] for one in document["influence"]["passages"]].count(1) == 1
    for wrong, problem in (
        (["q", file, "--max-calls", "3"], "belong to --influence"),
        (["q", "--influence", "--max-calls", "3"], "name its file"),
    ):
        found = CliRunner().invoke(command, wrong)
        assert (found.exit_code, problem in found.output) == (2, True)
