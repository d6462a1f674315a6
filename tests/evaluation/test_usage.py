"""Usage of answers: a latency counts unless calls waited in this process."""

from __future__ import annotations

import pytest

from ragstone.core import limits
from ragstone.core.schemas import predictions_to_table, table_to_predictions
from ragstone.evaluation.answered import not_known
from ragstone.evaluation.usage import unmeasurable, usage_of
from ragstone.types import Prediction


def answers(seconds: float, queued: float | None) -> list[Prediction]:
    """Return ten equal answers."""
    return [Prediction(str(n), "Lima", seconds=seconds, queued=queued) for n in range(10)]


def test_the_delay_of_the_client_stands_beside_the_latency() -> None:
    """A short delay is shown, and the latency too."""
    row = usage_of(answers(1.0, 0.01))

    assert (row.seconds_p50, row.seconds_p95) == (1.0, 1.0)
    assert row.queued_p50 == pytest.approx(0.01)
    assert row.queued_p95 == pytest.approx(0.01)
    assert row.not_measurable == ""


def test_a_latency_is_not_measurable_if_calls_waited_here() -> None:
    """The number is withheld, with the reason; the answers remain timed."""
    row = usage_of(answers(0.2, 0.15))

    assert (row.seconds_p50, row.seconds_p95, row.timed) == (None, None, 10)
    assert row.queued_p95 == pytest.approx(0.15)
    assert row.not_measurable.startswith("not measurable: calls waited up to 150 ms")
    assert not_known(answers(0.2, 0.15))["seconds"] == row.not_measurable


def test_the_bound_is_a_share_of_the_latency_and_never_below_a_small_delay() -> None:
    """Both limits count; an unknown delay withholds nothing."""
    share, least = limits.MAX_QUEUED_SHARE, limits.MIN_QUEUED_SECONDS

    assert not unmeasurable(1.0, share)
    assert unmeasurable(1.0, share * 1.01)
    assert not unmeasurable(least, least)
    assert not unmeasurable(1.0, None)
    assert not unmeasurable(None, 5.0)


def test_results_of_an_earlier_version_have_no_delay() -> None:
    """Without a known delay the table is as it was; with one it is read back."""
    assert "queued" not in predictions_to_table(answers(0.2, None)).column_names
    known = answers(0.2, 0.15)
    assert table_to_predictions(predictions_to_table(known)) == known
    assert usage_of(answers(0.2, None)).seconds_p50 == pytest.approx(0.2)
