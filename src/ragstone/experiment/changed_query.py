"""One query asked again with other passages, another search text or another prompt."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final

from ragstone.errors import ConfigError
from ragstone.experiment.counterfactuals import Counterfactual, ask_counterfactuals, changed_part
from ragstone.results.chain import QueryChain
from ragstone.results.what_if import WhatIf
from ragstone.types import ContextPassage

if TYPE_CHECKING:
    from ragstone.calls.client import Calls
    from ragstone.experiment.counterfactuals import AskedAgain
    from ragstone.experiment.experiment import Experiment

_SYSTEM: Final = "system"
"""The setting of a system that brings its own context."""


def ask_changed(
    experiment: Experiment, chain: QueryChain, change: WhatIf, calls: Calls | None = None
) -> AskedAgain:
    """Ask the query of a chain again, with a change; earlier replies are kept.

    The answer is an exploratory counterfactual: it enters no mean, and decides no cause.

    Raises:
        ConfigError: the change is not possible, or the file has changed since the run; nothing was
            spent.
        CallError, ModelFileError: a model cannot be reached; nothing was spent.
    """
    wanted = changed_query(experiment, chain, change)
    (asked,) = ask_counterfactuals(experiment, [wanted], calls=calls)
    return asked


def changed_query(experiment: Experiment, chain: QueryChain, change: WhatIf) -> Counterfactual:
    """Return the counterfactual of a change; passages that are not changed are those shown."""
    parts: dict[str, Any] = {}
    if change.prompts:
        changed = changed_part(experiment, chain.system, "generator", **change.prompts)
        parts["generator"] = changed
    if change.search is not None:
        if change.passages is not None:
            raise ConfigError(
                "another search text brings other passages: change the search text or the "
                "passages, not both"
            )
        if chain.search is None:
            raise ConfigError(f"{chain.system!r} does not search, so no search text can be changed")
        former = {"name": "given", "texts": {chain.query_id: change.search}}
        parts["query_former"] = former
        setting = _written_setting(experiment, chain.setting)
    elif change.passages is None and chain.context is None:
        setting = _written_setting(experiment, chain.setting)
    else:
        passages = _passages(experiment, chain, change)
        setting = given_setting(chain, "what if", passages)
        parts |= as_shown(experiment, chain)
    return Counterfactual(
        (chain.query_id,),
        (setting,),
        systems=(chain.system,),
        parts=parts,
        note=f"what if: {chain.setting}, {change.note or 'nothing changed'}",
    )


def given_setting(
    chain: QueryChain, label: str, passages: Iterable[ContextPassage]
) -> dict[str, Any]:
    """Return the context setting that shows some passages."""
    given = [{"id": p.passage_id, "text": p.text, "origin": p.origin} for p in passages]
    return {"name": "given", "label": label, "contexts": {chain.query_id: given}}


def as_shown(experiment: Experiment, chain: QueryChain) -> dict[str, Any]:
    """Return the parts under which passages are shown as they are given, after the processor."""
    processes = any(s.name == chain.system and s.processor for s in experiment.systems)
    return {"processor": None} if processes else {}


def _passages(
    experiment: Experiment, chain: QueryChain, change: WhatIf
) -> tuple[ContextPassage, ...]:
    """Return the passages to show, each with its text."""
    shown = chain.context
    if shown is None:
        raise ConfigError(
            f"it is not known which passages {chain.system!r} was shown under {chain.setting!r}, "
            "so they cannot be changed"
        )
    if change.passages is None:
        return shown
    return tuple(
        one if one.text or one in shown else _found(experiment, one) for one in change.passages
    )


def _found(experiment: Experiment, one: ContextPassage) -> ContextPassage:
    """Return a passage with its text in the data set."""
    corpus = experiment.dataset.corpus
    if one.passage_id not in corpus:
        raise ConfigError(
            f"the data set has no passage {one.passage_id!r}; give its text, or another id",
            value=one.passage_id,
        )
    return replace(one, text=corpus[one.passage_id].full_text)


def _written_setting(experiment: Experiment, name: str) -> Any:
    """Return a context setting as the file has it."""
    written = experiment.file.settings or [_SYSTEM]
    pairs = zip(written, experiment.settings, strict=True)
    return next(one for one, setting in pairs if setting.setting == name)
