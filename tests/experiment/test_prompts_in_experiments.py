"""Prompts swept by name: requests, names, record, passport and report, and answers after a mark."""

from __future__ import annotations

import json
import logging
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
import yaml

from ragstone.errors import ConfigError
from ragstone.experiment.load import load_experiment
from ragstone.results.chain import query_chain
from ragstone.results.html import render_report
from ragstone.results.passport_diff import diff_passports
from ragstone.results.prompts import judge_prompts, prompt_names, shown_prompts
from ragstone.results.results import Results
from ragstone.testing import FakeModelServer
from ragstone.view.what_if_form import asked_form

HOSTILE = "<script>alert(1)</script>"


def write(folder: Path, server: FakeModelServer, prompt: Any, **generator: Any) -> Path:
    """Write an experiment whose generator has some prompts."""
    model = {"name": "chat", "model": "fake", "base_url": server.url, "prompt": prompt}
    document = {
        "data": "sample",
        "store": str(folder / "store"),
        "sample": {"limit": 4, "seed": 3, "where": {"turn": None}},
        "systems": {"a": {"retriever": "bm25", "generator": {**model, **generator}}},
        "settings": ["none", "retrieved(2)"],
        "metrics": ["Match"],
    }
    path = folder / "e.yaml"
    path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    return path


def own(folder: Path, name: str, **keys: Any) -> None:
    """Write a prompt beside the experiment."""
    (folder / "prompts").mkdir(exist_ok=True)
    texts = {"user": "{context} {query}", **keys}
    (folder / "prompts" / f"{name}.yaml").write_text(yaml.safe_dump(texts), "utf-8")


def run(path: Path) -> Results:
    """Run an experiment."""
    return load_experiment(path).run()


def test_a_sweep_over_prompts(tmp_path: Path) -> None:
    """Each prompt is a system that asks with its texts; record, passport and report have them."""
    own(tmp_path, "mine", system=f"Be kind. {HOSTILE}", version=2)
    with FakeModelServer(answer=lambda _: "yes") as server:
        path = write(tmp_path, server, ["instruction", "concise", "mine"])
        results = run(path)
        asked = len(server.bodies)
        again = run(path)
        assert len(server.bodies) == asked

    systems = [f"a [chat(prompt={n})]" for n in _NAMES]
    assert [entry.name for entry in results.record.systems] == systems
    assert prompt_names(again.record) == dict(
        zip(systems, ["instruction", "concise", "mine@2"], strict=True)
    )
    # A record of an earlier version has the texts alone.
    earlier = list(prompt_names(replace(again.record, prompts={})).values())
    assert earlier[:2] == ["instruction", "concise"]
    assert earlier[2].startswith("texts~")
    assert results.record.prompts[systems[2]]["own"]
    first, *others = shown_prompts(results.record)
    assert (first.label, first.difference) == ("instruction", ())
    assert [one.difference[0] for one in others] == ["system:", "system:"]

    passport = results.passport()
    assert passport["prompts_by_name"][systems[1]]["name"] == "concise"
    texts = [text for part in passport["prompts"].values() for text in part.values()]
    assert f"Be kind. {HOSTILE}" in texts
    page = render_report(results)
    assert HOSTILE not in page
    assert "<bdi>mine@2</bdi>: <bdi>a [chat(" in page
    assert "+ Reply with the answer alone" in page


_NAMES = ("instruction", "concise", "mine")


def test_another_prompt_is_a_difference_of_prompts(tmp_path: Path) -> None:
    """`ragstone diff` names the texts, also those of examples, and no parameter."""
    with FakeModelServer(answer=lambda _: "yes") as server:
        before = run(write(tmp_path, server, "concise")).passport()
        own(tmp_path, "concise", examples=[{"query": "q", "answer": "a"}])
        after = run(write(tmp_path, server, "concise")).passport()

    changes = diff_passports(before, after).changes
    whats = {c.what for c in changes if c.category == "prompts"}
    assert {"a: generator.system", "a: generator.examples"} <= whats
    assert not [c for c in changes if c.category == "parts"]


def test_only_the_part_after_the_mark_is_the_answer(tmp_path: Path) -> None:
    """The whole reply stays in the call log; a reply without the mark is a failed answer."""
    replies = iter(["Steps.\nAnswer: Bern", "Steps without end"] * 4)
    with FakeModelServer(answer=lambda _: next(replies)) as server:
        path = write(tmp_path, server, "chain-of-thought", concurrency=1)
        results = run(path)
        asked = len(server.bodies)
        again = run(path)
        assert len(server.bodies) == asked

    for trial in again.trials:
        found = list(trial.predictions.values())
        assert {one.answer for one in found} == {"Bern", None}
        (reason,) = {one.reason for one in found if one.answer is None}
        assert reason == "the reply has no answer after 'Answer:'"
        assert all(one.call_key for one in found)
        assert {one.status for one in found} == {"answered", "unreadable"}
    assert results.finished
    (row, *_) = [r for r in again.to_dict()["leaderboard"] if r["setting"] == "none"]
    assert (row["n"], row["failed"]) in {(2, 2), (4, 2)}


def test_an_own_prompt_with_a_shipped_name_is_told(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    """It is used, and options of the system do not change where it is found."""
    own(tmp_path, "concise", system="Be kind.")
    with FakeModelServer(answer=lambda _: "yes") as server:
        path = write(tmp_path, server, "concise")
        document = yaml.safe_load(path.read_text("utf-8"))
        document["systems"]["a"]["release"] = "v1"
        path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
        with caplog.at_level(logging.WARNING):
            results = run(path)

    assert any("takes the place of the shipped prompt 'concise'" in m for m in caplog.messages)
    (shown,) = shown_prompts(results.record)
    assert shown.texts["system"] == "Be kind."
    assert shown.label.startswith("concise~")


def test_a_live_conversation_has_the_prompt_of_its_generator(tmp_path: Path) -> None:
    """Its texts and its name are in the record."""
    with FakeModelServer(answer=lambda _: "yes") as server:
        path = write(tmp_path, server, "concise")
        document = yaml.safe_load(path.read_text("utf-8"))
        inner = document["systems"]["a"]["generator"]
        document["systems"]["a"]["generator"] = {"name": "live", "generator": inner}
        path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
        results = run(path)

    assert prompt_names(results.record) == {"a": "concise"}
    assert shown_prompts(results.record)[0].texts["system"].startswith("Reply with the answer")


@pytest.mark.parametrize(
    ("prompt", "message"),
    [
        ("concis", "system 'a', generator 'chat': unknown prompt 'concis'"),
        (["concise", "broken"], r"broken\.yaml: .*unknown variable \{contxt\}"),
    ],
)
def test_a_wrong_prompt_stops_the_plan(tmp_path: Path, prompt: Any, message: str) -> None:
    """Nothing is asked."""
    own(tmp_path, "broken", user="{context} {query} {contxt}")
    with FakeModelServer(answer=lambda _: "yes") as server:
        path = write(tmp_path, server, prompt)
        with pytest.raises(ConfigError, match=message):
            load_experiment(path).plan()
        assert not server.bodies


def test_prompts_by_language_are_swept(tmp_path: Path) -> None:
    """With the request for the language; labels decide, a rerun asks nothing, notes count."""
    queries = [
        {"_id": f"q{n}", "text": "Q?", "answers": ["yes"], "language": code}
        for n, code in enumerate(["de", "ja", "sw"])
    ]
    data = tmp_path / "data"
    data.mkdir()
    for name, rows in (("queries", queries), ("corpus", [{"_id": "p", "text": "Yes."}])):
        lines = "".join(json.dumps(row) + "\n" for row in rows)
        (data / f"{name}.jsonl").write_text(lines, "utf-8")
    with FakeModelServer(answer=lambda _: "yes") as server:
        path = write(tmp_path, server, ["instruction", "instruction.{language}"])
        document = yaml.safe_load(path.read_text("utf-8"))
        document |= {"data": str(data), "settings": ["none"]}
        del document["sample"]
        document["systems"]["a"]["generator"]["answer_language"] = ["any", "named"]
        path.write_text(yaml.safe_dump(document), "utf-8")
        planned = load_experiment(path).plan()
        results = run(path)
        asked = [body["messages"][0]["content"] for body in server.bodies]
        run(path)
        assert len(server.bodies) == len(asked) == 8

    assert "queries asked with the English prompt: 1, because 'instruction' has no" in str(
        planned.notes
    )
    assert sorted(set(prompt_names(results.record).values())) == [
        *("instruction", "instruction+named"),
        *("instruction.{language}", "instruction.{language}+named"),
    ]
    assert sum("weißt" in text for text in asked) == 2
    assert sum(text.endswith("Antworte auf Deutsch.") for text in asked) == 1
    assert sum(text.endswith("Answer in Japanese.") for text in asked) == 1
    what = "queries asked with the English prompt: no translation into sw"
    assert {(note.what, note.count) for note in results.notes} == {(what, 2)}
    shown = {one.label: one for one in shown_prompts(results.record)}
    assert shown["instruction.{language}+named"].texts["th.user"].startswith("{context}")
    # A form with one text would replace those of all languages.
    for system, editable in ((0, True), (1, False)):
        name = results.record.systems[system].name
        form = asked_form(results, query_chain(results, "q0", name, "none"))
        assert bool(form.prompts) == editable
    page = render_report(results)
    assert "by the language of the query: en, ar, de" in page
    assert "translations that no native speaker reviewed" in page
    facts = results.passport()["prompts_by_name"]
    assert {one["reviewed"] for one in facts.values()} == {None, False}


def test_systems_without_a_prompt_have_no_name(tmp_path: Path) -> None:
    """A report without prompts has no such section."""
    with FakeModelServer(answer=lambda _: "yes") as server:
        path = write(tmp_path, server, "concise")
    document = yaml.safe_load(path.read_text("utf-8"))
    document["systems"] = {"a": {"retriever": "bm25", "generator": "gold"}}
    path.write_text(yaml.safe_dump(document, sort_keys=False), "utf-8")
    results = run(path)

    assert prompt_names(results.record) == {"a": ""}
    assert 'id="prompts"' not in render_report(results)


def test_prompts_of_judges_are_in_record_passport_report_and_differences(tmp_path: Path) -> None:
    """Name, version, digest and texts of each; those of one judge are compared."""
    (tmp_path / "prompts").mkdir()
    strict = {"judge": "idk", "user": f"{HOSTILE} {{answer}}?", "version": 2}
    (tmp_path / "prompts" / "strict.yaml").write_text(yaml.safe_dump(strict), "utf-8")
    with FakeModelServer(answer=lambda _: "no") as server:
        path = write(tmp_path, server, "concise")
        document = yaml.safe_load(path.read_text("utf-8"))
        model = {"name": "chat", "model": "fake", "base_url": server.url}
        document["judges"] = [
            {"name": "idk", "model": model, "prompt": ["idk", "strict", "idk.de"]},
            {"name": "RB_llm", "model": model, "system": "Be brief.", "least_parse_rate": 0},
        ]
        path.write_text(yaml.safe_dump(document), "utf-8")
        results = run(path)
        strict["user"] = "Really, {answer}?"
        (tmp_path / "prompts" / "strict.yaml").write_text(yaml.safe_dump(strict), "utf-8")
        later = run(path)

    shown = {one.label.partition("~")[0]: one for one in judge_prompts(results.record)}
    assert list(shown) == ["idk", "strict@2", "idk.de", "RB_llm"]
    assert shown["strict@2"].systems == ("idk(prompt=strict)",)
    assert shown["RB_llm"].systems == ("RB_llm", "RB_llm/10")
    assert f"+ {HOSTILE} {{answer}}?" in shown["strict@2"].difference
    assert shown["RB_llm"].difference == shown["idk"].difference == ()
    assert judge_prompts(replace(results.record, metrics=())) == []

    passport = results.passport()
    entry = passport["metrics"]["idk(prompt=strict)"]
    facts = entry["prompt"]
    assert (facts["name"], facts["version"], facts["own"], facts["judge"]) == (
        *("strict", 2, True, "idk"),
    )
    assert facts["part"] == entry["part"]
    assert passport["prompts"][entry["part"]]["user"] == f"{HOSTILE} {{answer}}?"
    assert passport["metrics"]["RB_llm"]["prompt"]["replaced"] == ["system"]
    page = render_report(results)
    assert HOSTILE not in page
    assert "<bdi>strict@2</bdi>: <bdi>idk(prompt=strict)" in page
    assert "Own prompt strict, version 2" in page
    assert "language de, a translation that no native speaker reviewed. Digest" in page
    changes = diff_passports(passport, later.passport()).changes
    assert "metric idk(prompt=strict).user" in {c.what for c in changes if c.category == "prompts"}
