"""Why the value of a query differs between two systems or two runs: the cause of a change.

The rules are tried in the order of `CHANGES`, and the first that applies is the cause. The
generator's context comes before its prompt and the generator itself, because a change of the
context is seen for this query, and one of the prompt for all queries together. A gain is only
explained by helpful changes (gold now shown, other passages gone), a loss by harmful ones.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from ragstone.core import limits

ChangeCause: TypeAlias = Literal[
    "label",
    "failure",
    "random",
    "now_retrieved",
    "not_retrieved",
    "now_shown",
    "now_cut",
    "noise_added",
    "noise_removed",
    "order_changed",
    "text_changed",
    "scoring",
    "prompt",
    "generator",
    "undecided",
]
Outcome: TypeAlias = Literal["better", "worse"]

CHANGES: Final[Mapping[ChangeCause, str]] = {
    "label": "the query, its gold answers or its gold passages differ",
    "failure": "one of the two has no answer",
    "random": "the values of repeats overlap, or nothing that is known differs",
    "now_retrieved": "a gold passage is shown that was no candidate before",
    "not_retrieved": "a gold passage was shown before and is not a candidate any more",
    "now_shown": "a gold passage is shown that was a candidate before",
    "now_cut": "a gold passage was shown before and is only a candidate now",
    "noise_added": "other passages without gold are shown",
    "noise_removed": "passages without gold are not shown any more",
    "order_changed": "the same passages in another order",
    "text_changed": "the same passages with other text",
    "scoring": "the same answer has another value",
    "prompt": "the same context with another prompt",
    "generator": "the same context and prompt with another generator",
    "undecided": "what is known does not decide it",
}
"""Causes of changes in the order of their rules, with their meanings."""


@dataclass(frozen=True, slots=True)
class DecidedChange:
    """The cause of one change, and the evidence for it."""

    cause: ChangeCause
    evidence: str


@dataclass(frozen=True, slots=True)
class Side:
    """The known facts of one query in one of the two systems or runs; None: not known."""

    query: str = ""
    """Its text; "" if it is not known."""
    gold_answers: tuple[str, ...] | None = None
    gold: frozenset[str] | None = None
    """Ids of its gold passages, within the datastore if the system has one."""
    labelled: frozenset[str] | None = None
    """Ids of its gold passages in the data set; None if they are not known apart from `gold`."""
    failure: str = ""
    """Why there is no answer; "" if there is one, or if that is not known."""
    answer: str | None = None
    values: tuple[float, ...] = ()
    """The values of its repeats; empty if it was not repeated."""
    candidates: tuple[str, ...] | None = None
    """Ids of the passages that contexts are chosen from, best first."""
    shown: tuple[str, ...] | None = None
    """Ids of the passages in the context, in their order."""
    texts: tuple[str, ...] | None = None
    """Their texts."""
    prompt: str | None = None
    """The identity of the prompt; "" for a system without one."""
    generator: str | None = None
    """The identity of the generator, without its prompt."""


def cause_of_change(a: Side, b: Side, outcome: Outcome) -> DecidedChange:
    """Return why the value of a query is better or worse in `b` than in `a`.

    >>> a = Side(gold=frozenset({"g"}), candidates=("x", "g"), shown=("x",))
    >>> b = Side(gold=frozenset({"g"}), candidates=("g", "x"), shown=("g",))
    >>> cause_of_change(a, b, "better")
    DecidedChange(cause='now_shown', evidence='g: rank 2 before, rank 1 now')
    """
    found = next(_before_context(a, b), None)
    if found is not None:
        return found
    if a.shown is None or b.shown is None:
        if _same_answer(a, b):
            return DecidedChange("scoring", "the answers are equal")
        return DecidedChange("undecided", "what was shown is not known")
    return _context_change(a, b, outcome) or _reader_change(a, b)


def cause_of_ranking_change(a: Side, b: Side) -> DecidedChange:
    """Return why the value of a ranking differs, from the places of gold passages in it.

    >>> a, b = (Side(gold=frozenset({"g"}), candidates=ids) for ids in (("g", "x"), ("x", "g")))
    >>> cause_of_ranking_change(a, b)
    DecidedChange(cause='order_changed', evidence='g: rank 1 before, rank 2 now')
    """
    if _labelled(a) != _labelled(b) and None not in (_labelled(a), _labelled(b)):
        return DecidedChange("label", "the gold passages differ")
    gold = _gold(a, b)
    before, after = (side.candidates for side in (a, b))
    if before is None or after is None or not gold:
        what = "the gold passages are" if not gold else "the ranking is"
        return DecidedChange("undecided", f"{what} not known")
    new, gone = (gold & set(after)) - set(before), (gold & set(before)) - set(after)
    if bool(new) != bool(gone):
        return DecidedChange(
            "now_retrieved" if new else "not_retrieved", _listed(sorted(new | gone))
        )
    moved = {p for p in gold if _rank(p, before) != _rank(p, after)}
    if moved:
        return DecidedChange("order_changed", "; ".join(_ranks(p, a, b) for p in sorted(moved)))
    return DecidedChange("undecided", "the gold passages have equal ranks")


def _before_context(a: Side, b: Side) -> Iterator[DecidedChange]:
    """Yield the causes that come before the context."""
    if a.query and b.query and a.query != b.query:
        yield DecidedChange("label", "the text of the query differs")
    if a.gold_answers != b.gold_answers and None not in (a.gold_answers, b.gold_answers):
        yield DecidedChange("label", "the gold answers differ")
    if bool(a.failure) != bool(b.failure):
        where = "before" if a.failure else "now"
        yield DecidedChange("failure", f"no answer {where}: {a.failure or b.failure}")
    if a.values or b.values:
        first, second = a.values, b.values
        if first and second and max(min(first), min(second)) <= min(max(first), max(second)):
            yield DecidedChange(
                "random", f"repeats: {_values(first)} before, {_values(second)} now"
            )


def _context_change(a: Side, b: Side, outcome: Outcome) -> DecidedChange | None:
    """Return the change of the context that explains the outcome; None for equal contexts."""
    before, after = a.shown or (), b.shown or ()
    if before == after:
        return _text_change(a, b)
    gold = _gold(a, b)
    if not gold:
        return DecidedChange("undecided", "other passages are shown, and no gold passage is known")
    new, gone = (set(after) - set(before)), (set(before) - set(after))
    helps = outcome == "better"
    lost_or_found = sorted(gold & (new if helps else gone))
    if lost_or_found:
        other = a.candidates if helps else b.candidates
        known = [p for p in lost_or_found if other is None or p in other]
        by_rank: ChangeCause = "now_shown" if helps else "now_cut"
        by_retrieval: ChangeCause = "now_retrieved" if helps else "not_retrieved"
        evidence = "; ".join(_ranks(p, a, b) for p in lost_or_found[: limits.SHOWN_PASSAGE_IDS])
        return DecidedChange(by_rank if known else by_retrieval, evidence)
    noise = sorted((gone if helps else new) - gold)
    if noise:
        return DecidedChange("noise_removed" if helps else "noise_added", _listed(noise))
    if set(before) == set(after):
        return DecidedChange("order_changed", f"{_listed(before)} before, {_listed(after)} now")
    word = "gain" if helps else "loss"
    return DecidedChange("undecided", f"other passages are shown, and they explain no {word}")


def _text_change(a: Side, b: Side) -> DecidedChange | None:
    """Return the change of the texts of equal passages; None for equal texts."""
    if a.texts is None or b.texts is None or a.texts == b.texts:
        return None
    texts = zip(a.shown or (), a.texts, b.texts, strict=False)
    return DecidedChange("text_changed", _listed([p for p, x, y in texts if x != y]))


def _reader_change(a: Side, b: Side) -> DecidedChange:
    """Return the cause of a change under equal contexts."""
    if _same_answer(a, b):
        return DecidedChange("scoring", "the contexts and the answers are equal")
    if None in (a.prompt, b.prompt) or None in (a.generator, b.generator):
        return DecidedChange("undecided", "the same passages; prompt and generator are not known")
    if a.prompt != b.prompt:
        return DecidedChange("prompt", "the same context, another prompt")
    if a.generator != b.generator:
        return DecidedChange("generator", "the same context and prompt, another generator")
    return DecidedChange("random", "the same context, prompt and generator gave another answer")


def _same_answer(a: Side, b: Side) -> bool:
    return a.answer is not None and a.answer == b.answer and not (a.values or b.values)


def _gold(a: Side, b: Side) -> frozenset[str]:
    return (a.gold or frozenset()) | (b.gold or frozenset())


def _labelled(side: Side) -> frozenset[str] | None:
    return side.gold if side.labelled is None else side.labelled


def _rank(passage_id: str, ranking: Sequence[str] | None) -> int | None:
    if ranking is None or passage_id not in ranking:
        return None
    return ranking.index(passage_id) + 1


def _ranks(passage_id: str, a: Side, b: Side) -> str:
    """Return the ranks of a passage on both sides as a phrase, or where it is shown."""
    ranks = [_rank(passage_id, side.candidates) for side in (a, b)]
    is_at_one_rank = ranks[0] is not None and ranks[0] == ranks[1]
    places = []
    for side, rank, when in zip((a, b), ranks, ("before", "now"), strict=True):
        place = "no candidate" if rank is None else f"rank {rank}"
        if side.candidates is None or is_at_one_rank:
            place = "shown" if passage_id in (side.shown or ()) else "not shown"
        places.append(f"{place} {when}")
    same = f"rank {ranks[0]}, " if is_at_one_rank else ""
    return f"{passage_id}: {same}{', '.join(places)}"


def _values(values: Sequence[float]) -> str:
    return " ".join(f"{value:g}" for value in values)


def _listed(passage_ids: Collection[str]) -> str:
    ids = list(passage_ids)
    named, others = ids[: limits.SHOWN_PASSAGE_IDS], ids[limits.SHOWN_PASSAGE_IDS :]
    return ", ".join(named) + (f" and {len(others):,} more" if others else "")
