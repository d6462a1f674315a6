"""alce: recall and precision of citations; ALCE's metrics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

from ragstone.components.judges.judge_calls import JudgeCall
from ragstone.components.judges.llm_base import ModelJudge, Refusals, user_template
from ragstone.components.judges.verdict import Item, Verdict
from ragstone.components.judges.verdict_schemas import Choice


@dataclass(frozen=True)
class Alce(ModelJudge):
    """Whether the cited passages together bear out each sentence, and whether each is needed.

    After Gao et al., "Enabling Large Language Models to Generate Text with Citations" (EMNLP
    2023). `alce:recall` is the share of all sentences that their cited passages bear out together;
    a sentence without a citation counts as 0. `alce:precision` is the share of citations that are
    right: the sentence is borne out, and the passage bears it out alone or the others do not bear
    it out without it. A citation of a passage that is not in the context is wrong. ALCE reads
    entailment with a T5 model, and this judge asks its own model.
    """

    explain: bool = False
    max_tokens: int = 64
    refusals: Refusals = "unscored"

    name = "alce"
    schema = Choice()
    own_metrics = ("alce:recall", "alce:precision")
    needs = frozenset({"answer", "passages"})
    default_user = user_template(
        "Do the passages bear out the sentence? Say yes if all that it says stands there or "
        "follows, else no.",
        {"sentence": "sentence", "passages": "passages"},
    )

    def calls_for(self, item: Item) -> list[JudgeCall[Any]]:
        """Return a call per sentence and set of passages that decides its citations."""
        calls = []
        for sentence, cited in item.sentences:
            for chosen in _sets(_known(cited, item)):
                texts = tuple(item.passages[n - 1] for n in chosen)
                values = {"sentence": sentence, "passages": "\n\n".join(texts)}
                calls.append(self.judge_call(self.schema, values, (sentence, *texts)))
        return calls

    def verdict(self, item: Item, values: Sequence[Any]) -> Verdict:
        """Return recall and precision; an answer that cites nothing has no precision."""
        said = iter(values)
        recalled: list[float] = []
        right: list[float] = []
        for _, cited in item.sentences:
            known = _known(cited, item)
            supports = {chosen: next(said) == "yes" for chosen in _sets(known)}
            is_borne_out = bool(known) and supports[known]
            recalled.append(float(is_borne_out))
            right += [float(is_borne_out and _is_needed(n, known, supports)) for n in known]
            right += [0.0] * (len(set(cited)) - len(known))
        parts = {"alce:recall": fmean(recalled)} if recalled else {}
        if right:
            parts["alce:precision"] = fmean(right)
        return Verdict(item.item_id, parts.get("alce:recall"), parts=parts)


def _known(cited: Sequence[int], item: Item) -> tuple[int, ...]:
    """Return the cited passages that are in the context, each once."""
    return tuple(n for n in dict.fromkeys(cited) if 1 <= n <= len(item.passages))


def _sets(known: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return all cited passages, and of several each one alone and the others without it.

    >>> _sets((1, 2)), _sets((1,))
    ([(1, 2), (1,), (2,)], [(1,)])
    """
    if len(known) < 2:  # noqa: PLR2004 - of one citation there is no part
        return [known] if known else []
    alone = [(n,) for n in known]
    others = [tuple(m for m in known if m != n) for n in known]
    return list(dict.fromkeys([known, *alone, *others]))


def _is_needed(n: int, known: tuple[int, ...], supports: dict[tuple[int, ...], bool]) -> bool:
    """Return whether a passage bears a sentence out alone, or the others do not without it."""
    if len(known) == 1:
        return True
    return supports[n,] or not supports[tuple(m for m in known if m != n)]
