"""The fixture `ragstone`: verdicts as outcomes of a test, and no cost for other tests."""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytest_plugins = ["pytester"]
ROOT = Path(__file__).resolve().parents[2]
PLUGIN = "ragstone.testing.pytest_plugin"
SCORES = """
import json
from pathlib import Path

def scores(name, correct, queries=200, start=0):
    rows = [
        {"query_id": f"q{i}", "metric": "EM", "value": float(start <= i < start + correct)}
        for i in range(queries)
    ]
    Path(name).write_text("\\n".join(map(json.dumps, rows)))
    return name
"""
RULE = 'baseline=scores("old.jsonl", 150), metrics="EM", margin=0.03'


@pytest.fixture(autouse=True)
def _only_this_plugin(monkeypatch: pytest.MonkeyPatch) -> None:
    """Do not load the plugin twice where the package is installed."""
    monkeypatch.setenv("PYTEST_DISABLE_PLUGIN_AUTOLOAD", "1")


def run(pytester: pytest.Pytester, body: str, *arguments: str) -> pytest.RunResult:
    """Run one test in a process of its own, with the plugin."""
    pytester.makepyfile(f"{SCORES}\n{body}")
    return pytester.runpytest_subprocess("-p", PLUGIN, *arguments)


def test_a_version_that_is_worse_fails_with_the_reason(pytester: pytest.Pytester) -> None:
    """The output has the change, its bounds and the margin; a pass has no output."""
    found = run(
        pytester,
        f"""
def test_worse(ragstone):
    ragstone.gate(scores("new.jsonl", 100), {RULE})

def test_same(ragstone):
    found = ragstone.gate(Path(scores("new.jsonl", 150)), {RULE})
    assert found.verdict == "pass"
""",
        "--junitxml=junit.xml",
    )

    found.assert_outcomes(failed=1, passed=1)
    found.stdout.fnmatch_lines(
        ["worse: 200 common queries*", "*EM: worse than the baseline: -0.2*"]
    )
    assert "pass: 200 common queries" in (pytester.path / "junit.xml").read_text()


def test_an_undecided_gate_fails_unless_the_test_says_else(pytester: pytest.Pytester) -> None:
    """By default it fails; `pass` and `skip` are accepted, and nothing else."""
    gate = f'ragstone.gate(scores("new.jsonl", 150, start=10), {RULE}'
    found = run(
        pytester,
        f"""
def test_default(ragstone):
    {gate})

def test_pass(ragstone):
    assert {gate}, undecided="pass").verdict == "undecided"

def test_skip(ragstone):
    {gate}, undecided="skip")

def test_wrong(ragstone):
    {gate}, undecided="ignore")
""",
        "-rs",
    )

    found.assert_outcomes(failed=2, passed=1, skipped=1)
    found.stdout.fnmatch_lines(["*undecided: 200 common queries*", "*allowed: fail, pass, skip*"])


def test_a_system_is_measured_and_gated_in_one_test(pytester: pytest.Pytester) -> None:
    """`ragstone.evaluate` returns results, which are scores; an error is not a verdict."""
    found = run(
        pytester,
        """
import pytest
from ragstone import ConfigError

ROWS = [{"query": f"q{i}?", "gold_answers": ["yes"]} for i in range(40)]

def test_rag(ragstone):
    old = ragstone.evaluate(lambda query: "yes", ROWS, ["EM"], name="old")
    new = ragstone.evaluate(lambda query: "no", ROWS, ["EM"], name="new")
    assert ragstone.gate(old, baseline=old, metrics="EM", margin=0.2).exit_code == 0
    with pytest.raises(pytest.fail.Exception, match="worse than the baseline"):
        ragstone.gate(new, baseline=old, metrics="EM", margin=0.2)

def test_error(ragstone):
    with pytest.raises(ConfigError, match="there is no file"):
        ragstone.gate("no.yaml", baseline="no.jsonl", metrics="EM", margin=0.2)
""",
    )

    found.assert_outcomes(passed=2)


def test_the_plugin_is_registered_and_imports_nothing() -> None:
    """Every run of pytest loads the plugin: it must cost nothing."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    code = (
        f"import sys, {PLUGIN}\n"
        "heavy = {'numpy', 'arro3', 'pydantic', 'aiohttp', 'jinja2', 'yaml', 'asyncio'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )

    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert project["entry-points"]["pytest11"] == {"ragstone": PLUGIN}
    assert found.stdout.strip() == "[]"
