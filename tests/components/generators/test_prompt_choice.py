"""Prompts by the language of the query: texts, requests for a language, keys, notes and answers."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from ragstone.calls.client import Calls
from ragstone.components.generators.chat import Chat
from ragstone.core.fingerprint import cache_key_parts, without_sources
from ragstone.core.prompt_files import find_prompt, own_path
from ragstone.core.prompt_translations import answer_language_of
from ragstone.core.registry import beside, create
from ragstone.core.step_notes import collect_notes
from ragstone.errors import ConfigError
from ragstone.protocols import Services
from ragstone.testing import FakeModelServer
from ragstone.types import Context, ContextPassage, Prediction, Query, Task

BY_LANGUAGE = "instruction.{language}"
NO_LABEL = {"de": "Wie heißt der höchste Berg der Schweiz?", "ja": "日本の首都はどこですか。"}


@pytest.fixture
def calls(tmp_path: Path) -> Iterator[Calls]:
    """Calls kept in a fresh log."""
    with Calls.at(tmp_path / "calls.sqlite") as opened:
        yield opened


def made(**parameters: Any) -> Chat:
    """Return a generator whose model is never called."""
    return Chat(model="m", base_url="http://localhost:1/v1", **parameters)


def task(language: str = "", text: str = "Q?", passages: bool = True) -> Task:
    """Return a task whose query has the label of a language."""
    shown = (ContextPassage("p", "A text.", "gold"),) if passages else ()
    labels = {"language": language} if language else {}
    return Task(Query("q", text, labels=labels), Context("q", "gold", shown))


def sent(generator: Chat, *asked: Task) -> list[str]:
    """Return the system message for each task."""
    return [generator.request(one).messages[0][1] for one in asked]


def parts(generator: Chat) -> Any:
    """Return the cache key parts without the digest of code."""
    return without_sources(cache_key_parts(generator))


def test_each_query_is_asked_in_its_language() -> None:
    """By its label without the region, else as recognised; with passages and without."""
    generator = made(prompt=BY_LANGUAGE)
    asked = [task("ja"), task("pt-BR"), task("en"), task("", NO_LABEL["de"]), task("sw")]
    names = ("instruction.ja", "instruction.pt", "instruction", "instruction.de", "instruction")

    assert sent(generator, *asked) == [find_prompt(name).file.system for name in names]
    ((_, closed), (_, user)) = generator.request(task("ja", passages=False)).messages
    assert closed == find_prompt("instruction.ja").file.closed_book.system
    assert user == "Q?"
    assert "質問\uff1aQ?" in generator.request(task("ja")).messages[-1][1]


def test_a_request_for_a_language_ends_the_system_message() -> None:
    """By the name of the language or not; a translated prompt has its own sentence."""
    asked = task("ja"), task("de"), task("", "Q?")
    named, query = made(answer_language="named"), made(answer_language="query")
    english = find_prompt("instruction").file.system

    assert [text.removeprefix(f"{english}\n\n") for text in sent(named, *asked)] == [
        "Answer in Japanese.",
        "Answer in German.",
        "Answer in the language of the question.",
    ]
    assert {text.removeprefix(f"{english}\n\n") for text in sent(query, *asked)} == {
        "Answer in the language of the question."
    }
    best = made(prompt=BY_LANGUAGE, answer_language="named")
    assert [text.rpartition("\n\n")[2] for text in sent(best, *asked)] == [
        answer_language_of("ja").named,
        answer_language_of("de").named,
        "Answer in the language of the question.",
    ]
    assert sent(made(system="", closed_book_system="", answer_language="query"), task()) == [
        "Answer in the language of the question."
    ]
    once = "Be kind.\n\nAnswer in {language}."
    assert sent(made(system=once, answer_language="named"), task("th")) == [
        "Be kind.\n\nAnswer in Thai."
    ]
    with pytest.raises(ConfigError, match="answer_language"):
        create("generators", "chat(model=m, answer_language=ja)", where="a")


def test_only_a_prompt_that_needs_the_language_reads_labels() -> None:
    """So the keys of all other steps do not have labels."""
    assert made().fields_read == made(answer_language="query").fields_read == frozenset()
    assert made(prompt="instruction.ja").fields_read == frozenset()
    for reading in ({"prompt": BY_LANGUAGE}, {"answer_language": "named"}):
        assert made(**reading).fields_read == {"labels"}
    own = made(system="Reply in {language}.")
    assert own.fields_read == {"labels"}
    assert sent(own, task("th")) == ["Reply in Thai."]
    live = create("generators", {"name": "live", "generator": str_of(BY_LANGUAGE)}, where="a")
    assert "labels" in live.fields_read


def str_of(prompt: str) -> dict[str, str]:
    """Return the generator in a live conversation."""
    return {"name": "chat", "model": "m", "base_url": "http://localhost:1/v1", "prompt": prompt}


def test_the_key_has_the_texts_of_all_languages(tmp_path: Path) -> None:
    """A default changes no key; another text of one language does."""
    plain = parts(made())
    assert parts(made(answer_language="any")) == plain
    assert not {"answer_language", "prompt"} & plain["parameters"].keys()
    keys = [
        parts(made(**more))
        for more in (
            {},
            {"prompt": BY_LANGUAGE},
            {"answer_language": "named"},
            {"answer_language": "query"},
            {"prompt": BY_LANGUAGE, "answer_language": "named"},
        )
    ]
    assert len({str(key) for key in keys}) == len(keys)
    with beside(tmp_path):
        own_path("x").parent.mkdir()
        own_path("instruction.th").write_text("user: '{context} {query}'\nlanguage: th\n", "utf-8")
        changed = made(prompt=BY_LANGUAGE)
        assert parts(changed) != keys[1]
        assert changed.named_prompt["label"].startswith("instruction.{language}~")
        assert changed.templates["th.user"] == "{context} {query}"


def test_the_name_has_the_request_for_a_language() -> None:
    """The sentence is not a replaced text; a replaced text is one in every language."""
    facts = made(prompt=BY_LANGUAGE, answer_language="named").named_prompt
    assert (facts["label"], facts["replaced"]) == ("instruction.{language}+named", [])
    assert facts["digest"] != made(prompt=BY_LANGUAGE).named_prompt["digest"]
    replaced = made(prompt=BY_LANGUAGE, system="Be kind.")
    assert sent(replaced, task("ja"), task("en")) == ["Be kind."] * 2
    assert {"system", "ja.system"} <= set(replaced.named_prompt["replaced"])


def answered(generator: Chat, asked: list[Task], calls: Calls) -> list[Prediction]:
    """Return the predictions of a server whose answers follow the language of the prompt."""
    with FakeModelServer(answer=_reply) as server:
        outcomes = list(
            replace(generator, base_url=server.url).generate(asked, Services(calls=calls))
        )
    return [outcome.value for outcome in outcomes]


def _reply(messages: Any) -> str:
    return "Antwort: Bern" if "Antwort:" in messages[0]["content"] else "Answer: Berne"


def test_queries_without_a_translation_are_counted(calls: Calls) -> None:
    """While they are asked, and at the plan for stated languages."""
    asked = [task("sw"), task("sw"), task("de"), task("en"), task("", "42?")]
    generator = made(prompt=BY_LANGUAGE)
    with collect_notes() as notes:
        assert len(answered(generator, asked, calls)) == len(asked)
    assert notes == {
        "queries asked with the English prompt: no translation into sw": 2,
        "queries asked with the English prompt: their language is unknown": 1,
    }
    dataset = SimpleNamespace(queries=[one.query for one in asked])
    assert list(generator.data_notes(dataset)) == [
        "queries asked with the English prompt: 2, because 'instruction' has no translation into sw"
    ]
    assert list(made().data_notes(dataset)) == []
    with collect_notes() as notes:
        answered(made(answer_language="named"), asked, calls)
    assert notes == {"queries asked without the name of their language, which is unknown": 1}


def test_the_answer_is_read_after_the_mark_of_the_language(calls: Calls) -> None:
    """Another language's mark is not one."""
    generator = made(prompt="chain-of-thought.{language}")
    asked = [task("de"), task("en"), task("fr")]
    found = answered(generator, asked, calls)
    assert [one.answer for one in found] == ["Bern", "Berne", None]
    assert found[2].reason == "the reply has no answer after 'Réponse :'"
