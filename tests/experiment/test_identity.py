"""Identity and freshness: replies belong to the system that made them, and to its run."""

from __future__ import annotations

import json
import shutil
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import CliRunner
from tests.fakes.counting_service import serving

from ragstone.cli import root
from ragstone.core.store import Store
from ragstone.errors import CallError, ConfigError, RagstoneError
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment
from ragstone.experiment.record import Recorder
from ragstone.results.results import Results
from ragstone.testing import FakeModelServer

QUERIES = 4
Make = Callable[..., Experiment]

FUNCTIONS = """
from pathlib import Path

def one(query):
    with Path("calls.txt").open("a") as file:
        file.write("one ")
    return "an answer"

def two(query):
    with Path("calls.txt").open("a") as file:
        file.write("two ")
    return "an answer"
"""
PROGRAM = """
import json, sys
from pathlib import Path
for line in sys.stdin:
    with Path("calls.txt").open("a") as file:
        file.write(sys.argv[0] + " ")
    task = json.loads(line)
    print(json.dumps({"request_id": task["request_id"], "answer": "an answer"}), flush=True)
"""


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Make:
    """Return a function that writes an experiment file and loads it."""
    monkeypatch.chdir(tmp_path)

    def _make(**systems: Any) -> Experiment:
        document = {
            "data": "sample",
            "store": "store",
            "sample": {"limit": QUERIES},
            "systems": systems,
            "settings": ["none"],
            "metrics": ["Match"],
        }
        Path("trial.yaml").write_text(yaml.safe_dump(document), encoding="utf-8")
        return load_experiment("trial.yaml")

    return _make


def http(url: str, **options: Any) -> dict[str, Any]:
    """Return a system that is a service."""
    keys = {"release", "identity"} & options.keys()
    own = {key: options.pop(key) for key in keys}
    return {"generator": {"name": "http", "url": url, **options}, **own}


def model(name: str, server: FakeModelServer) -> dict[str, Any]:
    """Return a system that is a named model."""
    return {"generator": {"name": "chat", "model": name, "base_url": server.url}}


def answers(results: Results) -> dict[str, set[str | None]]:
    """Return the different answers of each system."""
    return {t.system: {p.answer for p in t.predictions.values()} for t in results.trials}


def calls(results: Results) -> dict[str, tuple[int, int, int]]:
    """Return the numbers asked, kept and failed of each system."""
    return {c.system: (c.asked, c.kept, c.failed) for c in results.record.calls}


def test_systems_that_are_written_differently_are_asked_themselves(make: Make) -> None:
    """Addresses, query strings, headers, models, programs and functions, counted where asked.

    A second run asks the services again and nothing else; with `reuse` it asks nobody.
    """
    for name in ("first.py", "second.py"):
        Path(name).write_text(PROGRAM, encoding="utf-8")
    Path("functions.py").write_text(FUNCTIONS, encoding="utf-8")
    with serving() as here, serving("2") as there, FakeModelServer() as models:
        services = {
            "here": http(here.url),
            "there": http(there.url),
            "query a": http(f"{here.url}?version=a"),
            "query b": http(f"{here.url}?version=b"),
            "tenant a": http(here.url, headers={"X-Tenant": "a"}),
            "tenant b": http(here.url, headers={"X-Tenant": "b"}),
        }
        others = {
            **{m: model(m, models) for m in "mn"},
            **{p: {"generator": f"command('python {p}.py')"} for p in ("first", "second")},
            **{f: {"generator": f"callable(functions.py:{f})"} for f in ("one", "two")},
        }

        def counts() -> list[int]:
            used = Counter(Path("calls.txt").read_text(encoding="utf-8").split())
            served = [here.counts[key] for key in ("/ask", "/ask?version=a", "/ask?version=b")]
            served += [here.counts["/ask a"], here.counts["/ask b"], there.counts["/ask"]]
            return [*served, sum(models.asked.values()), *used.values()]

        first = make(**services, **others).run()
        assert counts() == [QUERIES] * 6 + [2 * QUERIES] + [QUERIES] * 4
        assert answers(first)["here"] == {"version 1"}
        assert answers(first)["there"] == {"version 2"}
        assert set(calls(first).values()) == {(QUERIES, 0, 0)}

        again = make(**services, **others).run()
        assert counts() == [2 * QUERIES] * 6 + [2 * QUERIES] + [QUERIES] * 4
        assert calls(again)["tenant b"] == (QUERIES, 0, 0)
        assert calls(again)["first"] == calls(again)["m"] == (0, QUERIES, 0)

        kept = make(**services, **others).run(reuse=True)
        assert counts() == [2 * QUERIES] * 6 + [2 * QUERIES] + [QUERIES] * 4
        assert set(calls(kept).values()) == {(0, QUERIES, 0)}
        assert all(entry.kept_from for entry in kept.record.calls)


def test_a_service_that_is_off_is_an_error_and_its_next_version_is_asked(make: Make) -> None:
    """No table is printed as if it were current, unless kept answers are wanted."""
    with serving("1") as service:
        make(mine=http(service.url)).run()
        port = service.server_port

    off = CliRunner().invoke(root, ["run", "trial.yaml"])
    assert isinstance(off.exception, CallError)
    assert "mine" not in off.stdout
    assert answers(make(mine=http(f"http://127.0.0.1:{port}/ask")).run(reuse=True)) == {
        "mine": {"version 1"}
    }

    with serving("2", port) as service:
        assert answers(make(mine=http(service.url)).run()) == {"mine": {"version 2"}}
        assert service.counts.total() == QUERIES


def test_a_run_that_was_interrupted_is_continued(make: Make, monkeypatch: Any) -> None:
    """What it asked is not asked again; the run after it asks again."""
    with serving() as service:
        experiment = make(mine=http(service.url))
        finish = Recorder.finish
        monkeypatch.setattr("ragstone.experiment.record.Recorder.finish", _interrupt)
        with pytest.raises(KeyboardInterrupt):
            experiment.run()
        monkeypatch.setattr("ragstone.experiment.record.Recorder.finish", finish)
        assert service.counts.total() == QUERIES
        Store(Path("store")).root.joinpath("steps").rename("old steps")
        assert "; continues the run of 20" in str(experiment.plan())

        make(mine=http(service.url)).run()
        assert service.counts.total() == QUERIES
        assert "continues" not in str(experiment.plan())
        make(mine=http(service.url)).run()
        assert service.counts.total() == 2 * QUERIES


def _interrupt(*_: Any) -> None:
    raise KeyboardInterrupt


def test_the_first_run_of_a_store_may_reuse_and_its_answers_are_reused(make: Make) -> None:
    """A new store has nothing to reuse: the first run asks, the second one keeps its answers."""
    with serving() as service:
        for _ in range(2):
            make(mine=http(service.url), other=http(f"{service.url}?v=2")).run(reuse=True)
            for folder in Path("store/steps").glob("generate-*"):
                shutil.rmtree(folder)
        assert service.counts.total() == 2 * QUERIES


def test_replies_of_a_declared_release_are_kept(make: Make) -> None:
    """Another release is asked; the lines name the release."""
    with serving() as service:
        for _ in range(2):
            results = make(mine=http(service.url, release="1.4")).run()
        assert service.counts.total() == QUERIES
        assert "mine: 4 kept from 20" in str(results)
        assert str(results).count(", release 1.4") == 1

        make(mine=http(service.url, release="1.5")).run()
        assert service.counts.total() == 2 * QUERIES
        make(mine=http(service.url, release="1.5")).run(fresh=["mine"])
        assert service.counts.total() == 3 * QUERIES

    both = {"generator": {"name": "http", "url": "http://a/", "release": "1"}, "release": "2"}
    with pytest.raises(
        ConfigError, match="system 'mine': its generator has release '1' and the system '2'"
    ):
        make(mine=both).check()
    with pytest.raises(ConfigError, match="GoldAnswer has no option 'release'"):
        make(mine={"generator": "gold", "release": "2"}).check()


def test_a_release_is_kept_after_runs_without_it_and_after_fresh_runs_of_others(make: Make) -> None:
    """Each release has runs of its own, so that an older one is never asked again."""
    with serving() as service:
        for release in ("1", "", "1", "2"):
            make(mine=http(service.url, release=release)).run()
        assert service.counts.total() == 3 * QUERIES
        make(mine=http(service.url, release="2")).run(fresh=["mine"])
        for release in ("1", "2"):
            kept = make(mine=http(service.url, release=release)).run()
            assert calls(kept) == {"mine": (0, QUERIES, 0)}
        make(mine=http(service.url)).run(reuse=True)
        assert service.counts.total() == 4 * QUERIES


def test_failures_that_are_kept_have_no_date(make: Make) -> None:
    """A date would say that an answer was kept."""
    Path("functions.py").write_text("def fails(query):\n    raise ValueError\n", encoding="utf-8")
    for retry in (True, False):
        results = make(mine={"generator": "callable(functions.py:fails)"}).run(retry_failed=retry)
        (entry,) = results.record.calls
        assert (entry.asked, entry.kept, entry.failed) == (QUERIES if retry else 0, 0, QUERIES)
        assert entry.kept_from is None


def test_a_named_model_is_kept_until_it_is_asked_fresh(make: Make) -> None:
    """The fresh replies count afterwards; another system stays as it is."""
    with FakeModelServer() as server:
        systems = {name: model(name, server) for name in ("a", "b")}
        make(**systems).run()
        assert calls(make(**systems).run(fresh=["a"])) == {"a": (4, 0, 0), "b": (0, 4, 0)}
        assert calls(make(**systems).run()) == {"a": (0, 4, 0), "b": (0, 4, 0)}
        assert sum(server.asked.values()) == 3 * QUERIES
        with pytest.raises(ConfigError, match="no system 'c'"):
            make(**systems).run(fresh=["c"])


def test_identity_names_the_parts_that_count(make: Make) -> None:
    """Parts can be left out by name; an identity without a part is an error."""
    with serving() as here, serving() as there:
        for service in (here, there):
            make(mine=http(service.url, release="1", identity=["-port"])).run()
        assert (here.counts.total(), there.counts.total()) == (QUERIES, 0)

    for identity, message in (
        ([], "leaves nothing"),
        (["-prot"], "no part 'prot'; did you mean 'port'"),
    ):
        with pytest.raises(ConfigError, match=message):
            make(mine=http("http://a/", identity=identity)).check()


def test_values_of_the_environment_are_sent_and_in_no_file(
    make: Make, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They identify a system only if `identity` names them; a text of a query is never replaced."""
    monkeypatch.setenv("TENANT", "a-secret-tenant")
    monkeypatch.setenv("TOKEN", "a-secret-token")
    body = {"query": "{query}", "token": "{env:TOKEN}", "as it is": "{env:TOKEN}/{query_id}"}
    headers = {"X-Tenant": "{env:TENANT}", "Authorization": "Bearer {env:TOKEN}"}
    with serving() as service:
        options: dict[str, Any] = {"body": body, "headers": headers, "release": "1"}
        make(mine=http(service.url, **options)).run()
        assert service.counts == {"/ask a-secret-tenant": QUERIES}
        assert {sent["token"] for sent in service.bodies} == {"a-secret-token"}

        monkeypatch.setenv("TENANT", "b-secret-tenant")
        make(mine=http(service.url, **options)).run()
        assert service.counts.total() == QUERIES
        chosen = options | {"identity": ["+env:TENANT"]}
        make(mine=http(service.url, **chosen)).run()
        assert service.counts["/ask b-secret-tenant"] == QUERIES
        for token in ("a-secret-token", "b-secret-token"):
            monkeypatch.setenv("TOKEN", token)
            listed = options | {"identity": ["+header:Authorization"]}
            make(mine=http(service.url, **listed)).run()
        assert service.counts["/ask b-secret-tenant"] == 3 * QUERIES

    monkeypatch.delenv("TOKEN")
    with pytest.raises(RagstoneError, match="export TOKEN"):
        make(mine=http(service.url, **options)).run(fresh=None)
    for file in Path("store").rglob("*"):
        assert not file.is_file() or b"-secret-t" not in file.read_bytes(), file


def test_the_plan_names_new_calls_and_the_way_to_keep_answers(make: Make) -> None:
    """The numbers of `--plan` and `run` agree, and JSON has the same keys everywhere."""
    with serving() as service:
        make(mine=http(service.url)).run()
        plan = make(mine=http(service.url)).plan()
        assert "mine: at most 4 calls for answers; --reuse keeps the answers of 20" in str(plan)
        assert not make(mine=http(service.url)).plan(reuse=True).asking

        printed = CliRunner().invoke(root, ["run", "trial.yaml", "--json"])
        (entry,) = json.loads(printed.stdout)["calls"]
        assert entry == {
            "system": "mine", "setting": "none", "asked": 4, "kept": 0, "failed": 0,
            "kept_from": None, "release": None,
        }  # fmt: skip
        shown = json.loads(CliRunner().invoke(root, ["show", "trial.yaml", "--json"]).stdout)
        assert shown["calls"] == [entry]
        assert Results.load(Store(Path("store")), "trial").finished
