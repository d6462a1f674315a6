"""checks: the checks that a row of the data carries for its own answer."""

from __future__ import annotations

import json
import unicodedata
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any, ClassVar, Final, NamedTuple

from ragstone.components.metrics.base import AnswerMetric, Scored
from ragstone.core import limits
from ragstone.errors import ConfigError, DatasetError, MissingDependency, did_you_mean

if TYPE_CHECKING:
    from ragstone.components.metrics.answer_batch import AnswerBatch
    from ragstone.components.metrics.arrays import Values
    from ragstone.types import Label, Prediction, Query, Status

LABEL: Final = "checks"
"""The label of a query that lists its checks."""
_EXTRA: Final = "checks"
_SPENT: Final = {"max_latency": ("seconds", "latency"), "max_cost": ("cost", "cost")}
"""Kind -> the field of a prediction that must not exceed the value, and its name in messages."""


class Check(NamedTuple):
    """One check of a row: `KIND: VALUE`."""

    kind: str
    value: Any

    def __str__(self) -> str:
        """Return the check as a line."""
        return f"{self.kind}: {self.value}"

    def holds(self, prediction: Prediction) -> bool | None:
        """Return whether an answer passes; None if its latency or its cost is not known."""
        if self.kind in _SPENT:
            spent = getattr(prediction, _SPENT[self.kind][0])
            return None if spent is None else bool(spent <= self.value)
        return _HOLDS[self.kind](self.value, prediction.answer or "")


def _folded(text: str) -> str:
    return " ".join(unicodedata.normalize("NFKC", text).casefold().split())


def _contains(value: str, answer: str) -> bool:
    return _folded(value) in _folded(answer)


def _matches(pattern: str, answer: str) -> bool:
    """Return whether a pattern occurs; a search that takes too long raises `TimeoutError`."""
    return _compiled(pattern).search(answer, timeout=limits.MAX_REGEX_SECONDS) is not None


def _fits_schema(schema: str, answer: str) -> bool:
    validator = _validator(schema)
    from referencing.exceptions import Unresolvable

    try:
        return bool(validator.is_valid(json.loads(answer)))
    except (ValueError, RecursionError):
        return False
    except Unresolvable as error:
        raise DatasetError(f"the JSON schema cannot be applied: {error}", value=schema) from error


_HOLDS: Final[Mapping[str, Callable[[str, str], bool]]] = {
    "contains": _contains,
    "not_contains": lambda value, answer: not _contains(value, answer),
    "regex": _matches,
    "json_schema": _fits_schema,
}
KINDS: Final = (*_HOLDS, *_SPENT)


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> Any:
    try:
        import regex
    except ImportError as error:
        raise MissingDependency("the check regex", "regex", _EXTRA) from error
    try:
        return regex.compile(pattern)
    except regex.error as error:
        raise DatasetError(f"the regex {pattern!r} is malformed: {error}", value=pattern) from error


@lru_cache(maxsize=256)
def _validator(schema: str) -> Any:
    try:
        from jsonschema import Draft202012Validator, SchemaError
        from referencing import Registry
    except ImportError as error:
        raise MissingDependency("the check json_schema", "jsonschema", _EXTRA) from error
    try:
        document = json.loads(schema)
        Draft202012Validator.check_schema(document)
    except (ValueError, RecursionError, SchemaError) as error:
        why = str(error).splitlines()[0]
        raise DatasetError(f"the JSON schema {schema!r} is malformed: {why}") from error
    # An empty registry: a reference to an address is never fetched.
    return Draft202012Validator(document, registry=Registry())


@lru_cache(maxsize=8192)
def parse_check(line: str) -> Check:
    """Return the check of a line.

    >>> parse_check("max_latency: 2.5")
    Check(kind='max_latency', value=2.5)

    Raises:
        DatasetError: an unknown kind, or a value that does not fit it.
    """
    kind, _, value = (part.strip() for part in line.partition(":"))
    if kind not in KINDS:
        raise DatasetError(
            f"unknown check {line!r}{did_you_mean(kind, KINDS)}; write KIND: VALUE, where KIND is "
            f"one of {', '.join(KINDS)}",
            value=line,
        )
    if not value:
        raise DatasetError(f"the check {line!r} has no value; write {kind}: VALUE", value=line)
    if kind in _SPENT:
        return Check(kind, _amount(kind, value))
    if kind == "regex":
        _compiled(value)
    if kind == "json_schema":
        _validator(value)
    return Check(kind, value)


def _amount(kind: str, written: str) -> float:
    try:
        amount = float(written)
    except ValueError:
        amount = -1.0
    if not 0 <= amount < float("inf"):
        raise DatasetError(
            f"the check {kind!r} needs a number of 0 or more, found {written!r}", value=written
        )
    return amount


def checks_of(labels: Mapping[str, Label]) -> list[Check]:
    r"""Return the checks of a query: a list of lines, or a text with one check per line.

    >>> [str(c) for c in checks_of({"checks": "contains: Lima\nmax_cost: 0.01"})]
    ['contains: Lima', 'max_cost: 0.01']
    """
    written = labels.get(LABEL, ())
    lines = written if isinstance(written, tuple) else str(written).splitlines()
    return [parse_check(line.strip()) for line in lines if line.strip()]


def check_metrics_of(queries: Iterable[Query]) -> list[str]:
    """Return the names of the metrics for the checks of some queries.

    Raises:
        DatasetError: a check is malformed; the error names its query.
    """
    kinds = {check.kind for query in queries for check in _read(query)}
    each = [f"{RowChecks.name}({kind})" for kind in KINDS if kind in kinds]
    return [RowChecks.name, *(each if len(each) > 1 else ())] if each else []


def _read(query: Query) -> list[Check]:
    try:
        return checks_of(query.labels)
    except DatasetError as error:
        raise DatasetError(f"query {query.query_id!r}: {error}", value=error.value) from error


@dataclass(frozen=True)
class RowChecks(AnswerMetric):
    """1 if the answer passes all checks that its query carries in the field `checks`, else 0.

    A check is a line `KIND: VALUE`. `contains` and `not_contains` look for a text and ignore case
    and white space; `regex` searches a pattern and sees case; `json_schema` needs an answer in JSON
    that fits the schema (draft 2020-12); `max_latency` (seconds) and `max_cost` bound the
    answer's time and cost, as reported by the system or measured from the call.

    A query without a check is not applicable, and so is one whose latency or cost is not known
    unless another check fails.

    Formula: 1 if every check passes.

    Source: Ragstone's own rule (2026).

    Trap: queries without checks are left out of the mean.

    Args:
        kind: only the checks of this kind, such as `checks(contains)`.
    """

    kind: str = ""

    name: ClassVar[str] = "checks"
    graded: ClassVar[bool] = False
    requires: ClassVar[frozenset[str]] = frozenset({"checks"})
    description: ClassVar[str] = (
        "1 if the answer passes all checks that its query carries (contains, not_contains, regex, "
        "json_schema, max_latency, max_cost), else 0."
    )

    def __post_init__(self) -> None:
        """Raise `ConfigError` for an unknown kind."""
        if self.kind and self.kind not in KINDS:
            raise ConfigError(
                f"unknown kind of check {self.kind!r}{did_you_mean(self.kind, KINDS)}"
            )

    def __str__(self) -> str:
        """Return the canonical name."""
        return f"{self.name}({self.kind})" if self.kind else self.name

    def data_notes(self, dataset: Any) -> Iterator[str]:
        """Check every line before anything is asked; raise `DatasetError` if one is malformed."""
        check_metrics_of(dataset.queries)
        yield from ()

    def values(self, pairs: AnswerBatch) -> Values:
        """Return 1 or 0 per pair."""
        return self.scored(pairs).values

    def scored(self, pairs: AnswerBatch) -> Scored:
        """Return the values, with the failed checks as reasons."""
        import numpy as np

        pairs_of = zip(pairs.query_labels, pairs.predictions, strict=True)
        cells = [self._cell(checks_of(labels), prediction) for labels, prediction in pairs_of]

        def reasons(status: Status) -> dict[int, str]:
            return {i: why for i, (_, held, why) in enumerate(cells) if held == status and why}

        values = np.array([value for value, _, _ in cells], float)
        return Scored(
            values, reasons("not_applicable"), reasons("unscored"), remarks=reasons("scored")
        )

    def _cell(self, checks: Sequence[Check], prediction: Prediction) -> tuple[float, Status, str]:
        """Return the value of one answer, its status and a reason."""
        mine = [check for check in checks if self.kind in ("", check.kind)]
        try:
            found = [check.holds(prediction) for check in mine]
        except TimeoutError:
            return 0.0, "unscored", f"a regex took longer than {limits.MAX_REGEX_SECONDS:g} s"
        except DatasetError as error:
            return 0.0, "unscored", str(error)
        failed = [str(check) for check, held in zip(mine, found, strict=True) if held is False]
        if failed:
            return 0.0, "scored", f"not passed: {'; '.join(failed)}"
        if not mine:
            return 0.0, "not_applicable", f"the query has no check {self.kind}".strip()
        unknown = [check.kind for check, held in zip(mine, found, strict=True) if held is None]
        if unknown:
            _, amount = _SPENT[unknown[0]]
            return 0.0, "not_applicable", f"{unknown[0]}: the answer's {amount} is not known"
        return 1.0, "scored", ""
