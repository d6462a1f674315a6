"""One grammar for everything that is written as `name(arguments)@cutoff`."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragstone.core import limits
from ragstone.core.limits import MAX_SPEC_CHARACTERS
from ragstone.core.spec import Spec, caret, parse_spec, short_name, split_specs
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
        (" bm25(1)@ 5 ", "bm25", {"": 1}, 5),
        ("bm25@1", "bm25", {}, 1),
        ("bm25( k = 1 , b = 2 , )@999999999", "bm25", {"k": 1, "b": 2}, 999_999_999),
        ("f(a=-1.5, b=+2, c=.5, d=5., e=1e400)", "f",
         {"a": -1.5, "b": 2, "c": 0.5, "d": 5.0, "e": "1e400"}, None),
        ("f(a=[], b={}, c=[[1], {x: 2,},])", "f", {"a": [], "b": {}, "c": [[1], {"x": 2}]}, None),
        ("f(m='it\\'s', n=\"a\\nb\", o={'k l': 1, \"m\": 2, n : o})", "f",
         {"m": "it's", "n": "a\nb", "o": {"k l": 1, "m": 2, "n": "o"}}, None),
        ("f(p=a.{language}, q=a=b=c)", "f", {"p": "a.{language}", "q": "a=b=c"}, None),
        ("f(a=g(), b=g(h(1)))", "f",
         {"a": {"name": "g"}, "b": {"name": "g", "": {"name": "h", "": 1}}}, None),
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
        ("f(" + "{a:" * 30, "nested more than 20 deep", 60),
        ("f(" + "g(" * 30, "nested more than 20 deep", 42),
        ("f(a= =x)", "expected a value", 6),
        ("f(a={b})", "expected ':'", 7),
        ("f(a={b 1})", "expected ':'", 9),
        ("f(a=1 b)x", "expected the end, found 'x'", 9),
        ("f(a=g h(1))", "expected ',' or ')'", 8),
        ("f(1, b, 3)", "may have no name: 'b'", 6),
        ("f(1, g(2))", "may have no name: 'g(2'", 6),
        ("f(a=1, {b: 1})", "may have no name: '{b: 1}'", 8),
        ("f(a=[1, {b: 2})", "expected ',' or ']'", 15),
        ("f(a=[1,", "'[' is never closed", 5),
        ("f(a={b: 1, ", "'{' is never closed", 5),
        ("(a)", "expected a name", 1),
        ("a b(1)", "expected a name", 1),
        ("f(1) g", "expected the end, found 'g'", 6),
        ("f@5(1)", "expected the end, found '('", 4),
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


@pytest.mark.parametrize("cutoff", ["0", "-1", "x", "", "1.5", "1234567890", "\u0661"])
@pytest.mark.parametrize("name", ["nDCG", "nDCG(a=1)"])
def test_a_cutoff_is_a_whole_number_of_one_or_more(name: str, cutoff: str) -> None:
    """It has at most nine digits."""
    with pytest.raises(ConfigError, match=r"x: the cutoff of '.*' must be a whole number of 1"):
        parse_spec(f"{name}@{cutoff}", where="x")


def test_several_values_without_a_key() -> None:
    """They come first, and only where they are asked for; a nested spec has one."""
    for text in ("label(yes, no)", "label(yes, no, a=1)@2"):
        spec = parse_spec(text, where="x", several=True)
        assert spec.parameters[""] == ("yes", "no")
        assert str(spec) == text
    assert parse_spec("label(yes)", where="x", several=True).parameters == {"": "yes"}
    assert parse_spec({"name": "label(a, b)"}, where="x", several=True).parameters[""] == ("a", "b")
    for text in (
        "label(yes, a=1, no)",
        "label(a=1, no)",
        "label(yes, g(1, 2))",
        "label(a=g(1, 2))",
    ):
        with pytest.raises(ConfigError, match="only the first parameter may have no name"):
            parse_spec(text, where="x", several=True)
    assert parse_spec("label([a, b])", where="x").parameters == {"": ["a", "b"]}


@pytest.mark.parametrize("written", ["", "  ", None, 3, {"k": 1}, {"name": 3}, ["bm25"]])
def test_what_is_no_spec_at_all(written: object) -> None:
    """The error has what was found."""
    with pytest.raises(ConfigError, match="here: expected a component's name or a mapping with"):
        parse_spec(written, where="here")


def test_a_mapping_adds_to_the_spec_of_its_name() -> None:
    """Its own values count, and the text is that of the name."""
    spec = parse_spec({"name": "f(a=1, b=2)@3", "b": 4, 5: 6}, where="x")
    assert spec == Spec("f", {"a": 1, "b": 4, "5": 6}, 3)
    assert spec.text == "f(a=1, b=2)@3"
    assert parse_spec("  f(1) ", where="x").text == "f(1)"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ("a b", "a b"),
        ("true", '"true"'),
        ("1.5", '"1.5"'),
        ("a,b", '"a,b"'),
        ("", '""'),
        (" a", '" a"'),
        ("p.{language}", "p.{language}"),
        ("ü", "ü"),
        ("ü:", "ü:"),
        (":ü", '":ü"'),
        (None, "null"),
        (True, "true"),
        (1.5, "1.5"),
        ([1, ["a"]], "[1, [a]]"),
        ({"name": "g", "k": 1}, "g(k=1)"),
        ({"name": "g"}, '{"name": g}'),
        ({"name": 3, "k": 1}, '{"name": 3, "k": 1}'),
        ({"a": {}}, '{"a": {}}'),
    ],
)
def test_values_are_shown_in_the_grammar(value: Any, text: str) -> None:
    """With quotation marks where the text would mean something else."""
    assert str(Spec("f", {"x": value})) == f"f(x={text})"
    assert str(Spec("f", {"": value})) == f"f({text})"


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("bm25", "bm25"),
        ({"name": "bm25"}, "bm25"),
        ({"name": "gold+noise", "": 3}, "gold+noise(3)"),
        ({"name": "f", "retrievers": "x", "other": [1]}, "f(retrievers=x, other=[1])"),
        ({"name": "f", "retrievers": [{"name": "a", "k": 1}, "b"]}, "f(a(k=1), b)"),
    ],
)
def test_short_names(written: object, name: str) -> None:
    """The parts of a list of components have no key."""
    assert short_name(written) == name


@pytest.mark.parametrize(
    ("text", "key", "value", "position"),
    [
        ("f(ab=1, b=2)", "b", None, 8),
        ("f(a.b=1, b =2)", "b", None, 9),
        ("b=1", "b", None, 0),
        ("f(a=7)", "x", 7, 4),
        ("f(a=7)", None, "f", 0),
        ("f(a=7)", "x", 8, None),
        ("f(a=None)", "x", None, None),
        ("f(a=1,\n b=2)", "b", None, None),
    ],
)
def test_a_caret_is_below_the_argument(
    text: str, key: str | None, value: object, position: int | None
) -> None:
    """The key decides, else the value; a text of several lines has none."""
    shown = "" if position is None else f"\n  {text}\n  {' ' * position}^"
    assert caret(text, key, value) == shown


def test_a_spec_has_a_maximum_length() -> None:
    """The message has the limit, the length and a remedy."""
    assert parse_spec("a" * MAX_SPEC_CHARACTERS, where="x").name == "a" * MAX_SPEC_CHARACTERS
    with pytest.raises(ConfigError, match="at most 20,000 characters, found 20,003; write it as"):
        parse_spec("f(" + "a" * MAX_SPEC_CHARACTERS + ")", where="x")


def test_a_list_of_specs_is_split_at_its_own_commas() -> None:
    """Commas in brackets and quotes do not separate specs."""
    text = "EM, f([a, b], c='x, y') ,, nDCG(a=1,b=2)@5"

    assert split_specs(text, where="x") == ["EM", "f([a, b], c='x, y')", "nDCG(a=1,b=2)@5"]
    assert split_specs("'a,',b", where="x") == ["'a,'", "b"]
    assert split_specs("a({x: [1, 2]}, ')'), \"(\", b", where="x") == [
        "a({x: [1, 2]}, ')')", '"("', "b"
    ]  # fmt: skip


def test_a_long_spec_is_shown_around_the_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """The caret is below the error, and the message is short."""
    monkeypatch.setattr(limits, "MAX_SPEC_EXCERPT", 10)
    with pytest.raises(ConfigError) as caught:
        parse_spec(f"f(a={'x' * 500}, b=(, c={'y' * 500})", where="metric")
    first, shown, mark = str(caught.value).splitlines()
    assert first.startswith("metric: cannot read 'xxxx")
    assert shown[mark.index("^")] == "("
    assert len(str(caught.value)) < 150
    for size, place, excerpt in ((20, 9, 20), (21, 9, 20), (60, 3, 20), (60, 30, 20), (60, 59, 11)):
        text = "".join(chr(65 + n % 26) for n in range(size))
        _, shown, mark = caret(text[:place] + "=" + text[place + 1 :], None, "=").split("\n")
        assert len(shown) == 2 + excerpt
        assert shown[mark.index("^")] == "="


@pytest.mark.parametrize("value", ["٣", "²", "１"])  # noqa: RUF001 - digits of other scripts
def test_only_plain_digits_are_numbers(value: str) -> None:
    """Digits of other scripts are text, which no number's parameter accepts."""
    assert parse_spec(f"f(a={value})", where="").parameters == {"a": value}


def test_a_malformed_escape_is_an_error_of_the_spec() -> None:
    """JSON's error is told with its place."""
    with pytest.raises(ConfigError, match=r"not JSON's form of a text .* at position 5"):
        parse_spec('f(a="\\0")', where="metric")
