"""Schemas of verdicts: each is requested as a JSON schema or in words, and read from a reply."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, TypeVar

from ragstone.calls.types import Reply
from ragstone.components.judges.reply_parsing import (
    Found,
    Unreadable,
    json_alone,
    last_verdict,
    legal,
    read_objects,
    spoken,
    typed,
)
from ragstone.components.judges.verdict_patterns import (
    AFTER_HEAD,
    BEFORE_CHOICE,
    BEFORE_RATING,
    BULLET,
    ENDED,
    ENUMERATED,
    HEAD,
    NUMBER,
    NUMBER_ALONE,
    NUMBERED_LINE,
    SENTENCE,
    SURROUNDING,
    YES_NO,
    introduced,
)
from ragstone.core import limits
from ragstone.errors import ConfigError

T = TypeVar("T")
_SCALE_DIGITS: Final = 12
"""Digits of the end of a scale that are read: more are never equal to that of a judge."""


@dataclass(frozen=True)
class VerdictSchema(Generic[T]):
    """The base of all schemas.

    Messages of `Unreadable` are part of repeated requests: a change makes new calls.
    """

    keys: ClassVar[tuple[str, ...]] = ()
    """Keys of a JSON object whose value may be the verdict, the usual one first."""
    json_type: ClassVar[Any]
    """The type of that value."""
    explained: ClassVar[bool] = True
    """Whether a reason may precede the verdict."""
    truncation_ok: ClassVar[bool] = False
    """Whether a reply that stops at its token limit is complete."""

    def json_schema(self, *, explain: bool) -> dict[str, Any] | None:
        """Return the JSON schema of a reply, with the reason first; None if it is not JSON."""
        reason = {"reason": {"type": "string"}} if explain and self.explained else {}
        properties = {**reason, **self.properties}
        return {
            "type": "object",
            "properties": properties,
            "required": list(properties),
            "additionalProperties": False,
        }

    @property
    def properties(self) -> dict[str, Any]:
        """Properties of the JSON object besides the reason."""
        raise NotImplementedError

    @property
    def words(self) -> tuple[str, ...]:
        """The words that any request for the verdict must contain, because they are read."""
        return ()

    def wording(self, *, explain: bool = False) -> str:
        """Return the instruction to write the verdict, after a reason or alone."""
        raise NotImplementedError

    def parse(self, reply: Reply, material: Sequence[str] = ()) -> T:
        """Return the verdict of a reply: by default, that of its text."""
        return self.read(reply.text, material)

    def read(self, reply: str, material: Sequence[str] = ()) -> T:
        """Return the verdict of a reply.

        Args:
            reply: the text of the reply.
            material: the texts under judgement; a verdict in a quotation of them does not count.

        Raises:
            Unreadable: there is no verdict, one outside its scale, or several that disagree.
        """
        verdict = self._of_json(json_alone(reply))
        return self._of_text(spoken(reply, material), material) if verdict is None else verdict

    def _of_json(self, value: Any) -> T | None:
        """Return the verdict in a JSON value; None if the value has none."""
        named = [value[key] for key in self.keys if key in value] if isinstance(value, dict) else []
        found = typed(self.json_type, named[0]) if named else None
        return None if found is None else self._legal(found)

    def _legal(self, value: Any) -> T:
        """Return the verdict that a value of `json_type` means; raise `Unreadable` if none."""
        raise NotImplementedError

    def _of_text(self, text: str, material: Sequence[str]) -> T:
        """Return the verdict of a reply that is more than JSON, without its thinking."""
        if not text.strip():
            raise Unreadable("the reply is empty")
        found, spans = read_objects(text, self._of_json)
        for one in self._written(text):
            # The inside of JSON is not searched again.
            if not any(start <= one.start and one.end <= end for start, end in spans):
                found.append(one)
        return last_verdict(text, found, material)

    def _written(self, text: str) -> Iterable[Found[T]]:
        """Return the verdicts of a text that are not JSON."""
        raise NotImplementedError


@dataclass(frozen=True)
class Rating(VerdictSchema[float]):
    """A number on a scale.

    >>> Rating(1, 10).read("3 out of 10 claims are unsupported. Rating: [[8]]")
    8.0
    >>> [Rating(1, 10).read(reply) for reply in ("8", "8/10", "**8**", "Rating 8")]
    [8.0, 8.0, 8.0, 8.0]
    """

    low: int = 1
    high: int = 10
    keys = ("rating", "score", "Rating")
    json_type = float | str

    @property
    def properties(self) -> dict[str, Any]:
        """A whole number on the scale."""
        return {"rating": {"type": "integer", "minimum": self.low, "maximum": self.high}}

    @property
    def words(self) -> tuple[str, ...]:
        """The ends of the scale, and the word before the rating."""
        return (str(self.low), str(self.high), "Rating")

    def wording(self, *, explain: bool = False) -> str:
        """Return the request for a line with double brackets."""
        how = "End with one line" if explain else "Reply with one line and nothing else"
        return (
            f"{how}, the rating as a number from {self.low} to {self.high} in double brackets: "
            "Rating: [[number]]"
        )

    def share(self, rating: float) -> float:
        """Return the rating on a scale from 0 to 1."""
        return (rating - self.low) / (self.high - self.low)

    def _legal(self, value: float | str) -> float:
        if not isinstance(value, str):
            return legal(self._checked(str(value), None))
        match = NUMBER.fullmatch(value.strip(" *[]"))
        if match is None:
            raise Unreadable(f"the rating is {value!r}, which is not a number")
        return legal(self._checked(match[1], match[2]))

    def _written(self, text: str) -> Iterator[Found[float]]:
        if alone := NUMBER_ALONE.fullmatch(text):
            yield Found(self._checked(alone[1], alone[2]), alone.start(), alone.end())
            return
        for match in NUMBER.finditer(text):
            first = match.start()
            minus = "-" if text[first - 1 : first] == "-" else ""
            start = introduced(text, first - len(minus), BEFORE_RATING)
            if start is not None and ENDED.match(text, match.end()):
                yield Found(self._checked(minus + match[1], match[2]), start, match.end())

    def _checked(self, number: str, scale: str | None) -> float | Unreadable:
        value = float(number.replace(",", "."))
        number, scale = number[: limits.MAX_VALUE_CHARACTERS], scale and scale[:_SCALE_DIGITS]
        if scale is not None and int(scale) != self.high:
            return Unreadable(f"the rating {number}/{scale} is not on the scale up to {self.high}")
        if not self.low <= value <= self.high:
            return Unreadable(f"the rating {number} lies outside {self.low} to {self.high}")
        return value


@dataclass(frozen=True)
class Choice(VerdictSchema[str]):
    r"""One of a few words.

    >>> Choice().read("**Yes**"), Choice().read("It repeats itself.\n\nVerdict: no")
    ('yes', 'no')
    """

    options: tuple[str, ...] = ("yes", "no")
    spellings: Mapping[str, tuple[str, ...]] | None = None
    """Option -> further spellings; those of yes and no in some languages are built in."""
    keys = ("verdict", "label", "answer", "Verdict", "label_name")
    json_type = str | bool

    @property
    def properties(self) -> dict[str, Any]:
        """One of the options."""
        return {"verdict": {"type": "string", "enum": list(self.options)}}

    @property
    def words(self) -> tuple[str, ...]:
        """The options."""
        return self.options

    def wording(self, *, explain: bool = False) -> str:
        """Return the request for one word, or for a line with the word `Verdict` after a reason."""
        words = f"{', '.join(self.options[:-1])} or {self.options[-1]}"
        if explain:
            return f"End with one line, the verdict being {words}: Verdict: [[word]]"
        return f"Answer with one word and nothing else: {words}"

    @cached_property
    def meanings(self) -> dict[str, str]:
        """Spelling in lower case -> option."""
        found: dict[str, str] = {}
        for option in self.options:
            more = (self.spellings or {}).get(option, ())
            for spelling in (option, *YES_NO.get(option, ()), *more):
                other = found.setdefault(spelling.casefold(), option)
                if other != option:
                    raise ConfigError(f"{spelling!r} spells two verdicts, {other} and {option}")
        return found

    @cached_property
    def any_spelling(self) -> str:
        """A pattern that matches any spelling at the end of a word."""
        words = sorted(self.meanings, key=len, reverse=True)
        return rf"({'|'.join(map(re.escape, words))})(?!\w)"

    def read(self, reply: str, material: Sequence[str] = ()) -> str:
        """Return the option that a reply chooses; see `VerdictSchema.read`."""
        quick = self.meanings.get(reply.strip(SURROUNDING).casefold())
        return quick or super().read(reply, material)

    def option(self, value: str | bool) -> str:
        """Return the option that a JSON value means; raise `Unreadable` if there is none."""
        word = ("yes" if value else "no") if isinstance(value, bool) else value
        option = self.meanings.get(word.strip(SURROUNDING).casefold())
        if option is None:
            raise Unreadable(f"the verdict {word!r} is none of: {', '.join(self.options)}")
        return option

    _legal = option

    def _written(self, text: str) -> Iterable[Found[str]]:
        lowered = text.lower()
        if len(lowered) != len(text):
            lowered = text
        found: list[Found[str]] = []
        for match in re.finditer(self.any_spelling, lowered):
            start = introduced(lowered, match.start(), BEFORE_CHOICE)
            if start is not None and ENDED.match(lowered, match.end()):
                found.append(Found(self.meanings[match[0]], start, match.end()))
        return found or self._alone(lowered)

    def _alone(self, lowered: str) -> Iterator[Found[str]]:
        """Yield the options that are a whole sentence, or its start before a comma."""
        for sentence in SENTENCE.finditer(lowered):
            head = HEAD.match(lowered, sentence.start(), sentence.end())
            listed = head and ENUMERATED.match(lowered, head.end())
            # "Yes or no, neither fits", as Japanese writes it, is a list.
            if listed and lowered.startswith(tuple(self.meanings), listed.end()):
                continue
            said = head[1].rstrip(AFTER_HEAD) if head else ""
            if head and (option := self.meanings.get(said)):
                yield Found(option, head.start(1), head.start(1) + len(said), alone=True)


@dataclass(frozen=True)
class Listing(VerdictSchema[tuple[str, ...]]):
    r"""A list of short texts: the claims of an answer.

    Unlike a verdict, it may quote the material.

    >>> Listing().read("1. Paris is a city.\n2. It is in France.")
    ('Paris is a city.', 'It is in France.')
    """

    keys = ("claims", "statements", "items")
    json_type = list[str]
    explained = False

    @property
    def properties(self) -> dict[str, Any]:
        """A list of texts."""
        return {"claims": {"type": "array", "items": {"type": "string"}}}

    @property
    def words(self) -> tuple[str, ...]:
        """The word for an empty list."""
        return ("none",)

    def wording(self, *, explain: bool = False) -> str:
        """Return the request for a numbered list, or the word none."""
        return "Write them as a numbered list, one a line. If there is none, write: none"

    def _legal(self, value: list[str]) -> tuple[str, ...]:
        return tuple(claim.strip() for claim in value if claim.strip())

    def _of_text(self, text: str, material: Sequence[str]) -> tuple[str, ...]:
        found, _ = read_objects(text, self._of_json)
        if found:
            return last_verdict(text, found[-1:], ())
        bullets = tuple(match[1] for match in BULLET.finditer(text))
        if not bullets and not re.fullmatch(r"\W*none\W*", text, re.IGNORECASE):
            raise Unreadable("the reply holds no list")
        return bullets


@dataclass(frozen=True)
class Numbered(VerdictSchema[tuple[str, ...]]):
    r"""One choice for each of `count` numbered things.

    >>> Numbered(2).read("1: yes\n2: no")
    ('yes', 'no')
    """

    count: int = 1
    options: tuple[str, ...] = ("yes", "no")
    spellings: Mapping[str, tuple[str, ...]] | None = None
    json_type = dict[str, str | bool]
    explained = False

    @cached_property
    def choice(self) -> Choice:
        """The schema of a single verdict."""
        return Choice(self.options, self.spellings)

    @property
    def properties(self) -> dict[str, Any]:
        """One property per number, so that a server can enforce completeness."""
        choice = {"type": "string", "enum": list(self.options)}
        return {str(number): choice for number in range(1, self.count + 1)}

    @property
    def words(self) -> tuple[str, ...]:
        """The options."""
        return self.options

    def wording(self, *, explain: bool = False) -> str:
        """Return the request for one line per number."""
        words = " or ".join(self.options)
        return (
            f"Write {self.count} lines and nothing else, one per number, each of the form "
            f"`number: verdict`, where the verdict is {words}"
        )

    def _of_json(self, value: Any) -> tuple[str, ...] | None:
        by_number = typed(self.json_type, value) or {}
        return self._legal(by_number) if any(key.isdigit() for key in by_number) else None

    def _legal(self, by_number: Mapping[str, str | bool]) -> tuple[str, ...]:
        numbers = [str(number) for number in range(1, self.count + 1)]
        missing = [number for number in numbers if number not in by_number]
        if missing:
            raise Unreadable(f"no verdict for number {missing[0]} of {self.count}")
        return tuple(self.choice.option(by_number[number]) for number in numbers)

    def _of_text(self, text: str, material: Sequence[str]) -> tuple[str, ...]:
        found, _ = read_objects(text, self._of_json)
        if found:
            return last_verdict(text, found, material)
        by_number: dict[str, str] = {}
        pattern = f"{NUMBERED_LINE}{self.choice.any_spelling}"
        for match in re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE):
            if not any(match[0].strip() in source for source in material):
                verdict = self.choice.meanings[match[2].casefold()]
                if by_number.setdefault(match[1], verdict) != verdict:
                    raise Unreadable(f"several verdicts for number {match[1]} disagree")
        return self._legal(by_number)
