"""Schemas of verdicts on several things at once: a list of claims, or one choice per number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ragstone.components.judges.reply_parsing import Unreadable, last_verdict, read_objects, spoken
from ragstone.components.judges.verdict_schemas import Choice, VerdictSchema

_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\(?\d+[.):])\s+(\S.*?)\s*$", re.MULTILINE)
_NUMBERED_LINE: Final = r"^\W*(?:\w+\s+)?\[?#?(\d+)\]?\W+"


class ListReply(BaseModel):
    """A list of texts as JSON."""

    model_config = ConfigDict(extra="ignore")

    claims: list[str] = Field(validation_alias=AliasChoices("claims", "statements", "items"))


@dataclass(frozen=True)
class Listing(VerdictSchema[tuple[str, ...]]):
    r"""A list of short texts: the claims of an answer.

    >>> Listing().read("1. Paris is a city.\n2. It lies on the Seine.")
    ('Paris is a city.', 'It lies on the Seine.')
    """

    key: ClassVar[str] = "claims"
    explained: ClassVar[bool] = False

    @property
    def properties(self) -> dict[str, Any]:
        """A list of texts."""
        return {"claims": {"type": "array", "items": {"type": "string"}}}

    def wording(self, *, explain: bool = False) -> str:
        """Return the request for a numbered list, or the word none."""
        return "Write them as a numbered list, one a line. If there is none, write: none"

    def read(self, reply: str, material: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the texts; unlike a verdict, a list may quote the material."""
        verdict = self._of_json_alone(reply)
        if verdict is not None:
            return verdict
        text = spoken(reply, material)
        found, _ = read_objects(text, self._of_json)
        if found:
            return last_verdict(text, found[-1:], ())
        bullets = tuple(match[1] for match in _BULLET.finditer(text))
        if not bullets and not re.fullmatch(r"\W*none\W*", text, re.IGNORECASE):
            raise Unreadable("the reply holds no list")
        return bullets

    def _of_json_text(self, text: str) -> tuple[str, ...] | None:
        return tuple(c.strip() for c in ListReply.model_validate_json(text).claims if c.strip())

    def _of_json(self, value: Any) -> tuple[str, ...] | None:
        try:
            claims = ListReply.model_validate(value).claims
        except ValidationError:
            return None
        return tuple(claim.strip() for claim in claims if claim.strip())


_BY_NUMBER: Final = TypeAdapter(dict[str, str | bool])


@dataclass(frozen=True)
class Numbered(VerdictSchema[tuple[str, ...]]):
    r"""One choice for each of `count` numbered things.

    >>> Numbered(2).read("1: yes\n2: no")
    ('yes', 'no')
    """

    count: int = 1
    options: tuple[str, ...] = ("yes", "no")
    spellings: Mapping[str, tuple[str, ...]] | None = None
    key: ClassVar[str] = "verdicts"
    explained: ClassVar[bool] = False

    @cached_property
    def choice(self) -> Choice:
        """The schema of a single verdict."""
        return Choice(self.options, self.spellings)

    @property
    def properties(self) -> dict[str, Any]:
        """One property per number, so that a server can enforce completeness."""
        choice = {"type": "string", "enum": list(self.options)}
        return {str(number): choice for number in range(1, self.count + 1)}

    def wording(self, *, explain: bool = False) -> str:
        """Return the request for one line per number."""
        words = " or ".join(self.options)
        return (
            f"Write {self.count} lines and nothing else, one per number, each of the form "
            f"`number: verdict`, where the verdict is {words}"
        )

    def read(self, reply: str, material: Sequence[str] = ()) -> tuple[str, ...]:
        """Return the verdicts in the order of their numbers; see `VerdictSchema.read`."""
        verdict = self._of_json_alone(reply)
        if verdict is not None:
            return verdict
        text = spoken(reply, material)
        found, _ = read_objects(text, self._of_json)
        return last_verdict(text, found, material) if found else self._lines(text, material)

    def _of_json_text(self, text: str) -> tuple[str, ...] | None:
        return self._numbered(_BY_NUMBER.validate_json(text))

    def _of_json(self, value: Any) -> tuple[str, ...] | None:
        try:
            by_number = _BY_NUMBER.validate_python(value)
        except ValidationError:
            return None
        return self._numbered(by_number) if any(key.isdigit() for key in by_number) else None

    def _numbered(self, by_number: Mapping[str, str | bool]) -> tuple[str, ...]:
        numbers = [str(number) for number in range(1, self.count + 1)]
        missing = [number for number in numbers if number not in by_number]
        if missing:
            raise Unreadable(f"no verdict for number {missing[0]} of {self.count}")
        return tuple(self.choice.option(by_number[number]) for number in numbers)

    def _lines(self, text: str, material: Sequence[str]) -> tuple[str, ...]:
        words = "|".join(re.escape(w) for w in sorted(self.choice.meanings, key=len, reverse=True))
        pattern = rf"{_NUMBERED_LINE}({words})(?!\w)"
        found: dict[str, set[str]] = {}
        for match in re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE):
            if not any(match[0].strip() in source for source in material):
                found.setdefault(match[1], set()).add(self.choice.meanings[match[2].casefold()])
        for number, verdicts in found.items():
            if len(verdicts) > 1:
                raise Unreadable(f"several verdicts for number {number} disagree")
        return self._numbered({number: verdicts.pop() for number, verdicts in found.items()})
