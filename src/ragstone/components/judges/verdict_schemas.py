"""The forms a verdict can have: how each is asked for, as JSON schema and in words, and read."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final, Generic, TypeVar

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from ragstone.calls.types import Reply
from ragstone.components.judges.reply_parsing import (
    Found,
    Unreadable,
    last_verdict,
    outside,
    read_objects,
    spoken,
)
from ragstone.errors import ConfigError

T = TypeVar("T")

YES_NO: Final[Mapping[str, tuple[str, ...]]] = {
    "yes": ("yes", "true", "oui", "ja", "sí", "si", "sì", "sim", "да", "是", "はい", "예"),
    "no": ("no", "false", "non", "nein", "não", "нет", "否", "いいえ", "아니오"),
}
"""Verdict -> how it may be spelt; a judge that writes in another language is understood."""

_RATING_WORDS: Final = "rating|score|grade|bewertung|note|puntuación|punteggio|评分|得分|評価"
_VERDICT_WORDS: Final = (
    "verdict|answer|output|label|judgment|judgement|decision|conclusion|urteil|veredicto|結論|结论"
)
_DRESS: Final = r"[\s*_`'\"]*"
_INTRODUCED: Final = (
    r"(?:\b(?:{words})" + _DRESS + r"(?:is|[:：=])" + _DRESS + r"[\[{{(<]?)\s*$"  # noqa: RUF001 - the full-width colon of Chinese
)
_ENDED: Final = re.compile(
    r"[\s*_`'\"]*[\]})>]{0,2}[\s*_`'\"]*(?:$|(?<=\n)|[.,;!?:)\]}](?!\d)|[–—-]\s)"  # noqa: RUF001 - dashes
)
"""What may follow a verdict: the end of line or sentence, not a unit and not the next word."""
_BEFORE: Final = frozenset(":：=[{(<*_`'\"s")  # noqa: RUF001 - the full-width colon of Chinese
"""The last sign before a verdict that is introduced: a quick test, `s` being that of `is`."""
_LOOKS_BACK: Final = 30
_NUMBER: Final = re.compile(r"(\d+(?:[.,]\d+)?)(?:\s*(?:/|out\s+of)\s*(\d+))?")
_SENTENCE: Final = re.compile(r"[^.!?。\n]+")
_HEAD: Final = re.compile(r"[\W_]*([\w' ]+?)[*_`'\"\])} ]*(?=$|[,;:–—])")  # noqa: RUF001 - dashes


@dataclass(frozen=True)
class VerdictSchema(Generic[T]):
    """What all forms have in common."""

    key: ClassVar[str]

    def schema(self, *, explain: bool) -> dict[str, Any]:
        """Return the JSON schema of a reply; the reason stands first, so that it comes first."""
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
        """What the JSON object holds besides the reason."""
        raise NotImplementedError

    def wording(self, *, explain: bool = False) -> str:
        """Return how a model is told to write the verdict, after its reason or alone."""
        raise NotImplementedError

    explained: ClassVar[bool] = True
    """Whether a reason may stand before the verdict."""
    cut_is_whole: ClassVar[bool] = False
    """Whether a reply that stops at its token limit has said all it was asked for."""

    def of_reply(self, reply: Reply, material: Sequence[str] = ()) -> T:
        """Return the verdict of a reply, which here is that of its text."""
        return self.read(reply.text, material)

    def read(self, reply: str, material: Sequence[str] = ()) -> T:
        """Return the verdict of a reply.

        Args:
            reply: what the model wrote.
            material: the texts under judgement; no verdict is taken from a quotation of them.

        Raises:
            Unreadable: no verdict, one outside its scale, or several that disagree.
        """
        whole = self._whole(reply)
        if whole is not None:
            return whole
        text = spoken(reply, material)
        if not text.strip():
            raise Unreadable("the reply is empty")
        found, spans = read_objects(text, self._of_json)
        written = list(self._of_text(text))
        return last_verdict(text, [*found, *(outside(written, spans) if spans else written)],
                            material)  # fmt: skip

    def _whole(self, reply: str) -> T | None:
        """Return the verdict of a reply that is JSON alone: the common case, and the quick one."""
        text = reply.strip("` \n").removeprefix("json") if reply.startswith("```") else reply
        if not text.lstrip().startswith("{"):
            return None
        try:
            return self._of_json_text(text)
        except ValidationError:
            return None

    def _of_json_text(self, text: str) -> T | None:
        raise NotImplementedError

    def _of_json(self, value: Any) -> T | None:
        raise NotImplementedError

    def _of_text(self, text: str) -> Iterator[Found[T]]:
        raise NotImplementedError


class RatingReply(BaseModel):
    """A rating as JSON; models write numbers as text at times."""

    model_config = ConfigDict(extra="ignore")

    rating: float | str = Field(validation_alias=AliasChoices("rating", "score", "Rating"))


@dataclass(frozen=True)
class Rating(VerdictSchema[float]):
    """A number on a scale.

    >>> Rating(1, 10).read("3 out of 10 claims are unsupported. Rating: [[8]]")
    8.0
    """

    low: int = 1
    high: int = 10
    key: ClassVar[str] = "rating"

    @property
    def properties(self) -> dict[str, Any]:
        """A whole number on the scale."""
        return {"rating": {"type": "integer", "minimum": self.low, "maximum": self.high}}

    def wording(self, *, explain: bool = False) -> str:
        """Ask for a line with double brackets."""
        how = "End with one line" if explain else "Reply with one line and nothing else"
        return (
            f"{how}, the rating as a number from {self.low} to {self.high} in double brackets: "
            "Rating: [[number]]"
        )

    def share(self, rating: float) -> float:
        """Return the rating on a scale from 0 to 1."""
        return (rating - self.low) / (self.high - self.low)

    def _of_json_text(self, text: str) -> float | None:
        return self._rating(RatingReply.model_validate_json(text).rating)

    def _of_json(self, value: Any) -> float | None:
        try:
            return self._rating(RatingReply.model_validate(value).rating)
        except ValidationError:
            return None

    def _of_text(self, text: str) -> Iterator[Found[float]]:
        for match in _NUMBER.finditer(text):
            first = match.start()
            minus = "-" if text[first - 1 : first] == "-" else ""
            start = _introduced(text, first - len(minus), _BEFORE_RATING)
            if start is not None and _ENDED.match(text, match.end()):
                yield Found(self._checked(minus + match[1], match[2]), start, match.end())

    def _rating(self, held: float | str) -> float:
        if isinstance(held, str):
            match = _NUMBER.fullmatch(held.strip(" *[]"))
            if match is None:
                raise Unreadable(f"the rating is {held!r}, which is no number")
            checked = self._checked(match[1], match[2])
        else:
            checked = self._checked(str(held), None)
        if isinstance(checked, Unreadable):
            raise checked
        return checked

    def _checked(self, number: str, scale: str | None) -> float | Unreadable:
        value = float(number.replace(",", "."))
        if scale is not None and int(scale) != self.high:
            return Unreadable(f"the rating {number}/{scale} is not on the scale up to {self.high}")
        if not self.low <= value <= self.high:
            return Unreadable(f"the rating {number} lies outside {self.low} to {self.high}")
        return value


class ChoiceReply(BaseModel):
    """A choice as JSON."""

    model_config = ConfigDict(extra="ignore")

    verdict: str | bool = Field(
        validation_alias=AliasChoices("verdict", "label", "answer", "Verdict", "label_name")
    )


@dataclass(frozen=True)
class Choice(VerdictSchema[str]):
    r"""One of a few words.

    >>> Choice().read("**Yes**"), Choice().read("It says so twice.\n\nVerdict: no")
    ('yes', 'no')
    """

    options: tuple[str, ...] = ("yes", "no")
    spellings: Mapping[str, tuple[str, ...]] | None = None
    """Option -> further spellings; those of yes and no are known in some languages."""
    key: ClassVar[str] = "verdict"

    @property
    def properties(self) -> dict[str, Any]:
        """One of the options."""
        return {"verdict": {"type": "string", "enum": list(self.options)}}

    def wording(self, *, explain: bool = False) -> str:
        """Ask for one word, or for a line with the word `Verdict` after the reason."""
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
                if found.setdefault(spelling.casefold(), option) != option:
                    raise ConfigError(
                        f"{spelling!r} spells two verdicts, {found[spelling]} and {option}"
                    )
        return found

    @cached_property
    def _words(self) -> re.Pattern[str]:
        """Any spelling; that no letter precedes it is checked where one is found."""
        words = sorted(self.meanings, key=len, reverse=True)
        return re.compile(rf"(?:{'|'.join(map(re.escape, words))})(?!\w)")

    def read(self, reply: str, material: Sequence[str] = ()) -> str:
        """Return the option that a reply chooses; see `Form.read`."""
        quick = self.meanings.get(reply.strip(" \n\t.*_`'\"[](){}!").casefold())
        return quick or super().read(reply, material)

    def _of_json_text(self, text: str) -> str | None:
        return self._option(ChoiceReply.model_validate_json(text).verdict)

    def _of_json(self, value: Any) -> str | None:
        try:
            return self._option(ChoiceReply.model_validate(value).verdict)
        except ValidationError:
            return None

    def _option(self, held: str | bool) -> str:
        word = ("yes" if held else "no") if isinstance(held, bool) else held
        option = self.meanings.get(word.strip(" .*_`'\"[](){}!").casefold())
        if option is None:
            raise Unreadable(f"the verdict {word!r} is none of: {', '.join(self.options)}")
        return option

    def _of_text(self, text: str) -> Iterator[Found[str]]:
        lowered = text.lower()
        if len(lowered) != len(text):
            lowered = text
        held = list(self._introduced(lowered))
        return iter(held or self._alone(lowered))

    def _introduced(self, lowered: str) -> Iterator[Found[str]]:
        for match in self._words.finditer(lowered):
            start = _introduced(lowered, match.start(), _BEFORE_CHOICE)
            if start is not None and _ENDED.match(lowered, match.end()):
                yield Found(self.meanings[match[0]], start, match.end())

    def _alone(self, lowered: str) -> Iterator[Found[str]]:
        """Yield the options that are a whole sentence, or its beginning before a comma."""
        for sentence in _SENTENCE.finditer(lowered):
            head = _HEAD.match(lowered, sentence.start(), sentence.end())
            if head and (option := self.meanings.get(head[1])):
                yield Found(option, head.start(1), head.end(1), alone=True)


def _introduced(text: str, place: int, pattern: re.Pattern[str]) -> int | None:
    """Return where the words begin that introduce a verdict at `place`; None where none do."""
    before = text[max(0, place - _LOOKS_BACK) : place]
    tail = before.rstrip()
    if not tail or tail[-1] not in _BEFORE:
        return None
    if tail.endswith("[["):
        return place - len(before) + len(tail) - 2
    match = pattern.search(before)
    return place - len(before) + match.start() if match else None


_BEFORE_RATING: Final = re.compile(_INTRODUCED.format(words=_RATING_WORDS), re.IGNORECASE)
_BEFORE_CHOICE: Final = re.compile(_INTRODUCED.format(words=_VERDICT_WORDS), re.IGNORECASE)
