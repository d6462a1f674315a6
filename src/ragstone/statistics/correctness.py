"""When an answer is correct: by a 0/1 metric, or by a threshold of a graded one."""

from __future__ import annotations

import math
import operator
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Final, Literal, Self, TypeAlias, cast

from ragstone.errors import ConfigError, DatasetError

Operator: TypeAlias = Literal[">=", "<=", ">", "<"]
_HOLDS: Final[Mapping[str, Callable[[float, float], bool]]] = {
    ">=": operator.ge,
    "<=": operator.le,
    ">": operator.gt,
    "<": operator.lt,
}
_RULE: Final = re.compile(r"(?P<metric>.+)(?P<operator>[<>]=?)\s*(?P<number>[^<>]*)")


@dataclass(frozen=True, slots=True)
class Correctness:
    """The rule that calls an answer correct.

    Args:
        metric: name of the metric.
        operator: comparison of the metric's value with the threshold; None if the value itself is
            1 for a correct answer and 0 for a wrong one.
        threshold: the number on the right of the operator.

    >>> rule = Correctness.parse("F1 >= 0.5")
    >>> str(rule), rule.label(0.8), rule.label(0.2), rule.label(None)
    ('F1 >= 0.5', 1.0, 0.0, None)
    """

    metric: str
    operator: Operator | None = None
    threshold: float | None = None

    @classmethod
    def parse(cls, text: str) -> Self:
        """Return the rule that a text such as `Match` or `F1 >= 0.5` states.

        Raises:
            ConfigError: the text has an operator, but no metric or no number.
        """
        if not re.search("[<>]", text):
            return cls(text.strip())
        found = _RULE.fullmatch(text.strip())
        try:
            number = float(found["number"].removeprefix("=")) if found else math.nan
        except ValueError:
            number = math.nan
        if found is None or not math.isfinite(number):
            raise ConfigError(
                f"{text!r} is not a rule for correct answers; write METRIC or METRIC >= NUMBER "
                "(also <=, > and <), such as F1 >= 0.5",
                value=text,
            )
        return cls(found["metric"].rstrip(), cast("Operator", found["operator"]), number)

    def __str__(self) -> str:
        """Return the rule as it is written in an experiment file."""
        return self.metric if self.threshold is None else f"{self.metric} {self.condition}"

    @property
    def condition(self) -> str:
        """The operator and the threshold, such as `>= 0.5`; "" without a threshold."""
        return "" if self.threshold is None else f"{self.operator} {self.threshold:g}"

    def among(self, names: Iterable[str]) -> Self | None:
        """Return the rule with the metric's name as `names` has it; None if no name fits.

        >>> Correctness("label(yes, no)").among(["EM", "label(yes,no)"])
        Correctness(metric='label(yes,no)', operator=None, threshold=None)
        """
        known = {_plain(name): name for name in names}
        name = known.get(_plain(self.metric))
        return None if name is None else replace(self, metric=name)

    def label(self, value: float | None) -> float | None:
        """Return 1.0 if a value means a correct answer, 0.0 if not, None for None.

        Raises:
            DatasetError: there is no threshold, and the value is neither 0 nor 1.
        """
        if value is None:
            return None
        if self.operator is not None and self.threshold is not None:
            return float(_HOLDS[self.operator](value, self.threshold))
        if value not in (0, 1):
            raise DatasetError(
                f"the value {value:g} of {self.metric} is neither 1 (correct) nor 0 (wrong); "
                f"give a threshold, such as correct: '{self.metric} >= 0.5'"
            )
        return float(value)

    def labels(self, values: Mapping[str, float | None]) -> dict[str, float | None]:
        """Return query id -> label of each value."""
        return {query_id: self.label(value) for query_id, value in values.items()}


def _plain(name: str) -> str:
    return "".join(name.split())
