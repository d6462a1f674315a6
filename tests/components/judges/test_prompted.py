"""What judges with a prompt by name ask, how their metrics are called, and errors before a call."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.core.test_judge_prompts import ITEM, OWN, QUERY, judge, write

from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.core.fingerprint import cache_key_parts, without_sources
from ragstone.core.judge_prompts import shipped_translations
from ragstone.core.spec import parse_spec
from ragstone.core.step_notes import collect_notes
from ragstone.errors import ConfigError
from ragstone.testing import ScriptedCalls


def parts(made: Any) -> Any:
    """Return the cache key parts of a judge without the digest of code."""
    return without_sources(cache_key_parts(made))


@pytest.mark.parametrize("name", shipped_translations())
def test_a_translation_replaces_every_text(name: str) -> None:
    """No English is left but the words of the verdict, and a verdict as asked for is read."""
    kind = name.rpartition(".")[0]
    for explain in (False, True):
        made, own = (
            judge(name=kind, prompt=one, explain=explain, structured=False) for one in (name, "")
        )
        ours, theirs = ([c.messages for c in one.calls_for(ITEM)] for one in (made, own))
        assert not {text for m in ours for _, text in m} & {text for m in theirs for _, text in m}
        ending = ours[0][-1][1].rpartition("============")[2]
        assert "First give your reason" not in ending
        assert "Write them as" not in ending
    assert all(made.templates[key] != text for key, text in own.templates.items())
    with pytest.raises(Unreadable):
        made.schema.read("Jein.")


def test_verdicts_in_a_translation_are_read() -> None:
    """The judge asks in German, and the words of the verdict are English."""
    calls = ScriptedCalls(lambda _: "Die Antwort stimmt.\n\nVerdict: [[yes]]")
    (verdict,) = judge(prompt="equivalence.de", explain=True).verdicts([ITEM], calls.services())
    (score,) = judge(prompt="equivalence.de").scored(verdict)

    assert (score.metric, score.value) == ("equivalence(prompt=equivalence.de)", 1.0)
    assert "Musterantworten" in calls.asked[0].messages[-1][1]
    claims = ScriptedCalls(
        lambda r: "1. Es ist in Paris." if "Liste" in r.messages[-1][1] else "1: supported"
    )
    (found,) = judge(name="RL_F", prompt="RL_F.de").verdicts([ITEM], claims.services())
    assert found.value == 1.0


def test_each_item_is_judged_in_the_language_of_its_query() -> None:
    """In order; an item without a translation is judged in English, and counted."""
    calls = ScriptedCalls(lambda _: "yes")
    made = judge(prompt="equivalence.{language}", explain=False)
    items = [
        replace(ITEM, query=replace(QUERY, query_id=f"q{n}", labels={"language": code}))
        for n, code in enumerate(["ja", "sw", "de-CH", "en", "ja"])
    ]
    with collect_notes() as notes:
        found = made.verdicts(items, calls.services())

    assert [one.item_id for one in found] == [f"q{n}" for n in range(5)]
    assert [one.value for one in found] == [1.0] * 5
    assert notes == {"items judged with the English prompt: no translation into sw": 1}
    asked = [request.messages[-1][1] for request in calls.asked]
    assert ["正しいですか" in text for text in asked].count(True) == 2
    assert ["Musterantworten" in text for text in asked].count(True) == 1
    assert ["Is the answer right?" in text for text in asked].count(True) == 2
    assert made.metrics == ("equivalence(prompt=equivalence.{language})",)
    assert str(parse_spec(made.metrics[0], where="")) == made.metrics[0]
    dataset = SimpleNamespace(queries=[one.query for one in items])
    assert list(made.data_notes(dataset)) == [
        "queries asked with the English prompt: 1, because 'equivalence' has no translation into sw"
    ]
    assert list(judge().data_notes(dataset)) == []


def test_a_judge_in_all_languages_has_their_texts_in_its_key(tmp_path: Path) -> None:
    """Claims are listed and checked in one language; another text changes the key."""
    made = judge(name="RL_F", prompt="RL_F.{language}")
    texts = parts(made)["parameters"]["prompt"]
    assert texts["de.claims_user"].startswith("Liste jede")
    assert "user" not in texts
    claims = ScriptedCalls(
        lambda r: "1. Es ist in Paris." if "Liste" in r.messages[-1][1] else "1: supported"
    )
    german = replace(ITEM, query=replace(QUERY, labels={"language": "de"}))
    (found,) = made.verdicts([german], claims.services())
    assert found.value == 1.0
    assert "Belege" in claims.asked[-1].messages[-1][1]
    write(tmp_path, "RL_F.de", user="{passages} {claims}", language="de")
    assert parts(judge(tmp_path, "RL_F", prompt="RL_F.{language}")) != parts(made)


def test_an_own_file_replaces_the_texts_that_it_has(tmp_path: Path) -> None:
    """The others are the judge's; the name of the metric has that of the prompt."""
    write(tmp_path, "strict", version=2)
    made = judge(tmp_path, prompt="strict")

    assert made.templates["user"] == OWN["user"]
    assert made.templates["system"] == judge().templates["system"]
    assert made.metrics == ("equivalence(prompt=strict)",)
    facts = made.named_prompt
    assert (facts["label"], facts["judge"], facts["own"]) == ("strict@2", "equivalence", True)
    assert facts["digest"] != judge().named_prompt["digest"]
    assert judge(tmp_path, prompt="strict", labels="each").metrics == (
        "equivalence(each, prompt=strict)",
    )


def test_without_a_prompt_nothing_changes(tmp_path: Path) -> None:
    """The key, the metric and the texts are those of before; a file of the name is not read."""
    write(tmp_path, "equivalence", user="{answer} {gold} {system}")
    made = judge(tmp_path)

    assert "prompt" not in parts(made)["parameters"]
    assert (made.metrics, made.named_prompt["label"]) == (("equivalence",), "equivalence")
    assert made.named_prompt["replaced"] == []


def test_parameters_replace_single_texts() -> None:
    """The name of the metric stays, and digits of the content follow that of the prompt."""
    made = judge(system="Be strict.")

    assert str(made) == "equivalence"
    assert made.templates["system"] == "Be strict."
    assert made.named_prompt["label"].startswith("equivalence~")
    assert made.named_prompt["replaced"] == ["system"]
    assert judge(user="{answer}?").named_prompt["replaced"] == ["user"]


def test_the_key_contains_the_texts_and_not_the_name(tmp_path: Path) -> None:
    """Equal texts under another name or version are the same verdicts."""
    write(tmp_path, "one", about="One.")
    write(tmp_path, "two", version=3)
    write(tmp_path, "three", form="yes or no!")
    one, two, three = (parts(judge(tmp_path, prompt=n)) for n in ("one", "two", "three"))

    assert one == two
    assert len({str(made) for made in (parts(judge()), one, three)}) == 3
    assert parts(judge(prompt="equivalence")) == parts(judge())


def test_a_form_replaces_the_request_for_the_verdict(tmp_path: Path) -> None:
    """With a reason or without; it stands at its variable, or at the end."""
    write(tmp_path, "a", form="One word: yes, no", form_after_reason="Why? Then yes or no.")
    write(tmp_path, "b", user="{format} {answer} {gold}", form="One word: yes, no")
    ends = [
        judge(tmp_path, prompt=name, explain=explain).calls_for(ITEM)[0].messages[-1][1]
        for name, explain in (("a", False), ("a", True), ("b", False))
    ]
    assert [end.rpartition("\n")[2] for end in ends] == [
        "One word: yes, no",
        "Why? Then yes or no.",
        "One word: yes, no In Paris. Paris",
    ]


def test_a_prompt_of_critiques_may_replace_some(tmp_path: Path) -> None:
    """The others are the judge's."""
    write(tmp_path, "mine", user="", critiques={"stand_alone": "From 1 to 5: {query}?"})
    made = judge(tmp_path, "critiques", prompt="mine")

    assert made.prompts["stand_alone"].user == "From 1 to 5: {query}?"
    assert "findable_user" in made.templates
    assert made.metrics[0] == "critique:question_grounded(prompt=mine)"


@pytest.mark.parametrize(
    ("name", "keys", "message"),
    [
        ("equivalence", {"user": "{answr} {gold}"}, r"variable \{answer\} is given but not used"),
        ("equivalence", {"user": "{answer} {gold} {x}"}, r"unknown variable \{x\}; known here"),
        ("equivalence", {"user": "{answer}"}, r"the variable \{gold\} is given but not used"),
        ("equivalence", {"form": "oui ou non"}, "form does not contain 'yes'; the words of the"),
        ("idk", {"user": "{answer}", "form": "yes or no"}, "form does not contain 'partial'"),
        ("RB_llm", {"form": "1-5 Rating"}, "form does not contain '10'"),
        ("RL_F", {"user": "{passages} {claims}", "claims_user": "{query}"}, r"\{answer\} is given"),
        ("RL_F", {"user": "{passages}"}, r"the variable \{claims\} is given but not used"),
        ("equivalence", {"claims_user": "{answer}"}, "claims_user: the judge 'equivalence' has no"),
        ("critiques", {"user": "{query}"}, "user: the judge 'critiques' has no such text"),
        ("critiques", {"user": "", "critiques": {"x": "y"}}, "x_user: the judge 'critiques' has"),
        ("equivalence", {"usr": ""}, "usr: unknown key; did you mean 'user'"),
        ("equivalence", {"version": 0}, "version must be 1 or more, found 0"),
        ("equivalence", {"user": "{answer} {gold} {"}, "cannot read '{' at character"),
        ("equivalence", {"user": "x" * 100_001}, "user has 100,001 characters; the maximum is"),
    ],
)
def test_a_wrong_file_is_an_error_with_file_and_key(
    tmp_path: Path, name: str, keys: dict[str, Any], message: str
) -> None:
    """Creating the judge raises it, before anything is spent."""
    path = write(tmp_path, "mine", **keys)
    with pytest.raises(ConfigError, match=message) as error:
        judge(tmp_path, name, prompt="mine")
    assert str(path) in str(error.value)
