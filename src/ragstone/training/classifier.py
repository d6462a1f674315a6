"""Training of a classifier of texts from labels that people gave, calibrated on a held-out part."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from ragstone.components.judges.trained import input_names
from ragstone.components.judges.verdict import Item
from ragstone.errors import ConfigError
from ragstone.models.locate import ENCODER, TRANSFORMERS_LM, weights_digest
from ragstone.models.text_classifier import ClassifierFacts, write_facts
from ragstone.training.judge_recipe import JudgeRecipe
from ragstone.training.temperature import fitted_temperature, fitted_threshold
from ragstone.training.training import Training
from ragstone.training.weights import require_training

if TYPE_CHECKING:
    from ragstone.models.text_classifier import Scores

_TWO = 2


@dataclass(frozen=True)
class ItemToLearn:
    """An item with the label that people gave it."""

    item_id: str
    """The id in the splits, different for each item."""
    item: Item
    label: str
    group: str
    """Items of one group depend on each other, such as answers about one document."""
    raters: tuple[float | str, ...] = ()
    """What each person said."""


Parts = Mapping[str, Sequence[ItemToLearn]]
"""`train`, `validation` and `test` -> items."""


class Base(Protocol):
    """A kind of base: an encoder or a causal language model."""

    def examples(self, items: Sequence[ItemToLearn], notes: list[str]) -> list[Any]:
        """Return the examples of items that can be learnt; others are noted."""
        ...

    def learner(self) -> Any:
        """Return the model with new weights, and its loss."""
        ...

    def save(self, learner: Any, folder: Path, facts: ClassifierFacts) -> None:
        """Write the trained weights and the facts."""
        ...

    def scores(self, folder: Path | None, items: Sequence[ItemToLearn]) -> Scores:
        """Return the scores of the labels by a trained folder, or by the untrained base."""
        ...


def classifier_facts(recipe: JudgeRecipe, name: str, parts: Parts, usual: str) -> ClassifierFacts:
    """Return the facts of the decision that the classifier learns.

    Args:
        recipe: the keys of the file.
        name: the label that is learnt.
        parts: part -> items; their labels are those of the classifier.
        usual: the input if the file names none.

    Raises:
        ConfigError: `positive` is not a label, or the training part lacks a label.
    """
    counts = Counter(one.label for items in parts.values() for one in items)
    seen = {one.label for one in parts["train"]}
    if lacking := sorted(counts.keys() - seen):
        raise ConfigError(
            f"no item with the label {lacking[0]!r} is in the training part: its items depend on "
            "each other (documents or nearly equal texts in common); use another seed, or leave "
            "the label out with a higher `least`",
            key="least",
        )
    positive = recipe.positive or ("yes" if "yes" in counts else "")
    if not positive and len(counts) == _TWO:
        positive = min(counts, key=lambda label: (counts[label], label))
    if positive and positive not in counts:
        raise ConfigError(
            f"positive: no item has the label {positive!r}; the labels are "
            f"{', '.join(sorted(counts))}",
            key="positive",
            value=positive,
        )
    return ClassifierFacts(
        name=name,
        labels=tuple(sorted(counts)),
        positive=positive,
        inputs=input_names(recipe.input or usual),
        base=recipe.base,
        base_digest=weights_digest(recipe.base, kind=TRANSFORMERS_LM if recipe.judge else ENCODER),
        max_tokens=recipe.max_tokens,
        pooling=recipe.pooling,
        has_encoder=not recipe.head_only,
        judge=recipe.judge,
    )


def judge_training(
    recipe: JudgeRecipe,
    base: Base,
    facts: ClassifierFacts,
    parts: Parts,
    *,
    data: Mapping[str, Any],
    files: Mapping[str, str],
    notes: Sequence[str] = (),
) -> Training[Any]:
    """Return the training of a classifier; nothing is trained yet.

    Args:
        recipe: the keys of the file.
        base: the loaded base.
        facts: what is decided.
        parts: part -> items.
        data: facts about the data, for the record.
        files: further files of the output, such as the items of each split.
        notes: what was left out before.

    Raises:
        MissingDependency: a package of the extra `train` is missing.
    """
    require_training()
    found = list(notes)
    made = {part: base.examples(parts[part], found) for part in ("train", "validation")}

    def save(learner: Any, folder: Path) -> None:
        base.save(learner, folder, facts)
        write_facts(folder, calibrated(facts, base.scores(folder, held), held))

    held = parts["validation"]
    return Training(
        "judge",
        recipe,
        facts.base_digest,
        data,
        made["train"],
        made["validation"],
        recipe.optim.batch or 16,
        base.learner,
        save,
        found,
        {"labels": list(facts.labels), "name": facts.name},
        files,
    )


def calibrated(
    facts: ClassifierFacts, scores: Scores, items: Sequence[ItemToLearn]
) -> ClassifierFacts:
    """Return the facts with temperature and threshold of items that were not learnt.

    A causal base stays the judge whose prompt it answers, and the likelier word is its verdict.
    Numbers that this judge does not apply would make the report one of another judge.
    """
    if not items or facts.judge:
        return facts
    labels = [facts.labels.index(one.label) for one in items]
    temperature = fitted_temperature(scores, labels)
    if not facts.is_binary:
        return replace(facts, temperature=temperature)
    threshold = fitted_threshold(scores, labels, facts.labels.index(facts.positive), temperature)
    return replace(facts, temperature=temperature, threshold=threshold)


def known_labels(items: Sequence[ItemToLearn], least: int) -> tuple[list[ItemToLearn], list[str]]:
    """Return the items with a frequent label, and notes on those that are left out.

    Raises:
        ConfigError: fewer than two labels are frequent.
    """
    counts = Counter(one.label for one in items if one.label)
    kept = {label for label, count in counts.items() if count >= least}
    notes = [
        f"{count} items of the label {label!r} were left out: a label needs {least} (least)"
        for label, count in sorted(counts.items())
        if label not in kept
    ]
    without = sum(not one.label for one in items)
    if without:
        notes.append(f"{without} items without one label by most people were left out")
    if len(kept) < _TWO:
        shown = ", ".join(f"{label} {count}" for label, count in sorted(counts.items())) or "none"
        raise ConfigError(
            f"a classifier needs two labels with {least} items each (least), found: {shown}; "
            "label more items, or lower `least`",
            key="least",
            value=least,
        )
    return [one for one in items if one.label in kept], notes
