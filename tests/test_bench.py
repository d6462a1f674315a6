"""The frame of benchmarks finds slowdowns, missing jobs and failing scripts."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from benchmarks import bench
from benchmarks.bench import Benchmark
from benchmarks.measured import Measured, in_turns, write_measured

SCRIPT = """
import json, os, sys
rows = json.loads(os.environ["ROWS"])
open(sys.argv[sys.argv.index("--json") + 1], "w").write(json.dumps(rows))
"""


def measured(job: str, ours: float, unit: str = "CPU s") -> Measured:
    """Return the figure of a job whose peer costs 6."""
    return Measured(job=job, n=10, unit=unit, ours=ours, peer=6.0, against="peer 1.0")


def rows(tmp_path: Path, *figures: Measured) -> list[dict[str, Any]]:
    """Return figures as a script writes them."""
    write_measured(tmp_path / "rows.json", figures)
    found: list[dict[str, Any]] = json.loads((tmp_path / "rows.json").read_text())
    return found


def start(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, written: Sequence[object], *arguments: str
) -> int:
    """Run the frame over one script that writes these rows."""
    (tmp_path / "one.py").write_text(SCRIPT)
    monkeypatch.setattr(bench, "SHORT", (Benchmark("one.py"),))
    monkeypatch.setenv("ROWS", json.dumps(written))
    return bench.main(arguments, tmp_path, tmp_path / "kept")


def test_a_slowdown_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A ratio that fell by 16 % is named; one that fell by 14 %, and one by the clock, are not."""
    figures = [measured("a", 1.0), measured("b", 1.0), measured("by the clock", 1.0, "s")]
    assert start(monkeypatch, tmp_path, rows(tmp_path, *figures)) == 0
    assert start(monkeypatch, tmp_path, rows(tmp_path, *figures), "--against", "last") == 0
    slow = [measured("a", 1 / 0.84), measured("b", 1 / 0.86), measured("by the clock", 9.0, "s")]
    assert start(monkeypatch, tmp_path, rows(tmp_path, *slow), "--against", "last") == 1
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if line.startswith("slower")] == [
        "slower: a, 5.04 x, 6.00 x before (-16%)"
    ]


TURNS = """
import os, pathlib, sys
turn = pathlib.Path(os.environ["TURNS"])
count = int(turn.read_text()) if turn.exists() else 0
turn.write_text(str(count + 1))
rows = pathlib.Path(os.environ["TURNS"]).with_name(f"rows-{count}.json").read_text()
open(sys.argv[sys.argv.index("--json") + 1], "w").write(rows)
"""


def test_a_slowdown_is_measured_again(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only a job that is slower twice is named; the better measurement is kept."""
    costs = {0: (1.0, 1.0), 1: (2.0, 2.0), 2: (1.0, 1.5)}
    for turn, (a, b) in costs.items():
        found = rows(tmp_path, measured("a", a), measured("b", b))
        (tmp_path / f"rows-{turn}.json").write_text(json.dumps(found))
    (tmp_path / "one.py").write_text(TURNS)
    monkeypatch.setattr(bench, "SHORT", (Benchmark("one.py"),))
    monkeypatch.setenv("TURNS", str(tmp_path / "turns"))
    assert bench.main([], tmp_path, tmp_path / "kept") == 0
    assert bench.main(["--against", "last"], tmp_path, tmp_path / "kept") == 1
    said = capsys.readouterr().out.splitlines()
    assert [line for line in said if line.startswith("slower")] == [
        "slower: b, 4.00 x, 6.00 x before (-33%)"
    ]
    kept = bench.load("last", tmp_path / "kept")["figures"]
    assert [row["ratio"] for row in kept] == [6.0, 4.0]


def test_last_is_the_newest_of_each_benchmark(tmp_path: Path) -> None:
    """A run of one benchmark does not hide the kept figures of another."""
    first = [{"benchmark": "one", "job": "a"}, {"benchmark": "two", "job": "b"}]
    second = [{"benchmark": "two", "job": "c"}]
    for name, figures in (("1", first), ("2", second)):
        (tmp_path / f"{name}.json").write_text(json.dumps({"figures": figures}))
    assert [row["job"] for row in bench.load("last", tmp_path)["figures"]] == ["a", "c"]
    assert len(bench.load(str(tmp_path / "1.json"), tmp_path)["figures"]) == 2


def test_campaigns_are_kept_apart(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """The figures of a campaign, of larger inputs, are not those of a short run."""
    monkeypatch.setattr(bench, "LONG", (Benchmark("one.py"),))
    written = rows(tmp_path, measured("a", 1.0))
    assert start(monkeypatch, tmp_path, written, "--campaign") == 0
    with pytest.raises(SystemExit, match="no figures are kept"):
        bench.load("last", tmp_path / "kept")
    assert start(monkeypatch, tmp_path, written, "--campaign", "--against", "last") == 0


def test_a_missing_job_is_named(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A job that kept figures have and the run has not is named; a new job is not."""
    assert start(monkeypatch, tmp_path, rows(tmp_path, measured("old", 1.0))) == 0
    (kept,) = (tmp_path / "kept").glob("*.json")
    new = rows(tmp_path, measured("new", 1.0))
    assert start(monkeypatch, tmp_path, new, "--against", str(kept)) == 1
    assert "missing: old (one), 6.00 x before" in capsys.readouterr().out


def test_other_scripts_are_not_missed(tmp_path: Path) -> None:
    """Jobs of scripts that were not asked for are not compared."""
    (row,) = rows(tmp_path, measured("a", 1.0))
    assert bench.compare([{**row, "benchmark": "one"}], [row]) == []
    assert bench.chosen(["one"], [Benchmark("one.py"), Benchmark("two.py")]) == [
        Benchmark("one.py")
    ]
    with pytest.raises(SystemExit, match="no benchmark 'three'; there are one, two"):
        bench.chosen(["three"], [Benchmark("one.py"), Benchmark("two.py")])


def test_a_failing_script_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its last line is told and kept, the others still run, and the status is 1."""
    (tmp_path / "one.py").write_text(SCRIPT)
    (tmp_path / "bad.py").write_text("raise SystemExit('no bm25s here')")
    (tmp_path / "silent.py").write_text("")
    scripts = ("bad.py", "silent.py", "one.py")
    monkeypatch.setattr(bench, "SHORT", tuple(map(Benchmark, scripts)))
    monkeypatch.setenv("ROWS", json.dumps(rows(tmp_path, measured("a", 1.0))))
    assert bench.main([], tmp_path, tmp_path / "kept") == 1
    said = capsys.readouterr().out
    assert "failed: bad: it ended with status 1: no bm25s here" in said
    assert "failed: silent: it wrote no figures" in said
    kept = bench.load("last", tmp_path / "kept")
    assert [row["job"] for row in kept["figures"]] == ["a"]
    assert set(kept["failed"]) == {"bad", "silent"}
    assert kept["machine"]["cores"] >= 1


def test_nothing_kept(tmp_path: Path) -> None:
    """The way out is told."""
    with pytest.raises(SystemExit, match=r"run `python benchmarks/bench\.py` first"):
        bench.load("last", tmp_path)
    with pytest.raises(SystemExit, match=r"none\.json; give a path or the word last"):
        bench.load(str(tmp_path / "none.json"), tmp_path)


def test_every_script_exists() -> None:
    """Each benchmark of the lists is a script, which writes rows unless its entry denies it."""
    for benchmark in (*bench.SHORT, *bench.LONG):
        script = bench.HERE / benchmark.script
        text = (script / "__main__.py" if script.is_dir() else script).read_text(encoding="utf-8")
        assert ("hand_over(" in text or "write_measured(" in text) == benchmark.rows, benchmark
    assert all(benchmark.rows for benchmark in bench.SHORT)


def test_every_script_is_listed() -> None:
    """The README says what each script measures; helpers are no benchmarks."""
    helpers = {"annotate_shared", "bench", "environment_rows", "figures"}
    helpers |= {"interval_simulation", "measured"}
    listed = (bench.HERE / "README.md").read_text(encoding="utf-8")
    missing = [path.name for path in bench.HERE.glob("*.py") if path.name not in listed]
    assert {name.removesuffix(".py") for name in missing} <= helpers


def test_ratio_and_turns() -> None:
    """The ratio is that of costs; work takes turns."""
    assert measured("a", 2.0).ratio == 3.0
    assert Measured(job="a", n=1, unit="MB", ours=1.0).ratio is None
    turns: list[str] = []
    best = in_turns({"a": lambda: turns.append("a"), "b": lambda: turns.append("b")}, 2)
    assert turns == ["a", "b", "a", "b"]
    assert min(best.values()) >= 0
