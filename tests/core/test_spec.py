"""One grammar for everything that is written as `name(arguments)@cutoff`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core import limits
from ragstone.core.limits import MAX_SPEC_CHARACTERS
from ragstone.core.spec import Spec, parse_spec, split_specs
from ragstone.errors import ConfigError

NAMES = st.from_regex(r"[A-Za-z][A-Za-z0-9_.:+/-]{0,8}", fullmatch=True)
KEYS = st.from_regex(r"[a-z_][a-z0-9_]{0,8}", fullmatch=True)
SCALARS = (
    st.none() | st.booleans() | st.integers() | st.text(max_size=12)
    | st.floats(allow_nan=False, allow_infinity=False)
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.text(max_size=5).filter(lambda k: k != "name"), inner, max_size=3)
        | st.builds(
            lambda name, rest: {"name": name, **rest},
            NAMES,
            st.dictionaries(KEYS.filter(lambda k: k != "name"), inner, min_size=1, max_size=2),
        )
    ),
    max_leaves=6,
)
SPECS = st.builds(
    Spec, NAMES, st.dictionaries(KEYS, VALUES, max_size=3), st.none() | st.integers(1, 999)
)


@given(SPECS)
def test_a_spec_that_prints_parses_back_to_itself(spec: Spec) -> None:
    """Nested specs, lists, mappings, quotes and numbers included."""
    assert parse_spec(str(spec), where="x") == spec


@pytest.mark.parametrize(
    ("text", "name", "parameters", "cutoff"),
    [
        ("bm25", "bm25", {}, None),
        ("bm25()", "bm25", {}, None),
        ("retrieved(3)", "retrieved", {"": 3}, None),
        ("gold+noise(3, position=last)", "gold+noise", {"": 3, "position": "last"}, None),
        ("nDCG(gains=exponential)@10", "nDCG", {"gains": "exponential"}, 10),
        (
            "fusion([bm25, dense], text_weight=0.3)",
            "fusion",
            {"": ["bm25", "dense"], "text_weight": 0.3},
            None,
        ),
        (
            "dense(embedder=minilm(max_tokens=128, threads=1))",
            "dense",
            {"embedder": {"name": "minilm", "max_tokens": 128, "threads": 1}},
            None,
        ),
        ("parts.py:Mine(unit=word)@5", "parts.py:Mine", {"unit": "word"}, 5),
        ("f(a='x, (y)', b=\"q\\\"\")", "f", {"a": "x, (y)", "b": 'q"'}, None),
        ("f(url=http://h:1/v?a=b, m=a/b-c)", "f", {"url": "http://h:1/v?a=b", "m": "a/b-c"}, None),
        ("f(language=Old English)", "f", {"language": "Old English"}, None),
        ("f(a=null, b=true, c=1e-5, d=-3)", "f", {"a": None, "b": True, "c": 1e-5, "d": -3}, None),
        ("f(e={top: 1, deep: {x: [1, 2]}})", "f", {"e": {"top": 1, "deep": {"x": [1, 2]}}}, None),
    ],
)  # fmt: skip
def test_the_grammar(text: str, name: str, parameters: dict[str, Any], cutoff: int | None) -> None:
    """Names, arguments and cutoffs as they are documented."""
    assert parse_spec(text, where="x") == Spec(name, parameters, cutoff)


@pytest.mark.parametrize(
    ("text", "problem", "position"),
    [
        ("f(", "'(' is never closed", 2),
        ("f(a=)", "expected a value", 5),
        ("f(a=[1, 2)", "expected ',' or ']'", 10),
        ("f(a=1, 2)", "only the first parameter", 8),
        ("f(a=1, a=2)", "'a' is given twice", 8),
        ("f(a=g(b=))", "expected a value", 9),
        ("f(a='x)", "never closed", 5),
        ("f) x", "expected the end, found ')'", 2),
        ("a b", "expected a name", 1),
        ("f(" + "[" * 30, "nested more than 20 deep", 22),
    ],
)
def test_an_error_shows_the_position(text: str, problem: str, position: int) -> None:
    """The message has the problem and a caret below the character at fault."""
    with pytest.raises(ConfigError) as caught:
        parse_spec(text, where="here")

    first, shown, mark = str(caught.value).split("\n")
    assert first.startswith("here: cannot read")
    assert problem in first
    assert shown == f"  {text}"
    assert mark.index("^") - 2 == position - 1


def test_a_spec_has_a_maximum_length() -> None:
    """The message has the limit, the length and a remedy."""
    with pytest.raises(ConfigError, match="at most 20,000 characters, found 20,003; write it as"):
        parse_spec("f(" + "a" * MAX_SPEC_CHARACTERS + ")", where="x")


def test_a_list_of_specs_is_split_at_its_own_commas() -> None:
    """Commas in brackets and quotes do not separate specs."""
    text = "EM, f([a, b], c='x, y') ,, nDCG(a=1,b=2)@5"

    assert split_specs(text, where="x") == ["EM", "f([a, b], c='x, y')", "nDCG(a=1,b=2)@5"]


def test_a_long_spec_is_shown_around_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caret is below the error, and the message is short."""
    monkeypatch.setattr(limits, "MAX_SPEC_EXCERPT", 10)
    with pytest.raises(ConfigError) as caught:
        parse_spec(f"f(a={'x' * 500}, b=(, c={'y' * 500})", where="metric")
    first, shown, caret = str(caught.value).splitlines()
    assert first.startswith("metric: cannot read 'xxxx")
    assert shown[caret.index("^")] == "("
    assert len(str(caught.value)) < 150


@pytest.mark.parametrize("value", ["٣", "²", "１"])  # noqa: RUF001 - digits of other scripts
def test_only_plain_digits_are_numbers(value: str) -> None:
    """Digits of other scripts are text, which no number's parameter accepts."""
    assert parse_spec(f"f(a={value})", where="").parameters == {"a": value}


def test_a_malformed_escape_is_an_error_of_the_spec() -> None:
    """JSON's error is told with its place."""
    with pytest.raises(ConfigError, match=r"not JSON's form of a text .* at position 5"):
        parse_spec('f(a="\\0")', where="metric")
