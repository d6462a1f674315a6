"""Training of a generator: it learns the gold answer after the prompt with its contexts."""

from __future__ import annotations

import random
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from ragstone.components.generators.transformers import Hf
from ragstone.core.prompt_files import DEFAULT_PROMPT
from ragstone.models.causal_lm import load_causal_lm
from ragstone.models.locate import find_model, weights_digest
from ragstone.training.causal import CausalLearner
from ragstone.training.examples import Example, chat_example
from ragstone.training.plan import require_room_for_base
from ragstone.training.recipe import GeneratorRecipe
from ragstone.training.training import Training
from ragstone.training.weights import quantization, require_training, save_weights, with_adapter
from ragstone.types import Task


def generator_training(
    recipe: GeneratorRecipe,
    parts: Mapping[str, Sequence[Task]],
    data: Mapping[str, Any],
    *,
    files: Mapping[str, str],
) -> Training[Example]:
    """Return the training of a generator; nothing is trained yet.

    Args:
        recipe: the keys of the file.
        parts: `train` and `validation` -> queries with their contexts.
        data: facts about the data, for the record.
        files: further files of the output, such as the queries of each split.

    Raises:
        MissingDependency: a package of the extra `train` is missing.
        ModelFileError: the base cannot be loaded.
        ConfigError: the base has no chat template.
    """
    require_training()
    path = find_model(recipe.base)
    require_room_for_base(path, recipe.base, recipe.optim.dtype, recipe.device)
    tokenizer, model = load_causal_lm(
        path, recipe.base, recipe.device, recipe.optim.dtype, quantization(recipe.method)
    )
    notes = [
        f"{gone} queries of the {name} part were left out: their setting does not apply to them"
        for name, tasks in parts.items()
        if (gone := data.get(name, len(tasks)) - len(tasks))
    ]
    made = {part: _examples(recipe, tokenizer, part, tasks, notes) for part, tasks in parts.items()}

    def learner() -> CausalLearner:
        return CausalLearner.of(with_adapter(model, recipe), tokenizer, recipe)

    def save(done: Any, folder: Path) -> None:
        save_weights(done.model, tokenizer, folder)

    return Training(
        "generator",
        recipe,
        weights_digest(recipe.base),
        data,
        made["train"],
        made["validation"],
        recipe.optim.batch,
        learner,
        save,
        notes,
        files=files,
    )


def _examples(
    recipe: GeneratorRecipe, tokenizer: Any, part: str, tasks: Iterable[Task], notes: list[str]
) -> list[Example]:
    """Return the examples; those without an answer or too long are noted."""
    asked = Hf(recipe.base, budget=recipe.budget, prompt=recipe.prompt or DEFAULT_PROMPT)
    found, without, long = [], 0, 0
    for task in tasks:
        if not task.query.gold_answers:
            without += 1
            continue
        messages = asked.request(task).messages
        example = chat_example(tokenizer, messages, task.query.gold_answers[0])
        if len(example) > recipe.max_tokens:
            long += 1
        else:
            found.append(example)
    if without:
        notes.append(f"{without} queries without a gold answer were left out ({part})")
    if long:
        text = f"{long} examples of more than {recipe.max_tokens} tokens were left out ({part})"
        notes.append(text)
    return found


def drawn_settings(query_ids: Sequence[str], settings: Sequence[str], seed: int) -> dict[str, str]:
    """Return query id -> the setting of its context, drawn by the seed and the query's id.

    >>> drawn_settings(["a", "b", "c"], ["gold", "none"], seed=1)
    {'a': 'none', 'b': 'gold', 'c': 'none'}
    """
    return {
        query_id: random.Random(f"{seed} {query_id}").choice(settings)  # noqa: S311 - not a secret
        for query_id in query_ids
    }
