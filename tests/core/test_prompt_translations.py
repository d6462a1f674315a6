"""The shipped translations of prompts: complete, of their script, and with the English facts."""

from __future__ import annotations

import unicodedata
from pathlib import Path
from typing import Any

import pytest

from ragstone.components.metrics.refusal import refusal
from ragstone.core.judge_prompts import JUDGES
from ragstone.core.prompt_files import PromptFile, find_prompt, shipped_names
from ragstone.core.prompt_translations import (
    LANGUAGES,
    answer_language_of,
    language_file,
    languages,
    translations,
)
from ragstone.core.prompts import Template
from ragstone.core.registry import beside
from ragstone.errors import ConfigError
from ragstone.text.language import language_of
from ragstone.text.language_names import LANGUAGE_NAMES
from ragstone.types import Context, ContextPassage, Query, Task

CODES = ("ar", "de", "es", "fi", "fr", "it", "ja", "ko", "pt", "ru", "th", "zh")
SCRIPTS = {"ar": {"ARABIC"}, "ja": {"HIRAGANA", "KATAKANA", "CJK"}, "ko": {"HANGUL"}}
SCRIPTS |= {"ru": {"CYRILLIC"}, "th": {"THAI"}, "zh": {"CJK"}}
LATIN = [code for code in CODES if code not in SCRIPTS]
CASES = [f"{name}.{code}" for name in shipped_names() for code in CODES]
MARKS = {"{query}": "Q\u00b6", "{context}": "C\u00b6"}
TASK = Task(Query("q", "Q\u00b6"), Context("q", "gold", (ContextPassage("p", "C\u00b6", "gold"),)))
TRANSLATED = {"RB_llm", "RL_F", "equivalence", "idk"}
JUDGED = {"yes", "no", "partial", "supported", "unsupported", "none", "Verdict", "Rating"}


def script_share(text: str, scripts: set[str]) -> float:
    """Return the share of a text's letters that are of some scripts."""
    names = [unicodedata.name(c, "").partition(" ")[0] for c in text if c.isalpha()]
    return sum(name in scripts for name in names) / len(names)


def own_words(texts: dict[str, str]) -> str:
    """Return texts without their variables, and without the English words of verdicts."""
    found = "\n".join(texts.values())
    for name in Template(found.replace("[[", "").replace("]]", "")).variables:
        found = found.replace(f"{{{name}}}", "")
    for word in sorted(JUDGED, key=len, reverse=True):
        found = found.replace(word, "")
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_translation_has_the_variables_and_facts_of_the_english_prompt(name: str) -> None:
    """Each variable stands in the same message, as often, and is filled in once."""
    english, found = find_prompt(name.rpartition(".")[0]).file, find_prompt(name).file

    assert english.texts.keys() == found.texts.keys()
    for key, text in english.texts.items():
        for variable in MARKS:
            assert text.count(variable) == found.texts[key].count(variable), (key, variable)
        assert bool(text) == bool(found.texts[key])
        assert ("[2]" in text) == ("[2]" in found.texts[key])
        assert ("150" in text) == ("150" in found.texts[key])
        assert bool(english.refusal and english.refusal in text) == bool(
            found.refusal and found.refusal in found.texts[key]
        )
    rendered = "\n".join(text for _, text in found.sent.render(TASK))
    assert [rendered.count(value) for value in MARKS.values()] == [1, 1]
    assert (found.max_words, found.citations) == (english.max_words, english.citations)
    assert bool(found.answer_after) == bool(english.answer_after)
    assert not found.refusal or refusal(found.refusal) == 1
    assert (found.reviewed, found.about) == (False, english.about)


@pytest.mark.parametrize("code", CODES)
def test_the_files_of_a_language_are_in_its_script(code: str) -> None:
    """Those of generators and of judges; languages in Latin script are recognised."""
    files = {folder: language_file(folder, code) for folder in (LANGUAGES, JUDGES)}
    for file in files.values():
        for name in file.prompts:
            keys: dict[str, Any] = file.keys_of(name)
            closed = keys.pop("closed_book", {})
            kept = {k: v for k, v in keys.items() if isinstance(v, str) and k != "language"}
            words = own_words(kept | {f"closed.{k}": v for k, v in closed.items()})
            assert script_share(words, SCRIPTS.get(code, {"LATIN"})) > 0.97, name
            if code in LATIN:
                assert language_of(words, by_model=True) == code, name
    sentences = files[LANGUAGES].answer_language
    both = f"{sentences.query} {sentences.named}"
    assert script_share(both, SCRIPTS.get(code, {"LATIN"})) == 1.0


@pytest.mark.parametrize("code", CODES)
def test_the_answer_after_the_mark_is_read(code: str) -> None:
    """As the prompt writes it, with another width of the colon, in bold face and upper case."""
    sent = find_prompt(f"chain-of-thought.{code}").file.sent
    mark = sent.answer_after
    stem = mark.rstrip(":\uff1a").rstrip()

    assert mark in sent.system
    assert mark in sent.closed_book_system
    for written in (mark, f"{stem}:", f"{stem} :", f"{stem}\uff1a", mark.upper()):
        assert sent.final_answer(f"1. x\n{written} Bern") == "Bern"
        assert sent.final_answer(f"1. x\n**{written}** Bern") == "Bern"
    assert sent.final_answer("Bern") is None


def test_every_prompt_is_in_every_language() -> None:
    """One file per language; the sentences that ask for a language are in all of them."""
    assert set(translations(LANGUAGES, shipped_names())) == set(CASES)
    assert languages(LANGUAGES) == languages(JUDGES) == CODES
    for folder, names in ((LANGUAGES, set(shipped_names())), (JUDGES, TRANSLATED)):
        for code in CODES:
            file = language_file(folder, code)
            assert (file.language, set(file.prompts)) == (code, names)
    assert set(CODES) < LANGUAGE_NAMES.keys()
    named = {answer_language_of(code).named for code in CODES}
    assert len(named) == len(CODES)
    assert answer_language_of("pt-BR") == answer_language_of("pt")
    assert (
        answer_language_of("sw").named
        == answer_language_of("en").named
        == ("Answer in {language}.")
    )


def test_a_prompt_in_all_languages_has_the_texts_of_each(tmp_path: Path) -> None:
    """An own translation is one of them, and takes the place of a shipped one."""
    folder = tmp_path / "prompts"
    folder.mkdir()
    text = "user: '{context} {query}'\nlanguage: "
    (folder / "concise.sw.yaml").write_text(f"{text}sw", "utf-8")
    (folder / "concise.pt-BR.yaml").write_text(f"{text}pt-BR", "utf-8")
    (folder / "concise.strict.yaml").write_text(f"{text}en", "utf-8")
    (folder / "alone.yaml").write_text(f"{text}de", "utf-8")
    plain = find_prompt("concise.{language}")
    with beside(tmp_path):
        found = find_prompt("concise.{language}")
        with pytest.raises(ConfigError, match=r"'alone' is in one language: .*alone\.de\.yaml"):
            find_prompt("alone.{language}")

    assert tuple(sorted(plain.translations)) == CODES
    assert sorted({*CODES, "sw"}) == sorted(found.translations)
    assert found.translations["pt"].name == "concise.pt"
    assert found.translations["sw"].is_own
    assert found.sent_texts["sw.user"] == "{context} {query}"
    assert found.sent_texts["user"] == find_prompt("concise").file.user
    facts = plain.facts()
    assert (facts["label"], facts["reviewed"]) == ("concise.{language}", False)
    assert facts["languages"] == ["en", *sorted(CODES)]
    assert isinstance(found.file, PromptFile)


def test_a_missing_translation_is_an_error_with_those_there_are() -> None:
    """Other prompts are not listed."""
    with pytest.raises(ConfigError, match=r"unknown prompt 'concise\.sw'.*concise\.zh") as error:
        find_prompt("concise.sw")
    assert "cautious" not in str(error.value)
    with pytest.raises(ConfigError, match=r"unknown prompt 'concis', .*did you mean 'concise'"):
        find_prompt("concis.{language}")
