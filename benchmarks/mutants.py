"""Whether the tests notice a wrong program: a seeded sample of mutants per group of modules.

    python benchmarks/mutants.py [GROUP ...] [--sample 300] [--seed 0] [--json FILE] [--again FILE]

A mutant is a module with one change in its syntax tree: another comparison, operator or number, a
negated condition, a statement left out. The sites of all modules of a group are listed, and the
sample is drawn from them. A process that has collected the tests of the group is forked for each
mutant, whose changed function gets its new code there; it runs tests until the first failure. A
mutant that survives, or that is not in a function, runs again in a process that loads the changed
module in place of the module. A run of the unchanged modules, with their doctests, notes which
tests call which function: a mutant of a function runs those alone, the fastest first; any other
mutant runs the tests that call a function of its module. Other tests might kill it too, so the
score is a lower bound. A mutant is killed by a failed test, by an error on import, or by running
out of its processor time (five times that of its tests, and 15 s at least). The rest survives.
`mutants_equivalent.json` has the survivors that no test can kill, with the reason: module, function
and change -> reason. They are counted apart. `#2` marks the second of equal changes in a function.

`--again` reads a result of `--json` and runs only its survivors, for use after tests were added:
the killed ones count as killed. A survivor whose code is gone leaves the sample.

The score is the share of killed mutants with a Wilson interval of 95 %, with and without the
equivalent ones. The goal is 95 %; the exit status is 1 if a survivor is not in the file.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import copy
import gc
import importlib
import importlib.util
import inspect
import itertools
import json
import os
import random
import resource
import signal
import sys
import tempfile
import threading
import time
import traceback
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, SourceFileLoader
from math import sqrt
from multiprocessing import Pipe
from multiprocessing.connection import Connection
from pathlib import Path
from types import CodeType, FrameType, FunctionType
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).resolve().parents[1]
SOURCE: Final = ROOT / "src" / "ragstone"
EQUIVALENT: Final = Path(__file__).with_name("mutants_equivalent.json")
LEAST_SECONDS: Final = 15


@dataclass(frozen=True)
class Group:
    """Modules and the test files that are to notice their mutants; `-` leaves files out."""

    modules: tuple[str, ...]
    tests: tuple[str, ...]

    def files(self, patterns: Sequence[str], folder: Path) -> list[Path]:
        """Return the files that the patterns choose."""
        found: set[Path] = set()
        for pattern in patterns:
            chosen = set(folder.glob(pattern.removeprefix("-")))
            found = found - chosen if pattern.startswith("-") else found | chosen
        return sorted(path for path in found if path.name != "__init__.py")

    def all_files(self) -> list[Path]:
        """Return the modules, for their doctests, and the test files."""
        return [*self.files(self.modules, SOURCE), *self.files(self.tests, ROOT / "tests")]


GROUPS: Final = {
    # Without the metrics that need torch or an encoder, whose tests load models.
    "metrics": Group(
        (
            "components/metrics/*.py",
            *("-components/metrics/be*t*.py", "-components/metrics/bem.py"),
            *(f"-components/metrics/{one}.py" for one in ("answer_equivalence", "encoder_metric")),
            *(f"-components/metrics/{one}.py" for one in ("semantic_similarity", "rb_agg")),
            *(f"-components/metrics/{one}.py" for one in ("greedy_matching", "variants_explained")),
        ),
        (
            "components/metrics/test_*.py",
            *("-components/metrics/test_be*.py", "-components/metrics/test_greedy_matching.py"),
            *(f"comparison/test_{one}.py" for one in ("sacrebleu", "rouge_packages", "trec_eval")),
            *("comparison/test_published_rankings.py", "evaluation/test_score_files.py"),
            *(f"text/test_{one}.py" for one in ("normalise", "numbers", "quotations")),
        ),
    ),
    "statistics": Group(
        ("statistics/*.py",), ("statistics/test_*.py", "comparison/test_statistics_libraries.py")
    ),
    "keys": Group(
        (
            *("core/fingerprint.py", "core/source_code.py", "core/registry.py"),
            *("core/component.py", "core/result_digest.py", "calls/identity.py"),
        ),
        (
            *("core/test_fingerprint.py", "core/test_source_code.py", "core/test_registry.py"),
            *("core/test_result_digest.py", "core/test_user_code.py", "golden/test_*.py"),
            *("core/test_component*.py", "calls/test_identity.py"),
            "components/test_*.py",
        ),
    ),
    "parsers": Group(
        (
            *("core/parsing.py", "core/spec.py", "core/decimals.py"),
            *("components/judges/reply_parsing.py", "components/judges/verdict*.py"),
            *(f"data/readers/{one}.py" for one in ("squad", "mirage", "trec", "qrels", "scores")),
            *(f"data/readers/{one}.py" for one in ("run_columns", "answer_lines", "rating_scales")),
        ),
        (
            *("core/test_spec.py", "core/test_decimals.py", "core/test_registry.py"),
            *("core/test_parsing.py", "core/limits/test_limits.py", "data/readers/test_qrels.py"),
            *("components/judges/test_reply_parsing.py", "components/judges/test_verdict*.py"),
            "components/judges/test_own_judges.py",
            *(f"data/readers/test_{one}.py" for one in ("squad", "mirage", "trec", "scores")),
            *(f"data/readers/test_{one}.py" for one in ("run_columns", "answer_lines")),
            "data/readers/test_rating_scales.py",
        ),
    ),
    # Without the leases of PostgreSQL, whose tests start a server.
    "leases": Group(
        ("calls/leases.py", "calls/file_locks.py"),
        ("calls/test_leases.py", "calls/test_file_locks.py"),
    ),
}

_SWAPPED: Final[dict[type[ast.AST], type[ast.AST]]] = {
    ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.Is: ast.IsNot, ast.IsNot: ast.Is,
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.Pow: ast.Mult,
    ast.FloorDiv: ast.Div, ast.Mod: ast.Mult, ast.And: ast.Or, ast.Or: ast.And,
    ast.BitOr: ast.BitAnd, ast.BitAnd: ast.BitOr,
}  # fmt: skip
_NAMES: Final = {"min": "max", "max": "min", "any": "all", "all": "any"}
_FLAGS: Final = {"repr", "frozen", "slots", "kw_only", "compare", "copy", "check", "strict"}
"""Arguments whose change is not an error of the result."""


@dataclass(frozen=True)
class Mutant:
    """A module with one change."""

    path: str
    """Relative to the package."""
    function: str
    line: int
    change: str
    place: tuple[int, int]
    """The bytes that are replaced."""
    new: str
    number: int = 1
    """Among the equal changes of the function."""

    @property
    def key(self) -> str:
        """The name of the mutant in the file of equivalent ones."""
        number = f" #{self.number}" if self.number > 1 else ""
        return f"{self.path} {self.function}: {self.change}{number}"

    @property
    def module(self) -> str:
        """The dotted name of the module."""
        return "ragstone." + self.path.removesuffix(".py").replace("/", ".")

    def text(self, original: str) -> str:
        """Return the changed module."""
        raw, (begin, end) = original.encode(), self.place
        return (raw[:begin] + self.new.encode() + raw[end:]).decode()


def mutants_of(text: str, path: str = "") -> Iterator[Mutant]:
    """Yield the mutants of a module."""
    lines = text.encode().splitlines(keepends=True)
    starts = [0, *itertools.accumulate(map(len, lines))]
    seen: Counter[tuple[str, str]] = Counter()
    for function, node in _nodes(ast.parse(text), ""):
        for old, other in _changed(node):
            begin = starts[old.lineno - 1] + old.col_offset
            end = starts[old.end_lineno - 1] + old.end_col_offset
            new = ast.unparse(ast.fix_missing_locations(other))
            new = f"({new})" if isinstance(other, ast.expr) else new
            change = f"{' '.join(ast.unparse(old).split())} -> {new}"
            seen[function, change] += 1
            number = seen[function, change]
            yield Mutant(path, function, old.lineno, change, (begin, end), new, number)


def _nodes(node: ast.AST, function: str) -> Iterator[tuple[str, Any]]:
    """Yield the nodes that may change with the function around each; no annotations or flags."""
    for name, value in ast.iter_fields(node):
        if name in {"annotation", "returns", "decorator_list", "type_params", "bases"}:
            continue
        for child in value if isinstance(value, list) else [value]:
            if not isinstance(child, ast.AST) or _left_out(child):
                continue
            own = getattr(child, "name", "") if hasattr(child, "body") else ""
            inner = ".".join(filter(None, (function, own))) if isinstance(own, str) else function
            if hasattr(child, "lineno"):
                yield inner, child
            yield from _nodes(child, inner)


def _left_out(node: ast.AST) -> bool:
    if isinstance(node, ast.keyword):
        return node.arg in _FLAGS
    if isinstance(node, ast.Raise | ast.JoinedStr | ast.Import | ast.ImportFrom):
        return True  # the words of messages; a message itself is tested by its type
    if isinstance(node, ast.If):
        return isinstance(node.test, ast.Name) and node.test.id == "TYPE_CHECKING"
    if isinstance(node, ast.AnnAssign | ast.Assign):
        target = node.target if isinstance(node, ast.AnnAssign) else node.targets[0]
        return isinstance(target, ast.Name) and target.id in {"__all__", "TypeAlias"}
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _changed(  # noqa: C901, PLR0912 - one case per kind of node
    node: Any,
) -> Iterator[tuple[Any, ast.AST]]:
    """Yield the parts of a node that are replaced, and what they are replaced by."""
    new: Any = copy.deepcopy(node)
    match node:
        case ast.Compare():
            for place, operator in enumerate(node.ops):
                new = copy.deepcopy(node)
                new.ops[place] = _SWAPPED[type(operator)]()
                yield node, new
        case ast.BinOp() | ast.BoolOp() | ast.AugAssign() if type(node.op) in _SWAPPED:
            new.op = _SWAPPED[type(node.op)]()
            yield node, new
        case ast.UnaryOp(op=ast.Not() | ast.USub()):
            yield node, node.operand
        case ast.Constant(value=bool() as value):
            yield node, ast.Constant(not value)
        case ast.Constant(value=int() | float() as value):
            yield node, ast.Constant(value + 1)
        case ast.Name(id=name, ctx=ast.Load()) if name in _NAMES:
            yield node, ast.Name(_NAMES[name], ast.Load())
        case ast.If(test=ast.Name() | ast.Call() | ast.Attribute() as test):
            yield test, ast.UnaryOp(ast.Not(), test)
        case ast.IfExp(test=ast.Name() | ast.Call() | ast.Attribute() as test):
            yield test, ast.UnaryOp(ast.Not(), test)
        case ast.Expr(value=ast.Call()):
            yield node, ast.Pass()
        case ast.Break():
            yield node, ast.Continue()
        case ast.Continue():
            yield node, ast.Break()
        case ast.Return(value=ast.expr() as value) if not isinstance(value, ast.Constant):
            yield node, ast.Return(ast.Constant(None))


class _Loader(SourceFileLoader):
    """Loads the changed text of a module."""

    def __init__(self, name: str, path: str, text: str) -> None:
        super().__init__(name, path)
        self.text = text

    def get_code(self, fullname: str) -> Any:
        return compile(self.text, self.path, "exec", dont_inherit=True)


class _Finder(MetaPathFinder):
    """Finds a mutant under the name of its module."""

    def __init__(self, mutant: Mutant) -> None:
        self.mutant = mutant

    def find_spec(self, fullname: str, *_: Any) -> ModuleSpec | None:
        if fullname != self.mutant.module:
            return None
        path = str(SOURCE / self.mutant.path)
        text = self.mutant.text(Path(path).read_text(encoding="utf-8"))
        loader = _Loader(fullname, path, text)
        return importlib.util.spec_from_file_location(fullname, path, loader=loader)


@dataclass(frozen=True)
class Outcome:
    """How the tests of a mutant ended."""

    state: str
    """killed, out of time or survived."""
    seconds: float
    """Of the processor."""

    @classmethod
    def of(cls, status: int, seconds: float) -> Outcome:
        """Return the outcome of a process that ended with this status of `wait`."""
        if os.WIFSIGNALED(status):
            return cls("out of time", seconds)
        return cls("survived" if os.WEXITSTATUS(status) == 0 else "killed", seconds)


class _Calls:
    """Notes the functions of the package that each test calls, and the seconds it takes."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.found: dict[str, tuple[float, list[str]]] = {}

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Iterator[None]:
        """Trace the calls of a test."""
        called: set[tuple[str, str]] = set()

        def note(frame: FrameType, *_: object) -> None:
            called.add((frame.f_code.co_filename, frame.f_code.co_qualname))

        begin = time.process_time()
        sys.settrace(note)
        threading.settrace(note)
        try:
            return (yield)
        finally:
            sys.settrace(None)
            threading.settrace(None)
            names = [
                f"{Path(path).relative_to(SOURCE)} {name.replace('.<locals>', '')}"
                for path, name in called
                if path.startswith(f"{SOURCE}/")
            ]
            self.found[item.nodeid] = time.process_time() - begin, names

    def pytest_sessionfinish(self) -> None:
        """Write what was found."""
        self.path.write_text(json.dumps(self.found), encoding="utf-8")


@dataclass(frozen=True)
class _Chosen:
    """Runs some tests of the files, in this order."""

    tests: Sequence[str]

    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Select and sort the tests."""
        place = {test: i for i, test in enumerate(self.tests)}
        kept = [item for item in items if item.nodeid in place]
        items[:] = sorted(kept, key=lambda item: place[item.nodeid])


_NOT_IN_A_FUNCTION: Final = 71
"""The exit status of a fork whose mutant is not the code of a function that it has."""


class _Collected:
    """A process that has collected tests, and is forked for each run of some of them."""

    def __init__(self, files: Sequence[Path]) -> None:
        self._ours, theirs = Pipe()
        if os.fork() == 0:
            self._ours.close()
            _silence()
            os._exit(_run_pytest(files, [_Forks(theirs)]))
        theirs.close()

    def run(self, **asked: Any) -> Outcome | None:
        """Run tests in a fork; return None if it cannot have the mutant."""
        self._ours.send_bytes(json.dumps(asked).encode())
        status, seconds = json.loads(self._ours.recv_bytes())
        if os.waitstatus_to_exitcode(status) == _NOT_IN_A_FUNCTION:
            return None
        return Outcome.of(status, seconds)


class _Forks:
    """Runs the tests of each request in a fork of the process that has collected them."""

    def __init__(self, requests: Connection) -> None:
        self.requests = requests

    def pytest_runtestloop(self, session: pytest.Session) -> bool | None:
        """Answer requests until nobody asks; in a fork, leave the tests to pytest."""
        while True:
            try:
                asked = json.loads(self.requests.recv_bytes())
            except EOFError:
                return True
            child = os.fork()
            if child == 0:
                _prepare(asked["seconds"])
                self._choose(session, asked)
                return None
            status, used = _waited(child, 20 * asked["seconds"])
            answer = status, used.ru_utime + used.ru_stime
            self.requests.send_bytes(json.dumps(answer).encode())

    def _choose(self, session: pytest.Session, asked: dict[str, Any]) -> None:
        if "mutant" in asked and not _replace_code(Mutant(**asked["mutant"])):
            os._exit(_NOT_IN_A_FUNCTION)
        if "tests" in asked:
            _Chosen(asked["tests"]).pytest_collection_modifyitems(session.items)
        if "calls" in asked:
            session.config.pluginmanager.register(_Calls(Path(asked["calls"])))


def _replace_code(mutant: Mutant) -> bool:
    """Give the changed function its new code, if it is one that was defined with its module."""
    path = SOURCE / mutant.path
    text = path.read_text(encoding="utf-8")
    old, new = (
        _outermost(compile(one, path, "exec", dont_inherit=True), mutant)
        for one in (text, mutant.text(text))
    )
    if old is None or new is None or old.co_freevars != new.co_freevars:
        return False
    found = [
        one
        for one in gc.get_objects()
        if isinstance(one, FunctionType)
        and (one.__code__.co_filename, one.__code__) == (old.co_filename, old)
    ]
    for one in found:
        one.__code__ = new
    return bool(found)


def _outermost(module: CodeType, mutant: Mutant) -> CodeType | None:
    """Return the code of the function around a mutant that is in no other function."""
    code = module
    for name in mutant.function.split("."):
        inner = [
            one
            for one in code.co_consts
            if isinstance(one, CodeType)
            and one.co_name == name
            and one.co_firstlineno <= mutant.line
        ]
        if not inner:
            return None
        code = max(inner, key=lambda one: one.co_firstlineno)
        if code.co_flags & inspect.CO_OPTIMIZED:
            return code
    return None


class Unchanged:
    """The tests of a group with the unchanged modules."""

    def __init__(self, files: Sequence[Path]) -> None:
        self.files = files
        self._collected = _Collected(files)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "calls.json"
            outcome = self._collected.run(calls=str(path), seconds=3600)
            if outcome is None or outcome.state != "survived":
                raise SystemExit("the tests fail without a mutant")
            self.outcome = outcome
            self.found = json.loads(path.read_text(encoding="utf-8"))

    def tests(self, mutant: Mutant) -> list[str]:
        """Return the tests that a mutant runs, the fastest first."""
        name, module = f"{mutant.path} {mutant.function}", f"{mutant.path} "
        calling = [test for test, (_, names) in self.found.items() if name in names]
        near = [
            t for t, (_, names) in self.found.items() if any(n.startswith(module) for n in names)
        ]
        return sorted(calling or near or self.found, key=lambda test: self.found[test][0])

    def run(self, mutant: Mutant) -> Outcome:
        """Run the tests of a mutant, in a fork first."""
        tests = self.tests(mutant)
        seconds = max(LEAST_SECONDS, 5 * sum(self.found[test][0] for test in tests))
        in_fork = self._collected.run(mutant=asdict(mutant), tests=tests, seconds=seconds)
        if in_fork is not None and in_fork.state != "survived":
            return in_fork
        used = {f"src/ragstone/{mutant.path}", *(test.partition("::")[0] for test in tests)}
        files = [path for path in self.files if str(path.relative_to(ROOT)) in used]
        outcome = run_tests(mutant, files, seconds, _Chosen(tests))
        spent = outcome.seconds + (in_fork.seconds if in_fork else 0.0)
        return Outcome(outcome.state, spent)


def run_tests(
    mutant: Mutant | None, files: Sequence[Path], seconds: float, *plugins: object
) -> Outcome:
    """Run test files in a forked process, with a mutant in place of its module."""
    child = os.fork()
    if child == 0:
        code = 70
        try:
            code = _in_child(mutant, files, seconds, plugins)
        except BaseException:  # noqa: BLE001 - the process ends here
            traceback.print_exc()
        finally:
            os._exit(code)
    status, used = _waited(child, 20 * seconds)
    return Outcome.of(status, used.ru_utime + used.ru_stime)


def _in_child(
    mutant: Mutant | None, files: Sequence[Path], seconds: float, plugins: Sequence[object]
) -> int:
    _prepare(seconds)
    if mutant is not None:
        sys.meta_path.insert(0, _Finder(mutant))
    return _run_pytest(files, plugins)


def _prepare(seconds: float) -> None:
    """Limit a process that was forked to run tests."""
    with contextlib.suppress(PermissionError):  # it leads its group already
        os.setpgid(0, 0)
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 1))
    _silence()


def _silence() -> None:
    if not os.environ.get("SHOW_TESTS"):
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in (0, 1, 2):
            os.dup2(nothing, stream)


def _run_pytest(files: Sequence[Path], plugins: Sequence[object]) -> int:
    options = ["-x", "-q", "--assert=plain", "-p", "no:cacheprovider", "-p", "no:xdist"]
    return int(pytest.main([*options, "--hypothesis-seed=0", *map(str, files)], plugins))


def _waited(child: int, seconds: float) -> tuple[int, resource.struct_rusage]:
    """Wait for a process and what it started; kill them after some time by the clock."""
    end = time.monotonic() + seconds
    while True:
        done, status, used = os.wait4(child, os.WNOHANG)
        if done:
            break
        if time.monotonic() > end:
            os.killpg(child, signal.SIGKILL)
        time.sleep(0.02)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child, signal.SIGKILL)
    return status, used


def wilson(killed: int, of: int) -> tuple[float, float]:
    """Return the interval of 95 % of a share.

    >>> [round(bound, 3) for bound in wilson(95, 100)]
    [0.888, 0.978]
    """
    z = 1.959964
    share, square = killed / of, z * z / of
    middle = (share + square / 2) / (1 + square)
    half = z * sqrt(share * (1 - share) / of + square / (4 * of)) / (1 + square)
    return max(0.0, middle - half), min(1.0, middle + half)


@dataclass
class Score:
    """The mutants of a group."""

    sites: int
    sample: int = 0
    killed: int = 0
    out_of_time: int = 0
    seconds: float = 0.0
    equivalent: list[str] = field(default_factory=list)
    survivors: list[str] = field(default_factory=list)
    modules: dict[str, tuple[int, int]] = field(default_factory=dict)
    """Module -> killed mutants, and all that are not equivalent."""

    def told(self, name: str) -> str:
        """Return the score with its intervals."""
        parts = []
        for label, of in (
            ("all", self.sample),
            ("not equivalent", self.sample - len(self.equivalent)),
        ):
            low, high = wilson(self.killed, of) if of else (0.0, 1.0)
            share = self.killed / of if of else 0.0
            parts.append(f"{share:.1%} of {of} {label} [{low:.1%}, {high:.1%}]")
        return (
            f"{name}: killed {'; '.join(parts)}; {self.sites:,} sites, {self.out_of_time} out of "
            f"time, {self.seconds:.0f} CPU s"
        )


def measure(name: str, sample: int, seed: int, budget: float) -> Score:
    """Run a sample of a group's mutants, until the processor time of the budget is spent."""
    found = _sites(GROUPS[name])
    chosen = random.Random(f"{seed} {name}").sample(found, min(sample, len(found)))
    return _run(GROUPS[name], chosen, Score(len(found)), budget)


def measure_again(name: str, last: dict[str, Any]) -> Score:
    """Run the survivors of a result; return the result with their new outcomes."""
    found = {mutant.key: mutant for mutant in _sites(GROUPS[name])}
    score = Score(**last)
    lived = [*score.survivors, *score.equivalent]
    for key in score.survivors:
        path = key.split()[0]
        killed, of = score.modules[path]
        score.modules[path] = killed, of - 1
        if key not in found:
            print(f"gone: {key}", flush=True)
    score.sample -= len(lived)
    score.survivors, score.equivalent = [], []
    score = _run(GROUPS[name], [found[key] for key in lived if key in found], score, float("inf"))
    if _stopped:
        raise SystemExit("stopped; the earlier result stands")
    return score


def _sites(group: Group) -> list[Mutant]:
    return [
        mutant
        for path in group.files(group.modules, SOURCE)
        for mutant in mutants_of(path.read_text(encoding="utf-8"), str(path.relative_to(SOURCE)))
    ]


def _run(group: Group, mutants: Sequence[Mutant], score: Score, budget: float) -> Score:
    unchanged = Unchanged(group.all_files())
    score.seconds += unchanged.outcome.seconds
    known = json.loads(EQUIVALENT.read_text(encoding="utf-8"))
    for mutant in mutants:
        if score.seconds > budget or _stopped:
            break
        _count(score, mutant, unchanged.run(mutant), known)
    return score


_stopped: list[int] = []
"""The signals that ask to stop after the mutant at work: the score so far is told."""


def _count(score: Score, mutant: Mutant, outcome: Outcome, known: dict[str, str]) -> None:
    score.sample += 1
    score.seconds += outcome.seconds
    killed = outcome.state != "survived"
    score.killed += killed
    score.out_of_time += outcome.state == "out of time"
    if not killed and mutant.key in known:
        score.equivalent.append(mutant.key)
        return
    done, of = score.modules.get(mutant.path, (0, 0))
    score.modules[mutant.path] = done + killed, of + 1
    if not killed:
        score.survivors.append(mutant.key)
        print(f"survived: {mutant.key} (line {mutant.line})", flush=True)


def main() -> int:
    """Run the groups; return the exit status."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("groups", nargs="*", help=f"groups: {', '.join(GROUPS)} (default: all)")
    parser.add_argument("--sample", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--budget", type=float, default=1e9, help="CPU seconds of a group")
    parser.add_argument("--json", type=Path)
    parser.add_argument("--again", type=Path, help="earlier result whose survivors run again")
    options = parser.parse_args()
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
        os.environ[name] = "1"
    signal.signal(signal.SIGTERM, lambda number, _: _stopped.append(number))
    os.environ.setdefault("RAGSTONE_SHARED_DATA", str(ROOT.parent / "shared" / "data"))
    os.chdir(ROOT)
    # Once: the processes of mutants are forked from this one. Not plugins: pytest changes them.
    for module in ("numpy", "pydantic", "orjson", "aiohttp", "yaml"):
        importlib.import_module(module)
    scores = {}
    last = json.loads(options.again.read_text(encoding="utf-8")) if options.again else {}
    for name in options.groups or last or GROUPS:
        if last:
            scores[name] = measure_again(name, last[name])
        else:
            scores[name] = measure(name, options.sample, options.seed, options.budget)
        print(scores[name].told(name), flush=True)
        if options.json:
            document = {name: asdict(score) for name, score in scores.items()}
            options.json.write_text(json.dumps(document, indent=1), encoding="utf-8")
    return 1 if any(score.survivors for score in scores.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
