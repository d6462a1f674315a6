"""No command shows a secret query or nugget, and each says how many there are."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import Sequence
from pathlib import Path

import aiohttp
import pytest
from click.testing import CliRunner
from tests.fakes.canary_store import canary_experiment

from ragstone.calls.log_queries import Filter, export
from ragstone.cli import root
from ragstone.cli.mcp import _Tools
from ragstone.core.store import Store, notify_once
from ragstone.results.results import Results
from ragstone.view.app import make_app
from ragstone.view.pages import ACTIONS, PAGES
from ragstone.view.store_view import StoreView
from ragstone.web.server import running

TRIALS = ("{e}:model:gold", "{e}:own:gold")
COMMANDS: tuple[Sequence[str], ...] = (
    ("run", "{e}", "--plan"),
    ("plan", "power", "{e}"),
    ("show", "{e}"),
    ("show", "{e}", "--json"),
    ("show", "{e}", "--by", "kind"),
    ("show", "{e}", "--query", "{open}"),
    ("show", "{e}", "--query", "{open}", "--json"),
    ("show", "{e}", "--causes"),
    ("show", "{e}", "--causes", "--json"),
    ("why", "{open}", "{e}"),
    ("why", "{open}", "{e}", "--json"),
    ("report", "{e}", "-o", "{out}/report.html", "--queries", "all"),
    ("passport", "{e}", "-o", "{out}/passport.json"),
    ("passport", "{e}", "--scores", "-o", "{out}/scores.json"),
    ("verify", "{out}/passport.json", "--store", "{store}", "--json"),
    ("diff", "{out}/passport.json", "{e}"),
    ("history", "{e}", "-o", "{out}/history.html"),
    ("leaderboard", "{store}"),
    ("leaderboard", "{e}", "--rows", "system", "--columns", "kind", "--where", "setting=gold"),
    ("effects", "{e}", "--metric", "Match", "--json"),
    ("sensitivity", "{e}", "--over", "metric", "--metric", "Match", "--metric", "F1", "--json"),
    ("judge", "correlate", "{e}", "--against", "F1", "--json"),
    ("judge", "compare", "{e}"),
    ("judge", "calibrate", "{e}", "--metric", "equivalence", "--labels", "{labels}"),
    ("compare", *TRIALS, "--by", "kind", "--html", "{out}/c.html", "--markdown", "{out}/c.md"),
    ("compare", *TRIALS, "--json"),
    ("gate", TRIALS[0], "--baseline", TRIALS[1], "--metric", "Match", "--margin", "0.1"),
    ("export", "{e}", "--to", "inspector", "-o", "{out}/inspector.json"),
    ("export", "{e}", "--to", "scores", "-o", "{out}/scores.csv"),
    ("export", "{e}", "--to", "trec", "-o", "{out}/trec"),
    ("export", "{e}", "--to", "ragas", "-o", "{out}/ragas.jsonl"),
    ("export", "{e}", "--to", "mtrageval", "-o", "{out}/mtrageval"),
    ("calls", "export", "{store}"),
    *(
        ("plot", name, "{e}", "-o", f"{{out}}/{name}.json")
        for name in ("leaderboard", "causes", "gains", "metric-vs-judge", "history", "mirage-4")
    ),
)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with an experiment that was run, with secret queries."""
    made = tmp_path_factory.mktemp("canary")
    share = {"queries": "30%", "nuggets": "40%"}
    canary_experiment(made, share=share, judges=["equivalence", "nuggets"])
    (made / "out").mkdir()
    return made


def _results(folder: Path) -> Results:
    return Results.load(Store(folder / "store"), "e")


def _leaks(text: str, results: Results) -> set[str]:
    """Return the words of secret queries and nuggets in a text, and the metric of the latter."""
    words = {query_id.removeprefix("id") for query_id in results.secret_queries}
    words.update(*results.secret_nuggets.values(), ("nuggets:secret",))
    return words & set(re.findall(r"canary\d\dx|nugget\d\d\dx|nuggets:secret", text))


def test_no_command_shows_a_secret_query(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    """Neither ids, texts, gold answers, answers nor failures, in any output or file."""
    results, out = _results(folder), folder / "out"
    labels = folder / "labels.jsonl"
    rows = [
        {"query_id": query_id, "system": trial.system, "setting": trial.setting, "value": 1}
        for trial in results.trials
        for query_id in (*results.queries, *results.secret_queries)
    ]
    labels.write_text("\n".join(map(json.dumps, rows)))
    places = {
        "e": folder / "e.yaml",
        "store": folder / "store",
        "open": next(iter(results.queries)),
        "out": out,
        "labels": labels,
    }
    for command in COMMANDS:
        notify_once.cache_clear()
        caplog.clear()
        found = CliRunner().invoke(root, [part.format(**places) for part in command])
        said = found.output + caplog.text
        decided = command[0] == "gate" and found.exit_code in (1, 3)
        assert found.exit_code == 0 or decided, (command, said, found.exception)
        assert "secret" in said, command
        assert not _leaks(said, results), command
    files = [path for path in out.rglob("*") if path.is_file()]
    assert len(files) > 15
    for path in files:
        assert not _leaks(path.read_text(), results), path
    assert "canary" in (out / "report.html").read_text()


def test_the_words_are_in_the_revealed_outputs(folder: Path) -> None:
    """What the test above looks for is found where it is to be."""
    results, file = _results(folder), str(folder / "e.yaml")
    secret = sorted(results.secret_queries)
    report, table = folder / "shown.html", folder / "shown.csv"
    for command in (
        ("report", file, "--reveal", "--queries", "all", "-o", str(report)),
        ("export", file, "--reveal", "--to", "scores", "-o", str(table)),
    ):
        assert CliRunner().invoke(root, list(command)).exit_code == 0
    words = set(map("id".__add__, _leaks(table.read_text(), results)))
    assert words >= set(secret)
    nuggets = set().union(*results.secret_nuggets.values())
    assert _leaks(report.read_text(), results) >= nuggets
    one = CliRunner().invoke(root, ["show", file, "--query", secret[0], "--reveal"])
    own = {secret[0].removeprefix("id"), "nuggets:secret", *results.secret_nuggets[secret[0]]}
    assert _leaks(one.output, results) == own
    hidden = CliRunner().invoke(root, ["show", file, "--query", secret[0]])
    assert "is secret" in str(hidden.exception or hidden.output)
    after = CliRunner().invoke(root, ["show", file]).output
    assert "The secret share was revealed on" in after
    wrong = CliRunner().invoke(root, ["show", file, "--causes", "--reveal"])
    assert wrong.exit_code == 2


def test_no_page_shows_a_secret_query(folder: Path) -> None:
    """Neither as a page nor as plain data, nor as a file of a button."""
    results = _results(folder)
    known, secret = next(iter(results.queries)), min(results.secret_queries)
    trials = "compare?a=e:model:gold&b=e:own:gold"
    paths = [page.path[1:] for page in PAGES if "{" not in page.path]
    paths += ["experiment/e", f"query/{known}?experiment=e", trials]
    paths += [f"{name}?experiment=e" for name in ("causes", "labels", "judges", "calls")]
    paths.append("queries?experiment=e&right=no")

    async def ask() -> None:
        app = make_app(StoreView(folder / "store"), PAGES, ACTIONS)
        async with running(app) as address, aiohttp.ClientSession() as session:

            async def text(path: str, status: int = 200) -> str:
                async with session.get(address + path) as reply:
                    assert reply.status == status, path
                    return await reply.text()

            for path in paths:
                name, mark, rest = path.partition("?")
                for form in (path, f"{name}.json{mark}{rest}"):
                    found = await text(form)
                    assert not _leaks(found, results), form
                    assert "nuggets are secret" in found, form
            table = await text("queries/csv?experiment=e")
            assert "canary" in table
            assert not _leaks(table, results)
            assert "is secret" in await text(f"query/{secret}?experiment=e", 404)

    asyncio.run(ask())


def test_assistants_are_shown_no_secret_query(folder: Path) -> None:
    """The tools of `ragstone mcp` read as the commands do."""
    pytest.importorskip("mcp")
    results, tools = _results(folder), _Tools(Store(folder / "store"))
    for text in (
        tools.list_experiments(),
        tools.show_results("e"),
        tools.show_query("e", next(iter(results.queries))),
        tools.compare(experiment="e", first="model", second="own", setting="gold"),
    ):
        assert not _leaks(text, results)
    assert '"secret"' in tools.show_results("e")


def test_the_call_log_has_the_words(folder: Path) -> None:
    """The store on disk is not protected: the calls are in it."""
    log = str(list(export(folder / "store" / "calls.sqlite", Filter())))
    assert _leaks(log, _results(folder))
