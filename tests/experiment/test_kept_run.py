"""A finished run again: nothing is read, and whatever changed is noticed."""

from __future__ import annotations

import json
import logging
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

import ragstone
from ragstone.components.generators.given_function import GivenFunction
from ragstone.experiment import kept_run
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.kept_run import KIND
from ragstone.experiment.load import load_campaign, load_experiment


@pytest.fixture(name="home")
def _home(tmp_path: Path) -> Path:
    """Return a folder with a small data set and an experiment file."""
    data = tmp_path / "data"
    data.mkdir()
    words = ("Tagus", "Douro", "Ebro", "Minho")
    queries = [
        {"_id": f"q{n}", "text": f"Where is {w}?", "answers": [w]} for n, w in enumerate(words)
    ]
    passages = [{"_id": f"p{n}", "text": f"{w} is a river."} for n, w in enumerate(words)]
    (data / "queries.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in queries))
    (data / "corpus.jsonl").write_text("".join(f"{json.dumps(one)}\n" for one in passages))
    judged = "".join(f"q{n}\tp{n}\t1\n" for n in range(3))
    (data / "qrels.tsv").write_text(f"query-id\tcorpus-id\tscore\n{judged}")
    write(tmp_path)
    return tmp_path


def write(home: Path, **changes: Any) -> None:
    """Write the experiment file."""
    document = {
        "name": "trial",
        "data": str(home / "data"),
        "store": str(home / "store"),
        "systems": {"bm25": {"retriever": "bm25(top_k=3)", "generator": "gold"}},
        "settings": ["gold", "retrieved(2)"],
        "metrics": ["Match", "F1", "nDCG@3"],
    }
    (home / "trial.yaml").write_text(yaml.safe_dump({**document, **changes}))


def again(home: Path, **options: Any) -> tuple[bool, str]:
    """Run the file, and return whether the data set was read, and what is shown."""
    experiment = load_experiment(home / "trial.yaml")
    shown = str(experiment.run(**options))
    return "dataset" in vars(experiment), shown


def test_a_finished_run_reads_nothing_and_shows_the_same(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """Results, lines and the record are those of a run that reads everything."""
    again(home)
    shutil.rmtree(home / "store" / KIND)
    caplog.clear()
    read, shown = again(home)
    lines = [record.getMessage() for record in caplog.records]
    record = (home / "store" / "experiments" / "trial.json").read_bytes()
    assert read
    caplog.clear()

    assert again(home) == (False, shown)
    assert [one.getMessage() for one in caplog.records if one.levelno >= logging.WARNING] == lines
    assert any("not applicable" in line for line in lines)
    assert (home / "store" / "experiments" / "trial.json").read_bytes() == record
    (results,) = load_campaign(home / "trial.yaml").run()
    assert str(results) == shown


def test_results_are_equal_in_every_part(home: Path) -> None:
    """The record of the results has the calls of a run that made none."""
    again(home)
    shutil.rmtree(home / "store" / KIND)
    computed = load_experiment(home / "trial.yaml").run()
    kept = load_experiment(home / "trial.yaml").run()

    assert kept.record == computed.record
    assert kept.to_dict() == computed.to_dict()


@pytest.mark.parametrize("name", ["queries.jsonl", "corpus.jsonl", "qrels.tsv"])
def test_changed_data_are_read(home: Path, name: str) -> None:
    """A changed file of the data set, whatever its size and time."""
    again(home)
    path = home / "data" / name
    path.write_text(path.read_text().replace("Ebro", "Rhin").replace("q2\tp2", "q2\tp1"))

    assert again(home)[0]
    assert not again(home)[0]


@pytest.mark.parametrize(
    "changes",
    [
        {"metrics": ["Match", "nDCG@3"]},
        {"systems": {"bm25": {"retriever": "bm25(top_k=3, k1=0.9)", "generator": "gold"}}},
        {"failures": "exclude"},
        {"sample": {"limit": 2}},
        {"settings": ["gold"]},
    ],
)
def test_a_changed_file_is_run(home: Path, changes: dict[str, Any]) -> None:
    """Any key counts; the changed file is then kept as well."""
    again(home)
    write(home, **changes)

    assert again(home)[0]
    assert not again(home)[0]


def test_changed_code_runs(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Other code of Ragstone, or other packages."""
    again(home)
    for name in ("code_digest", "describe_environment"):
        with monkeypatch.context() as patched:
            patched.setattr(kept_run, name, lambda: {"other": "1"})
            assert again(home)[0]
        assert again(home)[0]
    assert not again(home)[0]


@pytest.mark.parametrize("what", ["retrieve", "score-answer", "queries", "texts"])
def test_a_damaged_table_is_made_again(home: Path, what: str) -> None:
    """Every table of the record is verified."""
    _, shown = again(home)
    (path, *_) = (home / "store" / "steps").glob(f"{what}-*/table.parquet")
    path.write_bytes(path.read_bytes()[:-9] + b"123456789")

    assert again(home) == (True, shown)
    assert again(home) == (False, shown)


@pytest.mark.parametrize("content", ["", "{}", '{"state": 1}'])
def test_a_damaged_note_of_the_run_is_written_again(home: Path, content: str) -> None:
    """It is never trusted without its checksum."""
    _, shown = again(home)
    (home / "store" / KIND / "trial.json").write_text(content)

    assert again(home) == (True, shown)
    assert again(home) == (False, shown)


@pytest.mark.parametrize(
    "options", [{"only": ["retrieve"]}, {"fresh": ["bm25"]}, {"fresh": None}, {"trust_code": True}]
)
def test_options_that_change_the_run_are_followed(home: Path, options: dict[str, Any]) -> None:
    """They run as ever."""
    again(home)

    assert again(home, **options)[0]


def test_a_changed_system_of_your_own_is_asked(home: Path) -> None:
    """The digest of its files is part of the key."""
    (home / "own.py").write_text("def answer(question):\n    return {'answer': question}\n")
    own = {"own": {"generator": "callable(own.py:answer)"}}
    write(home, systems=own, settings=["system"], metrics=["F1"])
    again(home)
    assert not again(home)[0]

    (home / "own.py").write_text("def answer(question):\n    return {'answer': 'Ebro'}\n")
    assert again(home)[0]


def test_a_system_that_may_have_changed_is_asked_again(home: Path) -> None:
    """The code of a function that is defined within another one is not known."""
    asked: list[str] = []

    def answer(question: str) -> str:
        asked.append(question)
        return question

    document = yaml.safe_load((home / "trial.yaml").read_text())
    document["systems"] = {"own": {"generator": GivenFunction("answer", given=answer)}}
    for turn in (1, 2):
        load_experiment({**document, "settings": ["none"], "metrics": ["F1"]}).run()
        assert len(asked) == 4 * turn


def test_other_results_under_the_name_are_run(home: Path) -> None:
    """A run with an override replaces the record, so that the file's own run follows it."""
    _, shown = again(home)
    other = load_experiment(home / "trial.yaml", ["sample.limit=2"])
    assert str(other.run()) != shown

    assert again(home) == (True, shown)
    assert again(home) == (False, shown)


def test_data_read_before_do_not_count(home: Path) -> None:
    """The files may have changed since the data set was read."""
    experiment: Experiment = load_experiment(home / "trial.yaml")
    assert len(experiment.dataset.queries) == 4
    experiment.run()

    assert not (home / "store" / KIND).exists()


AGAIN = """
import sys
from ragstone.cli.commands import root
from ragstone.core import source_code
root(["run", "trial.yaml"], standalone_mode=False)
print(source_code.package_module.cache_info().currsize, *sorted(sys.modules))
"""


def told(home: Path, package: Path) -> tuple[int, set[str]]:
    """Run the file with a copy of the package; return how many files were parsed, and modules."""
    found = subprocess.run(
        [sys.executable, "-c", AGAIN],
        cwd=home,
        env={**os.environ, "PYTHONPATH": str(package), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        check=True,
    )
    parsed, *modules = found.stdout.splitlines()[-1].split()
    return int(parsed), set(modules)


def test_changed_code_is_found_and_equal_code_is_not_parsed(home: Path, tmp_path: Path) -> None:
    """A file that changes within a tick of the clock, to the same size, makes all steps run.

    A run that finds everything parses no code, and does without the modules that run steps.
    """
    package = tmp_path / "package"
    source = Path(ragstone.__file__).parent
    skipped = shutil.ignore_patterns("__pycache__")
    shutil.copytree(source, package / "ragstone", ignore=skipped)
    told(home, package)

    parsed, modules = told(home, package)
    assert parsed == 0
    assert not modules & {
        *("ragstone.experiment.running", "ragstone.experiment.steps", "ragstone.experiment.plan"),
        *("ragstone.experiment.record", "ragstone.components.llm", "ragstone.results.html"),
    }
    steps = set((home / "store" / "steps").iterdir())
    changed = package / "ragstone" / "components" / "metrics" / "match.py"
    state, text = changed.stat(), changed.read_bytes()
    changed.write_bytes(text.replace(b"ECHO_WORDS: Final = 3", b"ECHO_WORDS: Final = 4"))
    os.utime(changed, ns=(state.st_atime_ns, state.st_mtime_ns))

    assert changed.stat().st_size == state.st_size
    parsed, modules = told(home, package)
    assert parsed > 0
    assert "ragstone.experiment.running" in modules
    assert set((home / "store" / "steps").iterdir()) > steps
    assert told(home, package)[0] == 0
