"""Passports: canonical, without secrets and paths, and compared in the order that matters."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
import yaml
from tests.fakes.made_results import HOSTILE, made_results

from ragstone.core import limits
from ragstone.core.store import Store
from ragstone.experiment.load import load_experiment
from ragstone.results.contents import changed_rows, content_of, pairs
from ragstone.results.html import render_report
from ragstone.results.leaderboards import results_document
from ragstone.results.passport import make_passport
from ragstone.results.passport_diff import CATEGORIES, PassportChange, diff_passports
from ragstone.results.passport_file import read_passport, write_passport
from ragstone.results.publishable import publishable
from ragstone.results.results import Results
from ragstone.testing import FakeModelServer


def run(folder: Path, **changes: Any) -> Results:
    """Run a small experiment with real parts."""
    folder.mkdir(exist_ok=True)
    document = {
        "name": "small",
        "data": "sample",
        "store": str(folder / "store"),
        "sample": {"limit": 6, "seed": 3, "where": {"turn": None}},
        "systems": {"upper": {"retriever": "bm25", "generator": "gold"}},
        "settings": ["none", "retrieved(3)"],
        "metrics": ["Match", "nDCG@10"],
    }
    (folder / "e.yaml").write_text(yaml.safe_dump(document | changes), "utf-8")
    return load_experiment(folder / "e.yaml").run()


def test_a_passport_names_everything(tmp_path: Path) -> None:
    """Data with digests, parts with code, seeds, packages, and the numbers of `show --json`."""
    results = run(tmp_path)
    passport = results.passport()

    assert passport["data"]["reader"] == "ragstone"
    assert set(passport["data"]["files"]) == {
        "conversations.jsonl", "corpus.jsonl", "qrels.tsv", "queries.jsonl",
    }  # fmt: skip
    assert (passport["data"]["source"], passport["data"]["licence"]) == ("ragstone", "Apache-2.0")
    assert passport["seeds"] == {"sample.seed": 3}
    assert passport["packages"] == dict(results.record.environment)
    document = json.loads(json.dumps(results_document(results)))
    for table in ("leaderboard", "retrieval", "adaptability", "usage"):
        assert passport["numbers"][table] == document[table]
    retriever = passport["parts"][passport["systems"]["upper"]["retriever"]]
    assert retriever["component"] == "retrievers/bm25"
    assert retriever["parameters"]["k1"] == 1.2
    assert {step["step"] for step in passport["steps"]} >= {"retrieve", "generate", "score-answer"}
    assert all(entry["part"] in passport["parts"] for entry in passport["metrics"].values())


def test_equal_results_have_equal_passports_wherever_the_store_is(tmp_path: Path) -> None:
    """The file is byte-equal after the store was moved, and has no path of this machine."""
    first = write_passport(run(tmp_path / "a").passport(), tmp_path / "first.json")
    shutil.move(tmp_path / "a" / "store", tmp_path / "elsewhere")
    moved = Results.load(Store(tmp_path / "elsewhere"), "small")
    second = write_passport(moved.passport(), tmp_path / "second.json")

    assert first.read_bytes() == second.read_bytes()
    assert str(tmp_path) not in first.read_text("utf-8")
    assert read_passport(first) == moved.passport()


def test_calls_and_prompts_are_named(tmp_path: Path) -> None:
    """Replies per system with their dates and models; templates of generators and judges."""
    with FakeModelServer(answer=lambda _: "yes") as server:
        model = {"name": "chat", "model": "fake", "base_url": server.url, "system": "Be brief."}
        systems = {"chat": {"generator": model}}
        judges = [{"name": "equivalence", "model": model}]
        passport = run(
            tmp_path, systems=systems, settings=["none"], metrics=["Match"], judges=judges
        ).passport()

    (calls,) = passport["calls"]
    assert (calls["system"], calls["setting"]) == ("chat", "none")
    assert calls["replies"] == 6
    assert calls["models"] == {"fake": 6}
    assert calls["first"] <= calls["last"]
    assert calls["reason"] == ""
    texts = [text for templates in passport["prompts"].values() for text in templates.values()]
    assert "Be brief." in texts
    assert any("gold" in text and "{answer}" in text for text in texts)


def test_credentials_are_not_in_a_passport() -> None:
    """Headers, keys, queries of URLs and users in them; names of environment variables stay."""
    written = {
        "systems": [
            {
                "generator": {
                    "name": "http",
                    "url": "https://user:hunter2@host:8443/v1?sig=hunter2",
                    "headers": {"X-Session": "hunter2"},
                    "api_key": "hunter2",
                    "api_key_env": "MY_KEY",
                    "max_tokens": 5,
                }
            },
            {"generator": "http('https://host/v1?key=hunter2')"},
        ],
        "metrics": ["/home/someone/own.py:Length", "own(path=/home/someone/x.json)@3"],
    }

    shown = json.dumps(publishable(written))

    assert "hunter2" not in shown
    assert "someone" not in shown
    assert all(kept in shown for kept in ("https://host:8443/v1", "MY_KEY", "X-Session", "own.py"))


def test_a_changed_row_is_found_by_its_mark() -> None:
    """The digest tells that something changed, the marks tell which row."""
    before, after = content_of(["a", ["b"], None]), content_of(["a", ["c"], None])

    assert changed_rows(before, before, ["1", "2", "3"]) is None
    assert changed_rows(before, after, ["1", "2", "3"]) == ["2"]


def test_a_system_with_two_rankings_is_compared_ranking_by_ranking() -> None:
    """A system that reports passages has a ranking for each setting without passages."""
    rows = [content_of([["a"]]), content_of([["b"]])]
    data = dict.fromkeys(("queries", "gold_answers", "qrels", "clusters"), content_of([]))
    given = {**data, "trials": [], "rankings": [{"system": "s", "run": one} for one in rows]}
    found = [one for one in pairs(given, given) if one.what == "run"]
    assert [(one.a, one.b) for one in found] == [(row, row) for row in rows]


def test_a_report_contains_its_passport_as_inert_text(tmp_path: Path) -> None:
    """No text of the data can end the script element, and the page reads back as a passport."""
    results = made_results(tmp_path / "store", systems=HOSTILE[:2], texts=HOSTILE)
    page = tmp_path / "report.html"
    page.write_text(render_report(results), "utf-8")

    text = page.read_text("utf-8").partition('id="passport">')[2].partition("</script>")[0]

    assert "<" not in text
    assert read_passport(page) == make_passport(results)


def test_two_runs_of_one_file_do_not_differ(tmp_path: Path) -> None:
    """Not even in the times of their steps."""
    first, second = run(tmp_path / "a").passport(), run(tmp_path / "b").passport()

    found = diff_passports(first, second)

    assert found.changes == ()
    assert str(found) == "small | small: nothing differs"


def test_a_diff_lists_what_matters_first(tmp_path: Path) -> None:
    """Seeds change the queries, k1 the rankings; each is in its category, in order."""
    first = run(tmp_path / "a").passport()
    system = {"retriever": {"name": "bm25", "k1": 0.2, "b": 0.1}, "generator": "gold"}
    sample = {"limit": 6, "seed": 4, "where": {"turn": None}}
    second = run(tmp_path / "b", systems={"upper": system}, sample=sample).passport()

    found = diff_passports(first, second)

    order = [CATEGORIES.index(change.category) for change in found.changes]
    assert order == sorted(order)
    named = {(change.category, change.what): (change.a, change.b) for change in found.changes}
    assert named["parts", "upper: retriever.k1"] == (1.2, 0.2)
    assert named["seeds", "sample.seed"] == (3, 4)
    assert any(category == "data" and "queries" in what for category, what in named)
    assert {"numbers", "answers"} & {change.category for change in found.changes}
    assert found.to_dict()["different"][0].keys() == {"category", "what", "a", "b"}
    assert "parts:\n  upper: retriever.b: 0.7500 | 0.1000" in str(found)


def test_a_diff_names_parts_that_only_one_has(tmp_path: Path) -> None:
    """A system more, a metric less."""
    first = run(tmp_path / "a").passport()
    both = {"upper": {"retriever": "bm25", "generator": "gold"}, "best": {"retriever": "oracle"}}
    second = run(tmp_path / "b", systems=both, metrics=["Match", "F1"]).passport()

    named = {change.what: (change.a, change.b) for change in diff_passports(first, second).changes}

    assert named["best: retriever"] == (None, "retrievers/oracle")
    assert named["metric nDCG@10"][1] is None
    assert named["metric F1"][0] is None


def test_a_diff_names_a_training_and_where_long_values_differ(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An adapter adds its digest at the end of the revision of its base."""
    first = run(tmp_path / "a").passport()
    seen = {"system": "tuned", "step": "generator", "seen": 5, "asked": 12}
    second = {**first, "trained": [seen]}
    found = diff_passports(first, second)
    assert [str(one) for one in found.changes] == [
        "tuned: generator, training: none | 5 of 12 queries seen"
    ]
    long = "0" * 40
    change = PassportChange("models", "m", f"{long}:one", f"{long}:other")
    assert str(change) == "m: ...00000000:one | ...00000000:other"
    monkeypatch.setattr(limits, "SHOWN_COMMON_CHARACTERS", 2)
    assert str(change) == "m: ...:one | ...:other"


def test_a_text_shows_the_first_differences(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The number of the others is counted, and long values are cut."""
    first, second = run(tmp_path / "a").passport(), run(tmp_path / "b").passport()
    second["packages"] |= {f"package-{number}": "1.0" for number in range(25)}
    second["packages"]["package-0"] = "a very long version of a package"

    text = str(diff_passports(first, second))

    assert text.count("package-") == 20
    assert "... and 5 more; --json lists all" in text
    assert "none | a very long version o..." in text
    monkeypatch.setattr(limits, "SHOWN_DIFFERENCES", 1)
    monkeypatch.setattr(limits, "SHOWN_DIFFERING_CHARACTERS", 9)
    text = str(diff_passports(first, second))
    assert (text.count("package-"), "| a very..." in text) == (1, True)


@pytest.mark.parametrize("command", ["passport", "verify", "diff"])
def test_commands_have_the_keys_of_the_page(tmp_path: Path, command: str) -> None:
    """The JSON of the three commands is the one that docs/passport.md shows."""
    from click.testing import CliRunner

    from ragstone.cli import root

    page = (Path(__file__).parents[2] / "docs" / "passport.md").read_text("utf-8")
    run(tmp_path)
    file, passport = str(tmp_path / "e.yaml"), str(tmp_path / "p.json")
    made = CliRunner().invoke(root, ["passport", file, "-o", passport, "--json"])
    assert made.exit_code == 0, made.output
    arguments = {
        "passport": [],
        "verify": [passport, "--store", str(tmp_path / "store"), "--json"],
        "diff": [passport, file, "--json"],
    }[command]
    result = CliRunner().invoke(root, [command, *arguments]) if arguments else made

    assert result.exit_code == 0, result.output
    section = page.partition(f"ragstone {command} ... --json")[2]
    shown = json.loads(section.partition("```json\n")[2].partition("```")[0])
    assert json.loads(result.stdout).keys() == shown.keys()
