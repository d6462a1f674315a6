"""Verdicts from log-probabilities: the judges `equivalence` and `support`."""

from __future__ import annotations

import math
from typing import Any

import pytest
from tests.components.judges.test_judges import ITEM, MODEL, judge, one, says

from ragstone.calls.types import Reply, TokenLogprob
from ragstone.components.judges.logprob_base import Likelihood
from ragstone.components.judges.reply_parsing import Unreadable
from ragstone.errors import ConfigError


def likely(yes: float) -> Reply:
    """Return a reply whose first token is yes with a probability, else no."""
    top = (("Yes", math.log(yes)), ("no", math.log(1 - yes)))
    return Reply("Yes", "length", logprobs=(TokenLogprob("Yes", math.log(yes), top),))


def test_the_probability_is_that_of_the_first_option() -> None:
    """Spellings of a word add up; a reply without log-probabilities is unreadable."""
    assert Likelihood().parse(likely(0.7)) == pytest.approx(0.7)
    both = (("yes", math.log(0.3)), (" Yes", math.log(0.3)), ("no", math.log(0.2)))
    reply = Reply("yes", logprobs=(TokenLogprob("yes", math.log(0.3), both),))
    assert Likelihood().parse(reply) == pytest.approx(0.75)
    with pytest.raises(Unreadable, match="no log-probabilities"):
        Likelihood().parse(Reply("yes"))


def test_support_gives_the_largest_probability_and_the_mean_of_the_passages() -> None:
    """One token per passage is requested; the prompt is that of the method text."""
    calls, text = says(likely(0.9), likely(0.3)), says("yes", "no")

    found, said = one("support", calls, method="logprob"), one("support", text)

    assert found.value == pytest.approx(0.9)
    assert found.parts == {"support:share": pytest.approx(0.6)}
    assert (said.value, said.parts) == (1.0, {"support:share": 0.5})
    assert [r.messages for r in calls.asked] == [r.messages for r in text.asked]
    assert (calls.asked[0].sampling.max_tokens, calls.asked[0].sampling.logprobs) == (1, 20)


@pytest.mark.parametrize(
    ("yes", "value", "label"), [((0.9, 0.3, 0.6), 0.6, "yes"), ((0.6, 0.1, 0.2), 0.3, "no")]
)
def test_several_models_are_pooled_by_their_mean(
    yes: tuple[float, ...], value: float, label: str
) -> None:
    """The label is the mean's, not that of the first model; with text, the majority counts."""
    models = [{**MODEL, "model": name} for name in "abc"]
    item = type(ITEM)(ITEM.query, ITEM.answer, ITEM.passages[:1])

    found = one("support", says(*map(likely, yes)), item, model=models, method="logprob")

    assert found.value == pytest.approx(value)
    assert found.parts["support:share"] == pytest.approx(value)
    assert (found.label, len(found.values)) == (label, 3)
    assert one("support", says("yes", "no", "no"), item, model=models).value == 0.0


@pytest.mark.parametrize("name", ["equivalence", "support"])
@pytest.mark.parametrize("options", [{"explain": True}, {"structured": True}])
def test_the_first_token_must_be_the_verdict(name: str, options: dict[str, Any]) -> None:
    """A reason or JSON before the verdict is refused with the judge's name."""
    with pytest.raises(ConfigError, match=f"judge '{name}': method logprob"):
        judge(name, method="logprob", **options)
