"""Schemas of verdicts on several things at once: a list of claims, or one choice per number."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar, Final

from pydantic import TypeAdapter, ValidationError

from ragstone.components.judges.reply_parsing import Unreadable, last_verdict, read_objects
from ragstone.components.judges.verdict_schemas import Choice, VerdictSchema

_BULLET: Final = re.compile(r"^\s*(?:[-*•]|\(?\d+[.):])\s+(\S.*?)\s*$", re.MULTILINE)
_NUMBERED_LINE: Final = r"^\W*(?:\w+\s+)?\[?#?(\d+)\]?\W+"


@dataclass(frozen=True)
class Listing(VerdictSchema[tuple[str, ...]]):
    r"""A list of short texts: the claims of an answer.

    Unlike a verdict, it may quote the material.

    >>> Listing().read("1. Paris is a city.\n2. It is in France.")
    ('Paris is a city.', 'It is in France.')
    """

    keys = ("claims", "statements", "items")
    json_type = TypeAdapter(list[str])
    explained: ClassVar[bool] = False

    @property
    def properties(self) -> dict[str, Any]:
        """A list of texts."""
        return {"claims": {"type": "array", "items": {"type": "string"}}}

    def wording(self, *, explain: bool = False) -> str:
        """Return the request for a numbered list, or the word none."""
        return "Write them as a numbered list, one a line. If there is none, write: none"

    def _legal(self, value: list[str]) -> tuple[str, ...]:
        return tuple(claim.strip() for claim in value if claim.strip())

    def _of_text(self, text: str, material: Sequence[str]) -> tuple[str, ...]:
        found, _ = read_objects(text, self._of_json)
        if found:
            return last_verdict(text, found[-1:], ())
        bullets = tuple(match[1] for match in _BULLET.finditer(text))
        if not bullets and not re.fullmatch(r"\W*none\W*", text, re.IGNORECASE):
            raise Unreadable("the reply holds no list")
        return bullets


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

    def _of_json(self, value: Any) -> tuple[str, ...] | None:
        try:
            by_number = _BY_NUMBER.validate_python(value)
        except ValidationError:
            return None
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
        pattern = f"{_NUMBERED_LINE}{self.choice.any_spelling}"
        for match in re.finditer(pattern, text, re.MULTILINE | re.IGNORECASE):
            if not any(match[0].strip() in source for source in material):
                verdict = self.choice.meanings[match[2].casefold()]
                if by_number.setdefault(match[1], verdict) != verdict:
                    raise Unreadable(f"several verdicts for number {match[1]} disagree")
        return self._legal(by_number)
