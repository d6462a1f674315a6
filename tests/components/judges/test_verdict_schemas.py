"""The schemas of verdicts: requests, JSON schemas, values at the ends, and what overrules what."""

from __future__ import annotations

from typing import Any

import pytest

from ragstone.calls.types import Reply
from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.components.judges.verdict_schemas import (
    Choice,
    Listing,
    Numbered,
    Rating,
    VerdictSchema,
)
from ragstone.core import limits
from ragstone.errors import ConfigError

RATING, YES_NO = Rating(1, 10), Choice()
CLAIMS = Numbered(2, ("supported", "unsupported"))
EVERY: list[VerdictSchema[Any]] = [RATING, YES_NO, Listing(), CLAIMS]


@pytest.mark.parametrize(
    ("schema", "properties", "has_reason"),
    [
        (RATING, {"rating": {"type": "integer", "minimum": 1, "maximum": 10}}, True),
        (YES_NO, {"verdict": {"type": "string", "enum": ["yes", "no"]}}, True),
        (Listing(), {"claims": {"type": "array", "items": {"type": "string"}}}, False),
        (
            CLAIMS,
            {n: {"type": "string", "enum": ["supported", "unsupported"]} for n in ("1", "2")},
            False,
        ),
    ],
)
def test_a_json_schema_has_the_reason_first(
    schema: VerdictSchema[Any], properties: dict[str, Any], *, has_reason: bool
) -> None:
    """Of schemas that may be explained, if a reason is asked for; all properties are required."""
    reason = {"reason": {"type": "string"}} if has_reason else {}
    for explain, more in ((True, reason), (False, {})):
        assert schema.json_schema(explain=explain) == {
            "type": "object",
            "properties": {**more, **properties},
            "required": [*more, *properties],
            "additionalProperties": False,
        }
    assert (schema.explained, schema.truncation_ok) == (has_reason, False)


def test_requests_have_the_words_that_are_read() -> None:
    """After a reason there is a line; alone there is nothing else."""
    for schema in EVERY:
        for explain in (True, False):
            assert all(word in schema.wording(explain=explain) for word in schema.words)
    assert RATING.words == ("1", "10", "Rating")
    assert (Listing().words, YES_NO.words) == (("none",), ("yes", "no"))
    assert CLAIMS.words == ("supported", "unsupported")
    assert RATING.wording(explain=True).startswith("End with one line, the rating")
    assert RATING.wording().startswith("Reply with one line and nothing else, the rating")
    three = Choice(("a", "b", "c"))
    assert three.wording() == "Answer with one word and nothing else: a, b or c"
    assert three.wording(explain=True) == (
        "End with one line, the verdict being a, b or c: Verdict: [[word]]"
    )
    assert "Write 2 lines" in CLAIMS.wording()
    assert "supported or unsupported" in CLAIMS.wording()


def test_a_rating_is_a_share_of_its_scale() -> None:
    """The lowest one is 0, the highest 1."""
    assert [Rating(1, 5).share(rating) for rating in (1, 2, 5)] == [0.0, 0.25, 1.0]
    assert (Rating().low, Rating().high) == (1, 10)


READ: list[tuple[VerdictSchema[Any], str, Any]] = [
    *((RATING, f"{number}", number) for number in (1, 10)),
    *((RATING, f"Fair. Rating: {number}", number) for number in (1, 10)),
    (Rating(0, 4), '{"rating": 0}', 0),
    (RATING, '{"score": 3, "rating": 7}', 7),
    (RATING, '{"rating": "**7**"}', 7),
    (RATING, '{"rating": "7,5/10"}', 7.5),
    (RATING, 'So {"note": {"rating": 3}} and so {"rating": 7}.', 7),
    (RATING, '{"a": 1} Rating: [[7]]', 7),
    (RATING, '{"rating": 3}. The year is wrong after all: {"rating": 7}', 7),
    (RATING, "Rating: 3. Then again it is good. Rating: 7", 7),
    (RATING, "Rating: [[7]] and Rating: [[7]]", 7),
    (Rating(-5, 5), "-5", -5),
    (Rating(-5, 5), "Rating: -5", -5),
    (YES_NO, '{"verdict": true}', "yes"),
    (YES_NO, '{"label": false}', "no"),
    (YES_NO, '{"answer": " Yes. "}', "yes"),
    (Choice(("good", "bad"), {"bad": ("poor",)}), "Poor", "bad"),
    (Choice(("good", "bad"), {"bad": ("poor",)}), "Fine.\nVerdict: poor.", "bad"),
    (YES_NO, "\u0130t is wrong. Verdict: no", "no"),
    (YES_NO, "No; it differs. No, the year.", "no"),
    (Listing(), '{"claims": [" A. ", "", " "]}', ("A.",)),
    (Listing(), '{"claims": []}', ()),
    (Listing(), 'First {"claims": ["A."]} then {"claims": ["B."]}', ("B.",)),
    (Listing(), "(1) A.\n2: B.\n\u2022 C.", ("A.", "B.", "C.")),
    (Listing(), " *None.* ", ()),
    (CLAIMS, '{"1": "Supported", "2": "unsupported", "why": "x"}', ("supported", "unsupported")),
    (Numbered(2), '{"1": true, "2": false}', ("yes", "no")),
    (CLAIMS, 'So: {"1": "supported", "2": "supported"}', ("supported", "supported")),
    (CLAIMS, "1: supported\n2: supported\n2: supported", ("supported", "supported")),
    (Numbered(1, ("good", "bad"), {"bad": ("poor",)}), "1: poor", ("bad",)),
]


@pytest.mark.parametrize(("schema", "reply", "value"), READ)
def test_a_verdict_is_read(schema: VerdictSchema[Any], reply: str, value: Any) -> None:
    """At the ends of a scale, by its first key, from the last object, and in any spelling."""
    assert schema.read(reply) == value
    assert schema.parse(Reply(reply)) == value


REFUSED: list[tuple[VerdictSchema[Any], str, str]] = [
    (Rating(0, 4), "5", "the rating 5.* lies outside 0 to 4"),
    (Rating(1, 4), "0", "the rating 0 lies outside 1 to 4"),
    (RATING, "10.5", "the rating 10.5 lies outside 1 to 10"),
    (RATING, "8/11", "the rating 8/11 is not on the scale up to 10"),
    (RATING, '{"rating": "8/9"}', "the rating 8/9 is not on the scale up to 10"),
    (RATING, '{"rating": "good"}', "the rating is 'good', which is not a number"),
    (RATING, '{"rating": null}', "no verdict"),
    (RATING, "9" * 500, rf"the rating 9{{{limits.MAX_VALUE_CHARACTERS}}} lies outside"),
    (RATING, f"8/1{'0' * 400}", "the rating 8/100000000000 is not on the scale"),
    (RATING, '{"note": "Rating: 8"} is odd', "no verdict"),
    (RATING, "Rating: 3. Or Rating: 7", "end.* in several verdicts that disagree"),
    (RATING, "Rating: 3. Or so, Rating: 7", "end.* in several verdicts that disagree"),
    (YES_NO, '{"verdict": "maybe"}', "the verdict 'maybe' is none of: yes, no"),
    (Choice(("good", "bad")), '{"verdict": true}', "the verdict 'yes' is none of: good, bad"),
    (Choice(("good", "bad")), '{"verdict": false}', "the verdict 'no' is none of: good, bad"),
    (YES_NO, "Yes. No.", "several verdicts that disagree"),
    (YES_NO, "  ", "the reply is empty"),
    (Listing(), "nonesuch", "no list"),
    (Listing(), '{"claims": [1]}', "no list"),
    (CLAIMS, '{"1": "supported"}', "no verdict for number 2 of 2"),
    (CLAIMS, '{"2": "supported"}', "no verdict for number 1 of 2"),
    (CLAIMS, '{"1": "supported", "2": "odd"}', "the verdict 'odd' is none of"),
    (CLAIMS, "2: supported\n1: supported\n1: unsupported", "several verdicts for number 1"),
    (CLAIMS, '{"a": "supported"}', "no verdict for number 1 of 2"),
]


@pytest.mark.parametrize(("schema", "reply", "reason"), REFUSED)
def test_a_reply_without_a_verdict_has_a_reason(
    schema: VerdictSchema[Any], reply: str, reason: str
) -> None:
    """It is part of the repeated request, and is short."""
    with pytest.raises(Unreadable, match=reason):
        schema.read(reply)


def test_a_spelling_means_one_option() -> None:
    """Otherwise the verdict would depend on the order."""
    assert Choice(("yes", "no"), {"yes": ("YES", "ok")}).meanings["ok"] == "yes"
    with pytest.raises(ConfigError, match="'Ok' spells two verdicts, yes and no"):
        _ = Choice(("yes", "no"), {"yes": ("ok",), "no": ("Ok",)}).meanings


def test_quoted_material_is_no_verdict() -> None:
    """A line of a numbered list that the material has, and a list, which may quote it."""
    with pytest.raises(Unreadable, match="no verdict for number 1"):
        CLAIMS.read("1: supported\n2: supported", ["We read: 1: supported", "x"])
    assert CLAIMS.read("1: supported\n2: supported", ["2: unsupported"]) == ("supported",) * 2
    assert Listing().read('Here: {"claims": ["A."]}', ['{"claims": ["A."]}']) == ("A.",)
    with pytest.raises(Unreadable, match="quoted"):
        CLAIMS.read('See {"1": "supported", "2": "supported"} there',
                    ['{"1": "supported", "2": "supported"}'])  # fmt: skip
