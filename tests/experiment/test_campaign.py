"""Several data sets in one file: names, shared steps, failures, reruns, and the commands."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.fakes.counting_service import Service, serving

from ragstone.calls.client import Calls
from ragstone.calls.deadline import Deadline, TimeIsUp
from ragstone.calls.scheduler import RetryPolicy
from ragstone.cli.history import command as history_command
from ragstone.cli.report import command as report_command
from ragstone.cli.run import command as run_command
from ragstone.cli.show import command as show_command
from ragstone.core.store import Store
from ragstone.data.collections import shared_corpora
from ragstone.data.load import SAMPLE, load_dataset
from ragstone.errors import ComponentError, ConfigError, RagstoneError, StoreError
from ragstone.experiment.load import load_campaign, load_experiment
from ragstone.experiment.members import read_experiment_file
from ragstone.experiment.running import Run, execute
from ragstone.experiment.score_sources import read_sources
from ragstone.results.record import Record
from ragstone.results.results import Results
from ragstone.testing import FakeModelServer

OWN = """
from dataclasses import dataclass
from pathlib import Path
from ragstone.types import Ranking

@dataclass(frozen=True)
class Broken:
    top_k: int = 3
    def retrieve(self, searches, corpus):
        ids = corpus.passage_ids[: self.top_k]
        if Path(__file__).with_suffix(".off").exists():
            ids = ["no such passage"]
        return [Ranking(tuple(ids), (3.0, 2.0, 1.0)[: len(ids)]) for _ in searches]
"""
BASE: dict[str, Any] = {
    "data": {
        "first": {"path": "sample", "sample": {"limit": 6}},
        "second": {"path": "sample", "sample": {"limit": 9, "seed": 2}, "language": "en"},
    },
    "name": "study",
    "sample": {"limit": 12, "where": {"turn": None}},
    "systems": {"own": {"retriever": "bm25", "generator": "gold"}},
    "settings": ["none", "gold", "retrieved(3)"],
    "metrics": ["Match", "F1", "nDCG@10"],
}


@pytest.fixture
def store(tmp_path: Path) -> Path:
    """Return the folder of the store."""
    return tmp_path / "store"


@pytest.fixture
def service() -> Iterator[Service]:
    """Yield a running service."""
    with serving() as running:
        yield running


def document(store: Path, **changes: Any) -> dict[str, Any]:
    """Return an experiment file with two data sets, with some keys changed."""
    return {**BASE, "store": str(store), **changes}


def means(results: Results) -> list[tuple[Any, ...]]:
    """Return every mean with its interval."""
    cells = [*results.answer_cells, *results.ranking_cells]
    return [(c.system, c.setting, c.metric, c.summary) for c in cells]


def written(folder: Path, store: Path, **changes: Any) -> Path:
    """Write the file as YAML and return its path."""
    import yaml

    path = folder / "study.yaml"
    path.write_text(yaml.safe_dump(document(store, **changes)))
    return path


def test_each_data_set_is_an_experiment_of_its_own(tmp_path: Path, store: Path) -> None:
    """The numbers of the campaign are those of separate files, to the digit."""
    together = load_campaign(document(store)).run()
    assert [one.name for one in together] == ["study.first", "study.second"]
    assert [one.record.data.answered for one in together] == [6, 9]
    assert [one.record.data.name for one in together] == ["first", "second"]
    assert [one.record.campaign for one in together] == ["study", "study"]
    assert together[1].record.data.factors == {"language": "en"}
    for results, data in zip(together, BASE["data"].values(), strict=True):
        sample = {**BASE["sample"], **data["sample"]}
        alone = document(tmp_path / "other", data="sample", sample=sample)
        assert means(load_experiment(alone).run()) == means(results)


def test_a_run_again_computes_nothing(store: Path) -> None:
    """The plan of a finished campaign has nothing to do, and its records stay as they are."""
    campaign = load_campaign(document(store))
    first = [one.record for one in campaign.run()]
    plan = load_campaign(document(store)).plan()
    assert {step.state for one in plan.plans.values() for step in one.steps} == {"kept"}
    assert plan.calls == 0
    assert [one.record.finished for one in load_campaign(document(store)).run()] == [
        record.finished for record in first
    ]


def test_a_finished_run_holds_no_ranking_in_memory(
    store: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A record reads each ranking once, for its texts, and drops it: memory does not grow."""
    found: list[Run] = []

    def finished(runs: Sequence[Run]) -> list[Record]:
        found.extend(runs)
        return execute(runs)

    monkeypatch.setattr("ragstone.experiment.running.execute", finished)
    load_campaign(document(store)).run()
    rankings = [run.done[ranking.run] for run in found for ranking in run.steps.rankings]
    assert len(rankings) == 2
    assert not any("table" in vars(table) or table.memory for table in rankings)


def test_own_systems_are_asked_once_per_run_of_the_file(service: Service, store: Path) -> None:
    """A killed campaign continues with the same replies; after it finished, a run asks again."""
    own = {"own": {"generator": {"name": "http", "url": service.url}}}
    file = document(store, systems=own, settings=["none"], metrics=["Match"])
    # 6 + 9 queries, of which some are in both samples; the reply to each counts for both.
    texts = {query.text for one in load_campaign(file).experiments for query in _answered(one)}
    with load_campaign(file).open_calls() as calls:
        calls.deadline = AfterCalls(service, 6)
        with pytest.raises(RagstoneError):
            load_campaign(file).run(calls)
    assert service.counts.total() == 6
    load_campaign(file).run()
    assert service.counts.total() == len(texts)
    load_campaign(file).run()
    assert service.counts.total() == 2 * len(texts)


def test_a_data_set_that_is_done_is_finished_whatever_stops_the_others(
    service: Service, store: Path
) -> None:
    """Its record says so, after a stop as after a kill; the same command finishes the others."""
    own = {"own": {"generator": {"name": "http", "url": service.url}}}
    file = document(store, systems=own, settings=["none"], metrics=["Match"])
    with load_campaign(file).open_calls() as calls:
        calls.deadline = AfterCalls(service, 6)
        with pytest.raises(RagstoneError):
            load_campaign(file).run(calls)
    first = Record.load(Store(store), "study.first").finished
    assert first is not None
    results = load_campaign(file).run()
    assert all(one.finished for one in results)
    assert results[0].record.finished == first


class AfterCalls(Deadline):
    """A deadline that passes when a service was asked often enough."""

    def __init__(self, service: Service, count: int) -> None:
        super().__init__(hours=1)
        self.__dict__.update(service=service, count=count)

    def passed(self) -> TimeIsUp | None:
        """Return an error after the last call."""
        asked = self.__dict__["service"].counts.total()
        return TimeIsUp("enough") if asked >= self.__dict__["count"] else None


def _answered(experiment: Any) -> Any:
    from ragstone.core.schemas import table_to_queries

    return table_to_queries(experiment.shared.answered.table)


def test_one_system_that_fails_stops_no_other(tmp_path: Path, store: Path) -> None:
    """The results of the others are there; a second run makes the missing ones."""
    (tmp_path / "own.py").write_text(OWN)
    (tmp_path / "own.off").touch()
    systems = {
        "broken": {"retriever": f"{tmp_path}/own.py:Broken", "generator": "gold"},
        "sound": {"retriever": "bm25", "generator": "gold"},
    }
    file = document(store, systems=systems, settings=["retrieved(3)"], metrics=["Match"])
    with pytest.raises(ComponentError, match="no such passage"):
        load_campaign(file).run()
    for name in ("study.first", "study.second"):
        record = Record.load(Store(store), name)
        assert record.finished is None
        assert [trial.system for trial in record.trials] == ["sound"]
    (tmp_path / "own.off").unlink()
    assert all(one.finished for one in load_campaign(file).run())


def test_a_server_that_stops_on_the_way_stops_no_other_system(store: Path) -> None:
    """Its system fails, the others are finished; when it is back, only its own calls are made."""
    policy = RetryPolicy(attempts=1, first_wait=0.01, longest_wait=0.01, give_up_after=2)
    with FakeModelServer() as sound, FakeModelServer(script=["ok"] * 3 + ["500"] * 999) as lost:
        systems: dict[str, dict[str, dict[str, Any]]] = {
            name: {"generator": {"name": "chat", "model": name, "base_url": server.url}}
            for name, server in (("lost", lost), ("sound", sound))
        }
        file = document(store, systems=systems, settings=["none"], metrics=["Match"])
        for one in systems.values():
            one["generator"]["concurrency"] = 1
        with (
            Calls.at(store / "calls.sqlite", retry_policy=policy) as calls,
            pytest.raises(RagstoneError, match="lost"),
        ):
            load_campaign(file).run(calls)
        for name in ("study.first", "study.second"):
            trials = Record.load(Store(store), name).trials
            assert [trial.system for trial in trials] == ["sound"]
        asked, kept = sound.asked.total(), lost.answered.total()
        assert kept == 3
        lost.script = ()
        lost.__post_init__()
        assert all(one.finished for one in load_campaign(file).run())
        assert sound.asked.total() == asked
        assert max(lost.answered.values()) == 1


def test_metrics_and_settings_that_one_data_set_cannot_have(tmp_path: Path, store: Path) -> None:
    """They are left out there, which the plan tells; if none can have them, it is an error."""
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"_id": "q", "text": "Why?", "gold_answers": ["so"]}\n')
    systems = {"own": {"generator": "gold"}}
    changes: dict[str, Any] = {
        "systems": systems,
        "settings": ["none", "gold"],
        "sample": {},
        "metrics": ["Match"],
    }
    file = document(store, data=["sample", str(bare)], **changes)
    plan = load_campaign(file).plan()
    line = (
        "setting gold is not applicable: it shows passages, but the data set 'bare' has no corpus"
    )
    assert plan.left_out == {"study.sample": [], "study.bare": [line]}
    assert line in plan.text()
    assert plan.document()["experiments"]["study.bare"]["inapplicable"] == [line]
    assert [one.settings for one in load_campaign(file).run()] == [["none", "gold"], ["none"]]
    with pytest.raises(ConfigError, match="'gold' shows passages"):
        load_campaign(document(store, data=[str(bare)], **changes)).check()


def test_names_of_what_is_left_out_are_left_out_too(tmp_path: Path, store: Path) -> None:
    """Oracle, headline and rule of one data set; what no data set can have is an error in both."""
    bare = tmp_path / "bare.jsonl"
    bare.write_text('{"_id": "q", "text": "Why?", "gold_answers": ["so"]}\n')
    changes: dict[str, Any] = {
        "systems": {"own": {"generator": "gold"}},
        "settings": ["none", "gold"],
        "sample": {},
        "metrics": ["Match", "F1"],
        "oracle": "gold",
        "headline": "F1",
    }
    data = ["sample", str(bare)]
    whole, part = load_campaign(document(store, data=data, **changes)).experiments
    assert (whole.file.oracle, whole.file.headline) == ("gold", "F1")
    assert (part.file.oracle, part.file.headline, part.file.correct) == (None, "F1", "Match")
    with pytest.raises(ConfigError, match="retrieved"):
        load_campaign(
            document(store, data=data, **{**changes, "settings": ["none", "gold", "retrieved(3)"]})
        ).check()
    own = {"own": {"generator": {"name": "command", "command": ["cat"]}}}
    only_own = document(store, data=data, **{**changes, "systems": own, "settings": []})
    del only_own["oracle"]
    assert [one.file.settings for one in load_campaign(only_own).experiments] == [[], []]
    nothing = document(store, data=data, **{**changes, "settings": ["gold"]})
    with pytest.raises(ConfigError, match="'gold' shows passages"):
        load_campaign(nothing).check()


def test_one_data_set_is_chosen_by_its_name(tmp_path: Path, store: Path) -> None:
    """`FILE#NAME` is its experiment, in Python and as a place of scores; others are refused."""
    path = written(tmp_path, store)
    chosen = load_experiment(f"{path}#second")
    assert (chosen.file.name, chosen.member.factors) == ("study.second", {"language": "en"})
    chosen.run()
    (source,) = read_sources([f"{path}#second:own:gold"])
    assert source.results is not None
    assert source.results.name == "study.second"
    with pytest.raises(ConfigError, match=r"study\.yaml has 2 data sets; choose one: .*#first, "):
        load_experiment(path)
    with pytest.raises(ConfigError, match="has no data set 'secnd'; did you mean 'second'"):
        read_experiment_file(Path(f"{path}#secnd"))


def test_a_sample_of_the_command_counts_for_all_data_sets(tmp_path: Path, store: Path) -> None:
    """`--limit` is stronger than the samples of the data sets, whose other keys stay."""
    path = written(tmp_path, store)
    plan = CliRunner().invoke(run_command, [str(path), "--plan", "--limit", "3", "--json"])
    found = json.loads(plan.stdout)["experiments"]
    assert [one["queries"] for one in found.values()] == [3, 3]
    samples = [one.file.sample for one in load_campaign(path, ["sample.limit=3"]).experiments]
    assert [(one.limit, one.seed) for one in samples] == [(3, 0), (3, 2)]


def test_chunkers_sweep_with_their_judgements(store: Path) -> None:
    """One experiment per chunker, each with judgements of its own passages."""
    data = {"path": "sample", "chunker": ["words(30)", "sentences(110)"]}
    found = load_campaign(document(store, data=data, settings=["gold"])).run()
    assert [one.record.data.factors for one in found] == [
        {"chunker": "words(30)"},
        {"chunker": "sentences(110)"},
    ]
    passages = [one.record.data.passages for one in found]
    assert passages[0] > passages[1] > 0
    assert all(any(one.qrels.values()) for one in found)


def test_a_corpus_that_data_sets_share_is_read_once() -> None:
    """Two data sets with one `corpus` have the same passages in memory."""
    written = {"queries": str(SAMPLE), "corpus": str(SAMPLE / "corpus.jsonl.gz")}
    if not (SAMPLE / "corpus.jsonl.gz").exists():
        written["corpus"] = str(next(SAMPLE.glob("corpus.jsonl*")))
    with shared_corpora():
        first, second = load_dataset(written), load_dataset(written)
    assert first.corpus is second.corpus
    assert load_dataset(written).corpus is not first.corpus


def test_commands_read_all_data_sets_or_one(tmp_path: Path, store: Path) -> None:
    """`run`, `show` and `report` take the file, or one data set of it."""
    path = str(written(tmp_path, store))
    cli = CliRunner()
    ran = json.loads(cli.invoke(run_command, [path, "--json"]).stdout)
    assert list(ran["experiments"]) == ["study.first", "study.second"]
    shown = cli.invoke(show_command, [path]).stdout
    assert "study.first: 6 queries asked" in shown
    assert "study.second: 9 queries asked" in shown
    assert [cell["row"] for cell in ran["leaderboard"]["cells"]][:1] == [
        {"data": "first", "system": "own"}
    ]
    assert json.loads(cli.invoke(show_command, [f"{path}#first", "--json"]).stdout)["name"] == (
        "study.first"
    )
    target = str(tmp_path / "r.html")
    made = json.loads(cli.invoke(report_command, [path, "-o", target, "--json"]).stdout)
    assert [Path(one["report"]).name for one in made["reports"]] == [
        "r.first.html",
        "r.second.html",
    ]
    assert '<a href="r.second.html" dir="auto">study.second</a>' in Path(made["report"]).read_text()
    trend = json.loads(cli.invoke(history_command, [f"{path}#first", "--json"]).stdout)
    assert trend["name"] == "study.first"
    refused = cli.invoke(show_command, [path, "--query", "x"])
    assert isinstance(refused.exception, ConfigError)


def test_results_of_a_campaign_that_never_ran_are_missed(
    tmp_path: Path, store: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The error names the experiment; with some results, a note names the missing ones."""
    path = written(tmp_path, store)
    assert isinstance(CliRunner().invoke(show_command, [str(path)]).exception, StoreError)
    load_experiment(f"{path}#first").run()
    shown = CliRunner().invoke(show_command, [str(path)])
    assert "no results of " in caplog.text
    assert "no experiment 'study.second'" in caplog.text
    assert "study.first" in shown.stdout


def test_a_run_stops_at_its_time(store: Path) -> None:
    """Nothing is asked after the deadline, and the same command continues."""
    campaign = load_campaign(document(store, settings=["none"], metrics=["Match"]))
    systems = {"own": {"generator": "local"}}
    late = load_campaign(document(store, systems=systems, settings=["none"], metrics=["Match"]))
    with (
        late.open_calls(max_hours=1e-9) as calls,
        pytest.raises(RagstoneError, match=r"maximum of 1e-09 hours.*same command to resume"),
    ):
        late.run(calls)
    assert all(one.finished for one in campaign.run())
