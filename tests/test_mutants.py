"""The sampler of mutants changes one thing at a time, and sees which changes tests notice."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest
from benchmarks import mutants
from benchmarks.mutants import SOURCE, mutants_of, wilson

TEXT = '''"""Words - 1."""
from typing import Final
SIZE: Final[int] = 3
def f(a: int = 2, *, repr: bool = True) -> int:
    """Return 1."""
    if a < 3 and not a:
        raise ValueError(f"{a + 1}")
    for b in range(a):
        if b: break
    print(a)
    return max(a, 1)
'''


def test_each_mutant_has_one_change() -> None:
    """Comparisons, operators, numbers, conditions, statements; not words, types and messages."""
    found = list(mutants_of(TEXT, "m.py"))
    assert [f"{one.function}: {one.change}" for one in found] == [
        ": 3 -> (4)",
        "f: True -> (False)",
        "f: 2 -> (3)",
        "f: a < 3 and (not a) -> (a < 3 or not a)",
        "f: a < 3 -> (a <= 3)",
        "f: 3 -> (4)",
        "f: not a -> (a)",
        "f: b -> (not b)",
        "f: break -> continue",
        "f: print(a) -> pass",
        "f: return max(a, 1) -> return None",
        "f: max -> (min)",
        "f: 1 -> (2)",
    ]
    twice = list(mutants_of("def f(a):\n    return a[1], a[1]\n", "m.py"))
    assert [one.key for one in twice][1:] == ["m.py f: 1 -> (2)", "m.py f: 1 -> (2) #2"]
    for one in found:
        assert ast.dump(ast.parse(one.text(TEXT))) != ast.dump(ast.parse(TEXT))


def test_every_site_of_a_module_is_a_program() -> None:
    """A module with text that is not ASCII keeps its places."""
    path = SOURCE / "core" / "screen_text.py"
    text = path.read_text(encoding="utf-8")
    for one in mutants_of(text, "core/screen_text.py"):
        ast.parse(one.text(text))


STATES = """
import sys
from pathlib import Path
from benchmarks.mutants import SOURCE, mutants_of, run_tests
path = "core/own_address.py"
text = (SOURCE / path).read_text(encoding="utf-8")
wrong = next(m for m in mutants_of(text, path) if m.change.startswith("host not in own and"))
for mutant, test in ((None, 1), (wrong, 1), (wrong, 2)):
    print(run_tests(mutant, [Path(sys.argv[test])], 60).state)
"""


def test_a_mutant_that_tests_notice_is_killed(tmp_path: Path) -> None:
    """The module itself stays as it is; a test that passes lets the mutant live."""
    tests = [tmp_path / "test_it.py", tmp_path / "test_nothing.py"]
    tests[0].write_text(
        "from ragstone.core.own_address import foreign_request\n"
        "def test(): assert foreign_request('GET', 'b', None, ['a', 'x', 'y'], ['b']) == ''\n"
    )
    tests[1].write_text("def test(): assert True\n")
    # A new program: this one has imported the module.
    command = [sys.executable, "-c", STATES, *map(str, tests)]
    done = subprocess.run(command, cwd=mutants.ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["survived", "killed", "survived"]


FORKED = """
from benchmarks import mutants
unchanged = mutants.Unchanged([mutants.ROOT / "tests/core/test_own_address.py"])
path = "core/own_address.py"
for one in mutants.mutants_of((mutants.SOURCE / path).read_text(encoding="utf-8"), path):
    if not one.function or one.change.startswith("host not in own and"):
        asked = {"mutant": mutants.asdict(one), "tests": unchanged.tests(one), "seconds": 60}
        outcome = unchanged._collected.run(**asked)
        print(bool(one.function), outcome and outcome.state, unchanged.run(one).state)
"""


def test_a_function_gets_the_code_of_its_mutant_in_a_fork() -> None:
    """A mutant outside functions needs its module loaded again."""
    command = [sys.executable, "-c", FORKED]
    done = subprocess.run(command, cwd=mutants.ROOT, capture_output=True, text=True, check=True)
    lines = set(done.stdout.splitlines())
    assert "True killed killed" in lines
    assert {line.rpartition(" ")[0] for line in lines} <= {"True killed", "False None"}


CHOSEN = """
from benchmarks import mutants
files = ("own_address", "decimals")
found = mutants.Unchanged([mutants.ROOT / f"tests/core/test_{name}.py" for name in files])
for path, text in (
    ("core/own_address.py", "def foreign_request(): return a"),
    ("core/own_address.py", "A = 1"),
    ("core/nowhere.py", "A = 1"),
):
    tests = found.tests(next(mutants.mutants_of(text, path)))
    print(*sorted({test.partition("::")[0][11:] for test in tests}), len(tests) < len(found.found))
"""


def test_a_mutant_runs_the_tests_that_call_its_function() -> None:
    """Or those that call a function of its module, or all of the group."""
    command = [sys.executable, "-c", CHOSEN]
    done = subprocess.run(command, cwd=mutants.ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "test_own_address.py True",
        "test_own_address.py True",
        "test_decimals.py test_own_address.py False",
    ]


AGAIN = """
from benchmarks import mutants
name = "core/own_address.py"
tests = ("core/test_own_address.py",)
mutants.GROUPS["own"] = mutants.Group((name,), tests)
keys = [one.key for one in mutants._sites(mutants.GROUPS["own"])]
wrong = next(key for key in keys if "host not in own and" in key)
last = {
    "sites": 9, "sample": 5, "killed": 3, "survivors": [wrong, name + " gone: 1 -> (2)"],
    "modules": {name: (3, 5)},
}
score = mutants.measure_again("own", last)
print(score.sample, score.killed, score.survivors, score.modules[name])
"""


def test_the_survivors_of_a_result_run_again() -> None:
    """The killed ones stay killed; a mutant whose code is gone leaves the sample."""
    command = [sys.executable, "-c", AGAIN]
    done = subprocess.run(command, cwd=mutants.ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == [
        "gone: core/own_address.py gone: 1 -> (2)",
        "4 4 [] (4, 4)",
    ]


def test_the_interval_holds_the_share() -> None:
    """Also if all or none are killed."""
    assert list(wilson(20, 20)) == pytest.approx([0.839, 1.0], abs=1e-3)
    assert list(wilson(0, 20)) == pytest.approx([0.0, 0.161], abs=1e-3)
