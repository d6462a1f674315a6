"""The grammar of specs: `name(arguments)@cutoff`.

    spec      = name [ "(" [ argument { "," argument } ] ")" ] [ "@" cutoff ]
    argument  = [ key "=" ] value          only the first one may have no key, or the first ones of
                                           a metric
    value     = spec | list | mapping | quoted text | null | true | false | number | bare text
    list      = "[" [ value { "," value } ] "]"
    mapping   = "{" [ key ":" value { "," key ":" value } ] "}"

It is the grammar of components, metrics and options: `bm25`, `nDCG(gains=linear)@10`,
`dense(embedder=minilm(threads=1))`, `fusion([bm25, dense], text_weight=0.3)`,
`parts.py:Length(unit=word)`. A nested spec with arguments becomes a mapping, as in YAML.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, TypeAlias

from ragstone.core import limits
from ragstone.errors import ConfigError

ComponentSpec: TypeAlias = str | dict[str, Any]
"""A component as written by a person: a spec, or a mapping with the key `name`."""

COMPONENT_LISTS: Final = frozenset({"retrievers"})
"""Parameters whose value is a list of components; a list as any other value is a sweep."""

_CONSTANTS: Final[Mapping[str, Any]] = {"null": None, "true": True, "false": False}
_NUMBER: Final = re.compile(r"[-+]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][-+]?\d+)?", re.ASCII)
_BARE: Final = re.compile(r"[^,()\[\]{}\"'=]+(?:\{[a-z_]+\})?")
"""A text without quotes; it may end with a variable, as the prompt `concise.{language}` does."""
_KEY: Final = re.compile(r"\s*([A-Za-z_]\w*)\s*=(?!=)")
_QUOTED: Final = re.compile(r'"(?:[^"\\]|\\.)*"|\'(?:[^\'\\]|\\.)*\'')
_SAFE: Final = re.compile(
    r"[^\s,()\[\]{}\"'=:@](?:[^,()\[\]{}\"'=\n]*(?:[^\s,()\[\]{}\"'=]|\.\{[a-z_]+\}))?"
)


@dataclass(frozen=True)
class Spec:
    """A component or metric as written: its name and its arguments, which are not checked.

    >>> str(Spec("retrieved", {"": 3})), str(Spec("nDCG", {"gains": "exponential"}, 10))
    ('retrieved(3)', 'nDCG(gains=exponential)@10')
    """

    name: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """Key -> value; the argument without a key is under "", several ones as a tuple."""
    cutoff: int | None = None
    text: str = field(default="", compare=False, repr=False)
    """The text that was parsed; empty for a spec that was written as a mapping."""

    def __str__(self) -> str:
        """Return the text that parses back to this spec."""
        shown = [
            f"{key}={_shown(value)}" if key else ", ".join(map(_shown, _several(value)))
            for key, value in self.parameters.items()
        ]
        listed = f"({', '.join(shown)})" if shown else ""
        return f"{self.name}{listed}" + ("" if self.cutoff is None else f"@{self.cutoff}")


def parse_spec(written: object, *, where: str, several: bool = False) -> Spec:
    """Return the spec of a text, or of a mapping with the key `name`.

    >>> parse_spec("dense(embedder=minilm(threads=1))", where="retriever").parameters
    {'embedder': {'name': 'minilm', 'threads': 1}}
    >>> parse_spec({"name": "bm25", "k1": 0.9}, where="retriever").parameters
    {'k1': 0.9}

    With `several`, the first arguments may have no key, and "" is the tuple of their values:
    `label(yes, no)`.

    Raises:
        ConfigError: the text breaks the grammar; the message shows the position with a caret.
    """
    if isinstance(written, str) and written.strip():
        return _Parser(written, where, several=several).whole()
    if isinstance(written, Mapping) and isinstance(written.get("name"), str):
        named = parse_spec(written["name"], where=where, several=several)
        rest = {str(key): value for key, value in written.items() if key != "name"}
        return Spec(named.name, {**named.parameters, **rest}, named.cutoff, named.text)
    raise ConfigError(
        f"{where}: expected a component's name or a mapping with the key 'name', found {written!r}",
        value=written,
    )


def split_specs(text: str, *, where: str) -> list[str]:
    """Return the specs of a comma-separated list, as written.

    >>> split_specs("EM, F1(variant=squad), nDCG(gains=exponential,variant=mirage)@5", where="")
    ['EM', 'F1(variant=squad)', 'nDCG(gains=exponential,variant=mirage)@5']
    """
    return _Parser(text, where).separate()


def short_name(written: object) -> str:
    """Return the text for a component in a system's name: `bm25`, `bm25(k1=0.9)`.

    >>> short_name({"name": "bm25", "k1": 0.9})
    'bm25(k1=0.9)'
    >>> short_name({"name": "fusion", "retrievers": ["bm25", "dense"], "text_weight": 0.2})
    'fusion(bm25, dense, text_weight=0.2)'
    """
    if not isinstance(written, Mapping):
        return str(written)
    shown: list[str] = []
    for key, value in written.items():
        if key in COMPONENT_LISTS and isinstance(value, list):
            shown += map(short_name, value)
        elif key != "name":
            shown.append(f"{key}={value}" if key else str(value))
    return f"{written.get('name')}({', '.join(shown)})" if shown else str(written.get("name"))


def caret(text: str, key: str | None, value: object = None) -> str:
    """Return the text with a caret below an argument, for an error message; "" if not found.

    >>> print(caret("dense(embedder=minilm(thread=1))", "thread"))
    <BLANKLINE>
      dense(embedder=minilm(thread=1))
                            ^
    """
    found = re.search(rf"(?<![\w.-]){re.escape(key)}\s*=", text) if key else None
    position = found.start() if found else text.find(str(value)) if value is not None else -1
    return _caret_at(text, position)


class _Parser:
    """A recursive descent over one text."""

    def __init__(self, text: str, where: str, *, several: bool = False) -> None:
        self.text, self.where, self.at, self.several = text, where, 0, several
        if len(text) > limits.MAX_SPEC_CHARACTERS:
            raise ConfigError(
                f"{where}: a spec has at most {limits.MAX_SPEC_CHARACTERS:,} characters, found "
                f"{len(text):,}; write it as a mapping in the experiment file"
            )

    def whole(self) -> Spec:
        """Return the whole text as one spec."""
        name = self._bare()
        if not name or re.search(r"\s", name):
            raise self._error("expected a name", self.at - len(name))
        name, mark, cutoff = name.partition("@")
        parameters = {} if mark else self._arguments(1)
        if not mark and self.text[self.at : self.at + 1] == "@":
            mark, cutoff = "@", self.text[self.at + 1 :].strip()
            self.at = len(self.text)
        if self._peek():
            raise self._error(f"expected the end, found {self._peek()!r}")
        return Spec(name, parameters, self._cutoff(cutoff) if mark else None, self.text.strip())

    def separate(self) -> list[str]:
        """Return the texts between the commas outside of brackets and quotes."""
        parts, start, depth = [], 0, 0
        while self.at < len(self.text):
            quoted = _QUOTED.match(self.text, self.at)
            character = self.text[self.at]
            depth += (character in "([{") - (character in ")]}")
            if character == "," and not depth:
                parts.append(self.text[start : self.at])
                start = self.at + 1
            self.at = quoted.end() if quoted else self.at + 1
        return [part.strip() for part in (*parts, self.text[start:]) if part.strip()]

    def _arguments(self, depth: int) -> dict[str, Any]:
        if self._peek() != "(":
            return {}
        parameters: dict[str, Any] = {}
        for _ in self._members("(", ")", depth):
            place = self.at
            key = _KEY.match(self.text, self.at)
            if key:
                self.at = key.end()
            elif self.several and set(parameters) == {""} and depth == 1:
                parameters[""] = (*_several(parameters[""]), self._value(1))
                continue
            elif parameters:
                part = self.text[place:].split(",")[0].split(")")[0].strip()
                raise self._error(f"only the first parameter may have no name: {part!r}", place)
            name = key[1] if key else ""
            if name in parameters:
                raise self._error(f"the parameter {name!r} is given twice", place)
            parameters[name] = self._value(depth)
        return parameters

    def _members(self, opening: str, closing: str, depth: int) -> Iterator[None]:
        """Yield at the start of each member between two brackets; the caller reads the member."""
        if depth > limits.MAX_SPEC_DEPTH:
            raise self._error(f"brackets are nested more than {limits.MAX_SPEC_DEPTH} deep")
        start = self.at
        self._take(opening)
        while self._peek() != closing:
            if not self._peek():
                raise self._error(f"{opening!r} is never closed", start)
            yield
            if self._peek() == ",":
                self._take(",")
            elif self._peek() != closing:
                raise self._error(f"expected ',' or {closing!r}")
        self._take(closing)

    def _value(self, depth: int) -> Any:
        match self._peek():
            case "[":
                return [self._value(depth + 1) for _ in self._members("[", "]", depth + 1)]
            case "{":
                return self._mapping(depth + 1)
            case '"' | "'":
                return self._quoted()
            case _:
                return self._word(depth)

    def _word(self, depth: int) -> Any:
        """Return a nested spec as a mapping, a constant, a number or bare text."""
        start = self.at
        word = self._bare(equals=True)
        if not word:
            raise self._error("expected a value", start)
        if self._peek() == "(" and not re.search(r"\s", word):
            return {"name": word, **self._arguments(depth + 1)}
        if word in _CONSTANTS:
            return _CONSTANTS[word]
        return _number(word) if _NUMBER.fullmatch(word) else word

    def _mapping(self, depth: int) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for _ in self._members("{", "}", depth):
            quoted = self._peek() in {'"', "'"}
            key = self._quoted() if quoted else self._bare(stop=":")
            self._take(":")
            found[key] = self._value(depth)
        return found

    def _quoted(self) -> str:
        found = _QUOTED.match(self.text, self.at)
        if not found:
            raise self._error("the quotation mark is never closed")
        self.at = found.end()
        if found[0][0] == '"':
            try:
                return str(json.loads(found[0], strict=False))
            except ValueError as error:
                raise self._error(f"not JSON's form of a text ({error})", found.start()) from error
        return re.sub(r"\\(.)", r"\1", found[0][1:-1], flags=re.DOTALL)

    def _bare(self, *, equals: bool = False, stop: str = "") -> str:
        """Return the text up to the next character of the grammar, stripped."""
        self._peek()
        start = self.at
        while found := _BARE.match(self.text, self.at):
            self.at = found.end()
            if stop and stop in found[0]:
                self.at = found.start() + found[0].index(stop)
                break
            if not equals or self.text[self.at : self.at + 1] != "=":
                break
            self.at += 1
        return self.text[start : self.at].strip()

    def _peek(self) -> str:
        """Skip white space and return the next character; "" at the end."""
        while self.text[self.at : self.at + 1].isspace():
            self.at += 1
        return self.text[self.at : self.at + 1]

    def _take(self, character: str) -> None:
        if self._peek() != character:
            raise self._error(f"expected {character!r}")
        self.at += 1

    def _cutoff(self, text: str) -> int:
        if not re.fullmatch(r"[0-9]{1,9}", text) or int(text) < 1:
            raise ConfigError(
                f"{self.where}: the cutoff of {self.text!r} must be a whole number of 1 or more, "
                f"found {text!r}",
                value=text,
            )
        return int(text)

    def _error(self, problem: str, at: int | None = None) -> ConfigError:
        at = self.at if at is None else at
        return ConfigError(
            f"{self.where}: cannot read {_around(self.text, at)!r}: {problem} at position {at + 1}"
            f"{_caret_at(self.text, at)}",
            value=self.text,
        )


def _caret_at(text: str, position: int) -> str:
    if position < 0 or "\n" in text:
        return ""
    shown = _around(text, position)
    first = max(0, position - limits.MAX_SPEC_EXCERPT) if shown != text else 0
    return f"\n  {shown}\n  {' ' * (position - first)}^"


def _around(text: str, position: int) -> str:
    """Return a text, or of a long one the part around a position."""
    margin = limits.MAX_SPEC_EXCERPT
    return text if len(text) <= 2 * margin else text[max(0, position - margin) :][: 2 * margin]


def _number(word: str) -> int | float | str:
    value = float(word)
    if not math.isfinite(value):
        return word
    return int(word) if re.fullmatch(r"[-+]?[0-9]+", word) else value


def _several(value: Any) -> tuple[Any, ...]:
    return value if isinstance(value, tuple) else (value,)


def _shown(value: Any) -> str:
    """Return a value in the grammar."""
    if isinstance(value, str):
        plain = _SAFE.fullmatch(value) and value not in _CONSTANTS and not _NUMBER.fullmatch(value)
        return value if plain else _json(value)
    if isinstance(value, Mapping):
        rest = {str(key): held for key, held in value.items() if key != "name"}
        if isinstance(value.get("name"), str) and rest:
            return str(Spec(value["name"], rest))
        pairs = (f"{_json(str(key))}: {_shown(held)}" for key, held in value.items())
        return f"{{{', '.join(pairs)}}}"
    if isinstance(value, Sequence):
        return f"[{', '.join(map(_shown, value))}]"
    return _json(value) if value is None or isinstance(value, bool) else str(value)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
