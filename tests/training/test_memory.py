"""The memory of a step, against sums by hand."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.fakes.tiny_chat_model import tiny_chat_model
from tests.fakes.tiny_learner import rows, tiny_learner, weights

from ragstone.training.causal import CausalLearner
from ragstone.training.examples import Example
from ragstone.training.memory import StepMemory, free_memory, parameters, step_memory
from ragstone.training.recipe import Optim, Recipe
from ragstone.training.weights import with_adapter

pytestmark = pytest.mark.needs("torch", "safetensors", "transformers")


def test_weights_gradients_and_moments_are_counted() -> None:
    """Four bytes each: a gradient and two moments per trained weight."""
    learner = tiny_learner()
    count = 8 * 16 + 16 + 16 * 2 + 2
    found = step_memory(learner, rows(4))
    assert parameters(learner.model) == count
    assert found.weights == found.gradients == 4 * count
    assert found.moments == 8 * count
    learner.model[0].requires_grad_(False)
    assert step_memory(learner, rows(4)).gradients == 4 * (16 * 2 + 2)


def test_activations_grow_with_the_examples() -> None:
    """Input, dropout's mask, hidden layer and scores are kept; weights are not counted."""
    learner = tiny_learner(dropout=0.0)
    few, many = (step_memory(learner, rows(count)) for count in (100, 200))
    assert many.activations == pytest.approx(2 * few.activations, rel=0.01)
    # 8 inputs, 16 hidden values, 2 scores and a label of 8 bytes; half again for the heap.
    assert few.activations == pytest.approx(1.5 * 100 * (8 + 16 + 2 + 2) * 4, rel=0.1)


def test_a_measurement_changes_nothing() -> None:
    """Weights, gradients and random numbers stay."""
    import torch

    learner = tiny_learner()
    before, state = weights(learner), torch.get_rng_state()
    step_memory(learner, rows(4))
    assert weights(learner) == before
    assert torch.equal(torch.get_rng_state(), state)
    assert all(p.grad is None for p in learner.model.parameters())


def test_totals_and_free_memory() -> None:
    """The loaded weights are not needed again."""
    one = StepMemory(100, 1, 2, 3, 4)
    assert (one.beyond_weights, one.total) == (10, 110)
    free = free_memory("cpu")
    assert free is None or free > 0


@pytest.mark.needs("peft")
def test_checkpointing_keeps_less_and_stays_on(tmp_path: Path) -> None:
    """One layer of two is computed again at a time."""
    from transformers import AutoModelForCausalLM

    found = []
    for on in (False, True):
        recipe = Recipe(base="x", data="x", output="x", optim=Optim(checkpointing=on))
        base = AutoModelForCausalLM.from_pretrained(tiny_chat_model(tmp_path / "base"))
        learner = CausalLearner(with_adapter(base, recipe), 2, recipe)
        examples = [Example(tuple(range(10, 200)), (41, 1))] * 3
        found.append(step_memory(learner, examples))
        marked = [m for m in base.modules() if getattr(m, "gradient_checkpointing", False)]
        assert bool(marked) == on
    whole, again = found
    assert again.activations < 0.5 * whole.activations
    assert again.beyond_weights < whole.beyond_weights
    assert again.gradients == whole.gradients
