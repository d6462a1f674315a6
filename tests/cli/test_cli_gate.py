"""`ragstone gate`: verdicts as exit codes, and the files and keys that others script against."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest
from click.testing import CliRunner

from ragstone.cli import root
from ragstone.errors import ConfigError, RagstoneError

MAIN = "from ragstone.cli import main; main()"
EXPERIMENT = """\
data: sample
store: {store}
name: {name}
systems:
  bm25: {{retriever: bm25, generator: gold}}
  plain: {{retriever: "bm25(k1=0.1)", generator: gold}}
settings: [none, retrieved(3)]
metrics: [Match, "nDCG@10"]
"""


def scores(
    path: Path, correct: int, queries: int = 200, *, start: int = 0, metric: str = "EM"
) -> str:
    """Write a file of 0/1 scores, of which this many are 1, and return its path."""
    values = [float(start <= i < start + correct) for i in range(queries)]
    rows = [{"query_id": f"q{i}", "metric": metric, "value": v} for i, v in enumerate(values)]
    path.write_text("\n".join(map(json.dumps, rows)))
    return str(path)


def gate(*arguments: str) -> tuple[int, str]:
    """Return the exit code and the output of the command."""
    found = CliRunner().invoke(root, ["gate", *arguments])
    if isinstance(found.exception, RagstoneError):
        return found.exception.exit_code, str(found.exception)
    return found.exit_code, found.output


@pytest.mark.parametrize(
    ("start", "correct", "code", "verdict"),
    [(0, 150, 0, "pass"), (0, 100, 1, "worse"), (10, 150, 3, "undecided")],
)
def test_the_exit_code_is_the_verdict(
    tmp_path: Path, start: int, correct: int, code: int, verdict: str
) -> None:
    """0 passes, 1 is worse and 3 is undecided; JSON has the keys that others script against."""
    old = scores(tmp_path / "old.jsonl", 150)
    new = scores(tmp_path / "new.jsonl", correct, start=start)

    found = gate(new, "--baseline", old, "--metric", "EM", "--margin", "0.03", "--json")

    assert found[0] == code
    shown = json.loads(found[1])
    assert shown["verdict"] == verdict
    assert list(shown["metrics"][0])[:5] == ["metric", "difference", "interval", "margin", "n"]
    assert shown["metrics"][0]["n"] == 200
    low, high = shown["metrics"][0]["interval"]
    assert low <= shown["metrics"][0]["difference"] <= high
    assert (shown["queries_to_decide"] is None) == (verdict != "undecided")


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--metric", "EM"], 2, "--margin"),
        (["--metric", "EM", "--margin", "0"], 2, "margin 0.0 is not above 0"),
        (["--metric", "EN", "--margin", "0.1"], 2, "did you mean 'EM'"),
        (["--metric", "EM", "--margin", "0.1", "--looks", "99"], 2, "allowed: 1 to 20"),
    ],
)
def test_wrong_usage_exits_2(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    """The message names the option or the value."""
    old = scores(tmp_path / "old.jsonl", 150)

    found = gate(old, "--baseline", old, *arguments)

    assert found[0] == code, found[1]
    assert message in found[1]


def test_an_error_exits_4_and_never_1(tmp_path: Path) -> None:
    """A damaged file of scores, or a file that cannot be written, is not a verdict."""
    old = scores(tmp_path / "old.jsonl", 150)
    (tmp_path / "bad.jsonl").write_text('{"query_id": 1')
    options = ["--baseline", old, "--metric", "EM", "--margin", "0.1"]

    program = [sys.executable, "-c", MAIN, "gate", str(tmp_path / "bad.jsonl"), *options]
    found = subprocess.run(program, capture_output=True, text=True, check=False)

    assert found.returncode == 4
    assert "line 1" in found.stderr
    assert gate(old, *options, "--junit", str(tmp_path))[0] == 4


def test_an_unexpected_error_exits_4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error that nobody raised on purpose is not a verdict either."""
    old = scores(tmp_path / "old.jsonl", 150)
    monkeypatch.setattr("ragstone.experiment.gated.gate", lambda *_, **__: 1 / 0)

    assert gate(old, "--baseline", old, "--metric", "EM", "--margin", "0.1")[0] == 4


def test_a_baseline_of_other_queries_is_refused(tmp_path: Path) -> None:
    """--common accepts it, and the output tells the population."""
    old, new = scores(tmp_path / "old.jsonl", 150), scores(tmp_path / "new.jsonl", 50, 60)
    arguments = [new, "--baseline", old, "--metric", "EM", "--margin", "0.2"]

    refused, accepted = gate(*arguments), gate(*arguments, "--common")

    assert refused[0] == 2
    assert "only 60 of 200 queries are common" in refused[1]
    assert "--common" in refused[1]
    assert accepted[0] in {0, 1}
    assert "60 common queries" in accepted[1]
    assert "140 queries are only in baseline" in accepted[1]


def test_junit_and_markdown_are_written(tmp_path: Path) -> None:
    """JUnit XML has a test per metric; text of the files is escaped."""
    metric = "a<b>|c"
    old = scores(tmp_path / "old.jsonl", 150, metric=metric)
    new = scores(tmp_path / "new.jsonl", 100, metric=metric)
    files = [tmp_path / "gate.xml", tmp_path / "gate.md"]

    found = gate(
        new, "--baseline", old, "--metric", metric, "--margin", "0.03",
        "--junit", str(files[0]), "--markdown", str(files[1]),
    )  # fmt: skip

    suite = ET.fromstring(files[0].read_text())[0]  # noqa: S314 - written by the test
    assert found[0] == 1
    assert (suite.get("tests"), suite.get("failures"), suite.get("errors")) == ("1", "1", "0")
    assert suite[0].get("name") == metric
    assert suite[0][0].tag == "failure"
    assert "a&lt;b>\\|c" in files[1].read_text()
    assert "| metric" in files[1].read_text()


@pytest.fixture
def experiment(tmp_path: Path) -> Path:
    """Return the file of a finished experiment with two systems and two settings."""
    path = tmp_path / "e.yaml"
    path.write_text(EXPERIMENT.format(store=tmp_path / "store", name="one"))
    result = CliRunner().invoke(root, ["run", str(path)])
    assert result.exit_code == 0, result.output
    return path


def run(*arguments: str) -> str:
    """Return the output of a command in this process, or raise its error."""
    result = CliRunner().invoke(root, arguments)
    if isinstance(result.exception, RagstoneError):
        raise result.exception
    return result.output


def test_experiments_and_passports_are_compared(experiment: Path, tmp_path: Path) -> None:
    """A system and a setting are chosen by name; what is missing is named with an example."""
    first, second = (f"{experiment}:{name}:retrieved(3)" for name in ("bm25", "plain"))
    passport = tmp_path / "p.json"
    store = ["--store", str(tmp_path / "store")]
    run("passport", str(experiment), "-o", str(passport))

    found = json.loads(run("compare", first, second, "--json", "--by", "answerability"))
    by_passport = json.loads(
        run("compare", first, f"b={passport}:plain:retrieved(3)", "--json", *store)
    )

    assert found["systems"] == ["bm25:retrieved(3)", "plain:retrieved(3)"]
    pair = found["metrics"]["nDCG@10"]["pairs"][0]
    assert set(pair["flipped"]) == {"better", "worse"}
    assert len(pair["flipped"]["better"]) == pair["wins"]
    assert len(pair["flipped"]["worse"]) == pair["losses"]
    assert by_passport["metrics"]["nDCG@10"]["pairs"][0]["difference"] == pair["difference"]
    with pytest.raises(ConfigError, match=r"2 systems \(bm25, plain\); choose one.*e.yaml:bm25"):
        run("compare", str(experiment), second)
    with pytest.raises(ConfigError, match=r"2 settings .*e.yaml:bm25:none"):
        run("compare", f"{experiment}:bm25", second)
    with pytest.raises(ConfigError, match="did you mean 'plain'"):
        run("compare", f"{experiment}:plan:none", second)
    with pytest.raises(RagstoneError, match="--store FOLDER"):
        run("compare", first, f"{passport}:plain:none", "--store", str(tmp_path / "no"))
    with pytest.raises(ConfigError, match="there is no file"):
        run("compare", str(tmp_path / "no.yaml"), second)


def test_two_settings_of_an_experiment_are_two_versions(experiment: Path) -> None:
    """The output has the verdict in its first line, and then the bounds drawn."""
    new, old = (f"{experiment}:bm25:{setting}" for setting in ("retrieved(3)", "none"))

    code, output = gate(new, "--baseline", old, "--metric", "nDCG@10", "--margin", "0.9")

    assert code == 0
    assert output.startswith("pass: ")
    assert "Changes with their bounds; the marks are -0.9 and 0" in output


def test_the_same_results_twice_are_refused(experiment: Path, tmp_path: Path) -> None:
    """Neither a place nor a copy of its file with the same name differs from itself."""
    copy = tmp_path / "copy.yaml"
    copy.write_text(experiment.read_text())
    places = [f"{path}:bm25:retrieved(3)" for path in (experiment, copy)]

    for old in places:
        code, output = gate(places[0], "--baseline", old, "--metric", "nDCG@10", "--margin", "1")

        assert code == 2
        assert "are the same results" in output
        assert "ragstone gate --run" in output
    with pytest.raises(ConfigError, match="give each experiment file a `name` of its own"):
        run("compare", *places)


def test_a_file_that_changed_after_its_run_is_named(
    experiment: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """The results are those of the earlier file; the key that differs is named."""
    new, old = (f"{experiment}:bm25:{setting}" for setting in ("retrieved(3)", "none"))
    arguments = ["gate", new, "--baseline", old, "--metric", "nDCG@10", "--margin", "0.9"]
    assert CliRunner().invoke(root, arguments).exit_code == 0
    assert "differs from the file" not in caplog.text

    experiment.write_text(experiment.read_text().replace("k1=0.1", "k1=0.2"))
    changed = CliRunner().invoke(root, arguments)

    assert changed.exit_code == 0
    assert "differs from the file of its results in systems;" in caplog.text


def test_a_new_version_is_run_in_batches(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The exit code is that of its verdict; what its own code prints is not in the JSON."""
    monkeypatch.chdir(tmp_path)
    code = "def {name}(query):\n    print('asked')\n    return '{answer}'\n"
    parts = [("good", "yes"), ("twin", "yes"), ("bad", "no")]
    Path("own.py").write_text("".join(code.format(name=n, answer=a) for n, a in parts))
    rows = [{"query": f"question {i}?", "gold_answers": ["yes"]} for i in range(60)]
    Path("qa.jsonl").write_text("\n".join(map(json.dumps, rows)))
    for name, _ in parts:
        Path(f"{name}.yaml").write_text(
            f"systems: {{mine: {{generator: 'callable(own.py:{name})'}}}}\ndata: qa.jsonl"
            "\nstore: store\nsettings: [none]\nmetrics: [EM]\n"
        )
    run("run", "good.yaml")
    options = ["--baseline", "good.yaml", "--metric", "EM", "--margin", "0.2", "--looks", "3"]

    worse = CliRunner().invoke(root, ["gate", "bad.yaml", *options, "--json"])
    found = json.loads(worse.stdout)

    assert (worse.exit_code, found["verdict"]) == (1, "worse")
    assert found["queries_used"] < found["queries"] == 60
    assert gate("twin.yaml", *options)[0] == 0
    assert gate("twin.yaml", *options, "--run", "--junit", "gate.xml")[0] == 0
    assert Path("gate.xml").exists()
    assert gate("good.yaml", *options, "--run")[0] == 0
    assert gate("own.py", *options, "--run")[0] == 2


def test_a_run_that_fails_exits_4(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A service that is off has no verdict."""
    monkeypatch.chdir(tmp_path)
    old = scores(tmp_path / "old.jsonl", 10, 20)
    Path("qa.jsonl").write_text(
        "\n".join(json.dumps({"query_id": f"q{i}", "query": f"{i}?", "gold_answers": ["yes"]})
                  for i in range(20))
    )  # fmt: skip
    Path("new.yaml").write_text(
        "data: qa.jsonl\nstore: store\nsettings: [none]\nmetrics: [EM]\n"
        "systems: {mine: {generator: {name: http, url: 'http://127.0.0.1:9/ask'}}}\n"
    )

    code, output = gate("new.yaml", "--baseline", old, "--metric", "EM", "--margin", "0.2")

    assert code == 4
    assert "127.0.0.1:9" in output
