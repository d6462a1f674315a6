"""conditioned: another judge's value, adjusted by whether the query can be answered.

Katsis et al., MTRAG, TACL 2025, section 6.3.3. In the tables, a number is the score, `keep` keeps
the judge's own value, and `leave out` makes the query not applicable.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Final, Literal, cast

from ragstone.components.judges.verdict import Item, Verdict, VerdictJudge, verdicts_of
from ragstone.core.component import NOT_IN_CACHE_KEY
from ragstone.core.fingerprint import cache_key_parts
from ragstone.core.registry import create
from ragstone.core.spec import ComponentSpec
from ragstone.errors import ConfigError, did_you_mean
from ragstone.protocols import Judge, Services

Variant = Literal["script", "released", "corrected"]
Cell = float | Literal["keep", "leave out"]

KEEP: Final = "keep"
OUT: Final = "leave out"

_ANSWERABLE: Final[dict[str, Cell]] = {"yes": 0.0, "partial": KEEP, "no": KEEP}
_UNANSWERABLE: Final[dict[str, Cell]] = {"yes": 1.0, "partial": 0.0, "no": 0.0}
_ALL: Final = {
    "ANSWERABLE": _ANSWERABLE,
    # Keeps its value if the answer declines the part that cannot be answered.
    "PARTIAL": _ANSWERABLE,
    "UNANSWERABLE": _UNANSWERABLE,
    "UNDERSPECIFIED": _UNANSWERABLE,
}

TABLES: Final[Mapping[str, Mapping[str, Mapping[str, Cell]]]] = {
    # The published script: an answer to a greeting should decline.
    "script": {**_ALL, "CONVERSATIONAL": _UNANSWERABLE},
    # The released scores: all conversational turns have 1.
    "released": {**_ALL, "CONVERSATIONAL": {"yes": 1.0, "partial": 1.0, "no": 1.0}},
    # The paper: conversational turns do not count.
    "corrected": {**_ALL, "CONVERSATIONAL": {"yes": OUT, "partial": OUT, "no": OUT}},
}
"""Variant -> answerability -> verdict of the idk judge -> score.

For UNDERSPECIFIED queries (MTRAG-UN), `yes` is the verdict that the answer asks for clarification.
"""


@dataclass(frozen=True)
class Conditioned(VerdictJudge):
    """The judge's value, or 0 or 1 by a table of `TABLES`.

    Queries carry the label `answerability`; a query without it keeps its value. The judge runs only
    if its value is kept.

    Args:
        of: the judge whose value is adjusted: `RB_llm`, `{name: RL_F, model: ...}`.
        idk: the judge that finds refusals.
        variant: `corrected`, or mtRAG's `script` or `released`.
        label: the label of queries with their answerability.
    """

    of: ComponentSpec = field(default="RB_llm", metadata=NOT_IN_CACHE_KEY)
    idk: ComponentSpec = field(default="idk", metadata=NOT_IN_CACHE_KEY)
    variant: Variant = "corrected"
    label: str = "answerability"

    def __post_init__(self) -> None:
        """Resolve both judges while the experiment file's folder is known."""
        _ = self.inner, self.detector

    def __str__(self) -> str:
        """Return the metric's name."""
        variant = "" if self.variant == "corrected" else f"={self.variant}"
        return f"{self.inner}(conditioned{variant})"

    @property
    def content_revision(self) -> Any:
        """The cache key parts of both judges."""
        return [cache_key_parts(self.inner), cache_key_parts(self.detector)]

    @property
    def needs_model(self) -> bool:
        """Whether one of the judges calls a model."""
        return self.inner.needs_model or self.detector.needs_model

    @cached_property
    def inner(self) -> Judge:
        """The judge whose value is adjusted."""
        return cast("Judge", create("judges", self.of, where="judge 'conditioned', of"))

    @cached_property
    def detector(self) -> Judge:
        """The judge that finds refusals."""
        return cast("Judge", create("judges", self.idk, where="judge 'conditioned', idk"))

    @property
    def templates(self) -> Mapping[str, str]:
        """Name -> text of the templates of both judges."""
        named = {"of": self.inner.templates, "idk": self.detector.templates}
        return {f"{name}.{k}": text for name, own in named.items() for k, text in own.items()}

    @property
    def named_prompt(self) -> Mapping[str, Any]:
        """The prompt of the judge whose value is adjusted, with that of the other as `idk`."""
        idk = self.detector.named_prompt
        return {**self.inner.named_prompt, **({"idk": idk} if idk else {})}

    def check(self, services: Services) -> None:
        """Check both judges."""
        self.inner.check(services)
        self.detector.check(services)

    def cost(self, n_queries: int, n_passages: int) -> int:
        """Return the calls of both judges."""
        return sum(judge.cost(n_queries, n_passages) for judge in (self.inner, self.detector))

    def verdicts(self, items: Sequence[Item], services: Services) -> list[Verdict]:
        """Return one verdict per item, in order."""
        refusals = verdicts_of(self.detector, items, services)
        settled = [self._settled(i, r) for i, r in zip(items, refusals, strict=True)]
        open_items = [item for item, known in zip(items, settled, strict=True) if known is None]
        found = iter(verdicts_of(self.inner, open_items, services))
        return [
            known or _with_detection(next(found), idk)
            for known, idk in zip(settled, refusals, strict=True)
        ]

    def _settled(self, item: Item, idk: Verdict) -> Verdict | None:
        """Return the verdict from the table; None if the judge's own value counts."""
        answerability = item.query.labels.get(self.label)
        if idk.status == "failed":
            return replace(idk, value=None, reason=f"idk: {idk.reason}")
        if idk.status == "not_applicable" or answerability is None:
            return None
        found = cell(str(answerability), idk.label, self.variant)
        if found == KEEP:
            return None
        reason = f"{answerability}, idk {idk.label}{': left out' if found == OUT else ''}"
        value = None if found == OUT else float(found)
        return _with_detection(Verdict.settled(item, reason, value), idk)


def _with_detection(verdict: Verdict, idk: Verdict) -> Verdict:
    """Return a verdict with the cost of the refusal's detection added."""
    return replace(
        verdict,
        cost=verdict.cost + idk.cost,
        asked=verdict.asked or idk.asked,
        retry=verdict.retry or idk.retry,
    )


def cell(answerability: str, idk: str, variant: str = "corrected") -> Cell:
    """Return the adjusted score, or whether to keep or leave out the value.

    >>> cell("PARTIAL", "partial"), cell("UNANSWERABLE", "yes"), cell("CONVERSATIONAL", "no")
    ('keep', 1.0, 'leave out')

    Raises:
        ConfigError: the variant, answerability or verdict is unknown.
    """
    if variant not in TABLES:
        raise ConfigError(f"conditioning {variant!r}{did_you_mean(variant, TABLES)}")
    table = TABLES[variant]
    label = answerability.upper()
    if label not in table:
        raise ConfigError(f"answerability {answerability!r}{did_you_mean(label, table)}")
    if idk not in table[label]:
        raise ConfigError(f"idk verdict {idk!r}{did_you_mean(idk, table[label])}")
    return table[label][idk]
