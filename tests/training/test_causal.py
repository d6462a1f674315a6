"""The loss of a causal model: packing and padding agree, and prompts have no loss."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.tiny_chat_model import tiny_chat_model

from ragstone.errors import ConfigError
from ragstone.training.causal import CausalLearner
from ragstone.training.examples import Example, padded
from ragstone.training.recipe import Optim, Recipe
from ragstone.training.weights import compute_again

pytestmark = pytest.mark.needs("torch", "transformers")
EXAMPLES = [
    Example(tuple(range(10, 40)), (41, 42, 1)),
    Example(tuple(range(60, 70)), (71, 1)),
    Example((80, 81), (82, 83, 84, 1)),
]


def learner(folder: Path, **optim: Any) -> CausalLearner:
    """Return a learner of a tiny model."""
    import torch
    from transformers import AutoModelForCausalLM

    torch.set_num_threads(1)
    if not (folder / "base").exists():
        tiny_chat_model(folder / "base")
    model = AutoModelForCausalLM.from_pretrained(folder / "base").eval()
    recipe = Recipe(base="x", data="x", output="x", optim=Optim(**optim))
    return CausalLearner(model, 2, recipe)


def test_the_loss_is_that_of_each_example_alone(tmp_path: Path) -> None:
    """In a padded batch and in a packed row, and as torch computes it by hand."""
    import torch

    made = learner(tmp_path)
    alone = sum(float(made.loss([one]).detach()) for one in EXAMPLES)
    packing = replace(made, recipe=replace(made.recipe, optim=Optim(packing=True)))
    assert float(made.loss(EXAMPLES).detach()) == pytest.approx(alone, rel=1e-5)
    assert float(packing.loss(EXAMPLES).detach()) == pytest.approx(alone, rel=1e-5)

    one = EXAMPLES[0]
    with torch.no_grad():
        logits = made.model(torch.tensor([[*one.prompt, *one.target]])).logits[0]
    scores = logits.log_softmax(-1)
    first = len(one.prompt)
    by_hand = -sum(float(scores[first - 1 + n, token]) for n, token in enumerate(one.target))
    assert float(made.loss([one]).detach()) == pytest.approx(by_hand, rel=1e-5)
    assert made.targets(EXAMPLES) == 9


def test_bfloat16_and_checkpointing_keep_the_gradient(tmp_path: Path) -> None:
    """Checkpointing exactly; 16 bits nearly."""
    import torch

    def gradient(**optim: Any) -> torch.Tensor:
        made = learner(tmp_path, **{k: v for k, v in optim.items() if k != "checkpointing"})
        made.model.train()
        if optim.get("checkpointing"):
            compute_again(made.model)
        made.loss(EXAMPLES).backward()
        return torch.cat([p.grad.flatten() for p in made.model.parameters()])

    plain = gradient()
    assert torch.allclose(gradient(checkpointing=True), plain, atol=1e-6)
    half = gradient(dtype="bfloat16")
    assert float(torch.nn.functional.cosine_similarity(half, plain, dim=0)) > 0.99


def opt(folder: Path, **optim: Any) -> CausalLearner:
    """Return a learner of a model that ignores where a packed example begins."""
    import torch
    from tests.fakes.tiny_chat_model import tiny_tokenizer
    from transformers import OPTConfig, OPTForCausalLM

    torch.manual_seed(0)
    config = OPTConfig(
        vocab_size=300, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, ffn_dim=64,
        max_position_embeddings=128, word_embed_proj_dim=32, pad_token_id=2,
    )  # fmt: skip
    recipe = Recipe(base="opt", data="x", output=str(folder), optim=Optim(**optim))
    return CausalLearner.of(OPTForCausalLM(config), tiny_tokenizer(), recipe)


def test_packing_is_refused_if_examples_see_each_other(tmp_path: Path) -> None:
    """OPT attends to the examples before; a Llama does not."""
    with pytest.raises(ConfigError, match=r"'opt' sees other examples.*remove optim.packing"):
        opt(tmp_path, packing=True)
    assert opt(tmp_path).padding == 2
    assert learner(tmp_path, packing=True).tells_apart()


def test_a_model_that_scores_all_places_has_the_same_loss(tmp_path: Path) -> None:
    """As transformers computes it from labels, also for a model without `logits_to_keep`."""
    import torch

    made = learner(tmp_path)

    class Plain:
        def forward(self, input_ids: Any, attention_mask: Any, use_cache: bool) -> Any:
            return made.model(input_ids=input_ids, attention_mask=attention_mask)

        __call__ = forward

    plain = CausalLearner(Plain(), 2, made.recipe)
    found = float(plain.loss(EXAMPLES).detach())
    assert found == pytest.approx(float(made.loss(EXAMPLES).detach()), rel=1e-6)
    with torch.no_grad():
        theirs = float(made.model(**padded(EXAMPLES, 2)).loss)
    assert found / made.targets(EXAMPLES) == pytest.approx(theirs, rel=1e-5)
