"""Making a test set from a corpus: drafts are written in rounds, screened, labelled and rated.

    writer = QueryWriter(resolve_llm("local"), Services(calls=calls))
    made = generate(corpus, GenerationPlan(count=40), writer)
    write_generated(made, corpus, Path("my-test-set"))

The result depends only on the plan, the corpus and the model's replies, and every reply is kept:
after an interruption the same command resumes, and a repetition has the same result.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from ragstone.building.critique_filter import below, check_thresholds, profile, ratings_of
from ragstone.building.draft import Draft, QueryWriter
from ragstone.building.funnel import NOT_REACHED
from ragstone.building.passages import Usable, usable
from ragstone.building.repeats import reject_repeats
from ragstone.building.strategies import Strategy, Unit
from ragstone.building.strategy_specs import find_strategy
from ragstone.building.topics import in_turn
from ragstone.components.judges.verdict import Cost, Item, VerdictJudge
from ragstone.core import limits
from ragstone.errors import ConfigError, LimitReached, did_you_mean
from ragstone.protocols import Services

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus

_UNANSWERABLE: Final = "unanswerable"
_HOW_MADE: Final = frozenset({_UNANSWERABLE, "counterfactual", "multi_hop", "comparison"}) | {
    "false_premise",
    "underspecified",
    "multi_turn",
}
"""Labels of how a query was made, which a labeller can only confirm or contradict."""
_NOT_OF_THE_TAXONOMY: Final = frozenset({"false_premise", "underspecified"})
"""Kinds of queries of which no answer is expected, or another one than asked for."""
SURPLUS: Final = "more queries of the label than planned"


@dataclass(frozen=True)
class GenerationPlan:
    """The size and the composition of a test set, and how it is made.

    Args:
        strategy: its name, or its name with parameters, such as `writer(model=FOLDER)`.
        count: number of queries to keep.
        mix: label -> share of the queries; if empty, the strategy's labels in equal shares.
        seed: seed of the order in which passages are used.
        rounds: maximum number of rounds; each asks for the missing queries, with unused passages.
            If None, rounds go on until three in a row keep no further query.
        per_passage: maximum number of queries per passage.
        thresholds: critique -> minimum rating (1 to 5) of a query that is kept.
        turns: number of turns of a conversation, 2 to 8; the last one is the query.
        styles: who asks, or how; each query gets the next one.
    """

    strategy: str = "statements"
    count: int = 30
    mix: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    rounds: int | None = None
    per_passage: int = 1
    thresholds: Mapping[str, float] = field(default_factory=dict)
    turns: int = 3
    styles: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Raise `ConfigError` if no strategy can meet the plan."""
        legal = self.way.labels
        for label in self.mix:
            if label not in legal:
                raise ConfigError(
                    f"the strategy {self.strategy!r} has no label {label!r}"
                    f"{did_you_mean(label, legal)}"
                )
        if min(self.count, 1 if self.rounds is None else self.rounds, self.per_passage) < 1:
            raise ConfigError("count, rounds and per_passage must be 1 or more")
        if not 2 <= self.turns <= limits.MAX_TURNS:  # noqa: PLR2004 - one turn is a question
            raise ConfigError(f"turns must be from 2 to {limits.MAX_TURNS}, found {self.turns}")
        if self.mix and (min(self.mix.values()) < 0 or not sum(self.mix.values())):
            raise ConfigError(f"the shares of a mix must be 0 or more, not all 0: {dict(self.mix)}")
        check_thresholds(self.thresholds)

    @cached_property
    def way(self) -> Strategy:
        """The strategy with its parameters."""
        return find_strategy(self.strategy)

    @property
    def wanted(self) -> dict[str, int]:
        """Label -> number of queries; the largest remainders are rounded up.

        >>> mix = {"fact_single": 0.5, "summary": 0.25, "reasoning": 0.25}
        >>> GenerationPlan(count=10, mix=mix).wanted
        {'fact_single': 5, 'summary': 3, 'reasoning': 2}
        """
        mix = self.mix or dict.fromkeys(self.way.labels, 1.0)
        return apportioned(self.count, mix)


def apportioned(count: int, shares: Mapping[str, float]) -> dict[str, int]:
    """Return name -> number of `count` items by shares; the largest remainders are rounded up.

    >>> apportioned(5, {"follow-up": 2, "clarification": 1})
    {'follow-up': 3, 'clarification': 2}
    """
    exact = {name: count * share / sum(shares.values()) for name, share in shares.items()}
    wanted = {name: int(value) for name, value in exact.items()}
    by_remainder = sorted(exact, key=lambda name: wanted[name] - exact[name])
    for name in by_remainder[: count - sum(wanted.values())]:
        wanted[name] += 1
    return wanted


@dataclass
class Generated:
    """The drafts of a test set, and how they came about."""

    plan: GenerationPlan
    model: str
    drafts: list[Draft]
    """Kept and rejected ones, in order."""
    passages: Usable
    rounds: int = 0
    """Rounds that were made."""
    partial: str = ""
    """Why the work ended early, such as a spent budget; empty if it did not."""

    @property
    def kept(self) -> list[Draft]:
        """The drafts that are not rejected."""
        return [draft for draft in self.drafts if not draft.reason]

    @property
    def shortfall(self) -> dict[str, str]:
        """Label -> why it has too few queries; without the labels that have enough."""
        found = {}
        kept = Counter(draft.obtained_label for draft in self.kept)
        for label, wanted in self.plan.wanted.items():
            if kept[label] >= wanted:
                continue
            tried = [draft for draft in self.drafts if draft.asked_label == label]
            why = Counter(filter(None, map(_rejection, tried)))
            shown = why.most_common(limits.MAX_SHORTFALL_REASONS)
            facts = [
                *([] if self.passages.passages else ["no passage is usable"]),
                f"{len(tried)} were tried",
                *([", ".join(f"{reason} ({n})" for reason, n in shown)] if shown else []),
                self._used_up(tried),
            ]
            found[label] = f"{kept[label]} of {wanted}: {'; '.join(facts)}"
        return found

    def _used_up(self, tried: Sequence[Draft]) -> str:
        used = len({p.passage_id for draft in self.drafts for p in draft.passages})
        room = len(self.passages.passages) * self.plan.per_passage
        if len(self.drafts) >= room or (used and used == len(self.passages.passages)):
            return f"all {len(self.passages.passages)} usable passages were used"
        return f"{self.rounds} rounds were made" if tried else "no passage was left"

    def summary(self) -> dict[str, Any]:
        """Return counts, reasons, cost, and ratings per label."""
        kept = self.kept
        steps = [step for draft in self.drafts for step in draft.steps]
        tokens = sum(step.tokens_in + step.tokens_out for step in steps)
        judging = sum((draft.judging for draft in self.drafts), Cost())
        judged = judging.tokens_in + judging.tokens_out
        means, read = profile([(d.obtained_label or d.asked_label, d.ratings) for d in self.drafts])
        return {
            "strategy": self.plan.strategy,
            "model": self.model,
            "wanted": self.plan.wanted,
            "kept": dict(Counter(draft.obtained_label for draft in kept)),
            "shortfall": self.shortfall,
            "tried": len(self.drafts),
            "rejected": dict(Counter(d.reason for d in self.drafts if d.reason).most_common()),
            "asked_against_obtained": _crossed([d for d in self.drafts if d.obtained_label]),
            "ratings": means,
            "ratings_read": read,
            "passages_refused": dict(Counter(self.passages.refused.values()).most_common()),
            "passages_usable": len(self.passages.passages),
            "calls": len(steps),
            "tokens": tokens,
            "calls_judging": judging.calls,
            "tokens_judging": judged,
            "calls_per_kept": len(steps) / len(kept) if kept else None,
            "tokens_per_kept": tokens / len(kept) if kept else None,
            "tokens_per_kept_in_all": (tokens + judged) / len(kept) if kept else None,
        }


def _rejection(draft: Draft) -> str:
    """Return why a draft does not count for its label, or ""."""
    if draft.reason or draft.obtained_label == draft.asked_label:
        return draft.reason
    return f"labelled {draft.obtained_label}"


def _crossed(drafts: Sequence[Draft]) -> dict[str, dict[str, int]]:
    found: dict[str, Counter[str]] = {}
    for draft in drafts:
        found.setdefault(draft.asked_label, Counter())[draft.obtained_label] += 1
    return {asked: dict(counts) for asked, counts in found.items()}


@dataclass(frozen=True)
class Checks:
    """The checks of a written query; each check sets the drafts' reasons.

    Args:
        labeller: gives each query its label, and rejects unanswerable ones; if None, each query
            keeps the label of the plan.
        critics: rates each query; see `GenerationPlan.thresholds`.
        further: checks of the drafts that remain, in order; each gets drafts without a reason.
    """

    labeller: VerdictJudge | None = None
    critics: VerdictJudge | None = None
    further: Sequence[Callable[[Sequence[Draft]], None]] = ()


def generate(
    corpus: Corpus,
    plan: GenerationPlan,
    writer: QueryWriter,
    checks: Checks | None = None,
    *,
    topics: Mapping[str, int] | None = None,
    batch_size: int | None = None,
) -> Generated:
    """Write test queries about a corpus until the plan is met or no passage is left.

    If a label has no unused passages, the other labels make up for its missing queries. A spent
    budget ends the work; finished batches are kept, and `Generated.partial` has the reason.

    Args:
        corpus: the passages; the result lists unusable ones with the reason.
        plan: number of queries per label, and the strategy.
        writer: the model that writes, unless the strategy has its own.
        checks: the checks of written queries.
        topics: passage id -> topic; passages of all topics are used in turn.
        batch_size: queries that are finished together; None for all of a round.
    """
    writer = plan.way.with_model(writer)
    passages = usable(corpus, in_language=writer.prompts.language)
    made = Generated(plan, writer.model.endpoint.model, [], passages)
    queues = _queues(made, topics)
    still = 0
    while still < limits.GENERATION_ROUNDS and made.rounds < (plan.rounds or math.inf):
        before = _progress(made)
        drafts = _next(made, queues)
        if not drafts:
            break
        try:
            for start in range(0, len(drafts), size := batch_size or len(drafts)):
                _make(made, drafts[start : start + size], writer, checks or Checks())
        except LimitReached as error:
            _stop(made, drafts, str(error))
            break
        made.rounds += 1
        still = 0 if _progress(made) > before else still + 1
    _reject_surplus(made)
    return made


def _make(made: Generated, batch: Sequence[Draft], writer: QueryWriter, checks: Checks) -> None:
    """Write the drafts of a batch, check them, and add them to the result."""
    plan = made.plan
    for place, draft in enumerate(batch, start=len(made.drafts)):
        draft.turns = plan.turns
        draft.style = plan.styles[place % len(plan.styles)] if plan.styles else ""
    plan.way.write(batch, writer)
    reject_repeats([*made.drafts, *batch])
    _label(_live(batch), checks.labeller, writer.services)
    _rate(_live(batch), checks.critics, plan, writer.services)
    for check in checks.further:
        check(_live(batch))
    made.drafts.extend(batch)


def _stop(made: Generated, drafts: Sequence[Draft], why: str) -> None:
    """Add the drafts of unfinished batches, which are rejected as not reached."""
    made.partial = why
    finished = set(map(id, made.drafts))
    for draft in drafts:
        if id(draft) not in finished:
            draft.reason = draft.reason or NOT_REACHED
            made.drafts.append(draft)


def _live(drafts: Sequence[Draft]) -> list[Draft]:
    return [draft for draft in drafts if not draft.reason]


def _queues(made: Generated, topics: Mapping[str, int] | None) -> dict[str, Iterator[Unit]]:
    """Return label -> the units of its queries; labels with one kind of units share them."""
    plan, whole = made.plan, made.plan.way
    shared: dict[Callable[..., list[Unit]], Iterator[Unit]] = {}
    found = {}
    for label in plan.wanted:
        part = whole.part(label)
        if part.all_units not in shared:
            units = part.units(made.passages.passages, plan.seed)
            units = in_turn(units, topics) if topics else units
            shared[part.all_units] = iter([u for _ in range(plan.per_passage) for u in units])
        found[label] = shared[part.all_units]
    return found


def _progress(made: Generated) -> int:
    """Return a number that grows with each kept query that was missing."""
    kept = Counter(draft.obtained_label for draft in made.kept)
    met = sum(min(kept[label], wanted) for label, wanted in made.plan.wanted.items())
    return met + min(kept.total(), made.plan.count)


def _next(made: Generated, queues: Mapping[str, Iterator[Unit]]) -> list[Draft]:
    """Return a draft per missing query, as long as there are units."""
    kept = Counter(draft.obtained_label for draft in made.kept)
    wanted = made.plan.wanted
    missing = {label: max(count - kept[label], 0) for label, count in wanted.items()}
    drafts = _drafts(made, missing, queues)
    # The other labels make up for those without units.
    surplus = kept.total() - sum(min(kept[label], count) for label, count in wanted.items())
    left = max(sum(missing.values()) - len(drafts) - surplus, 0)
    for label in (label for label, count in wanted.items() if count):
        more = _drafts(made, {label: left}, queues)
        drafts, left = drafts + more, left - len(more)
    return drafts


def _drafts(
    made: Generated, counts: Mapping[str, int], queues: Mapping[str, Iterator[Unit]]
) -> list[Draft]:
    return [
        Draft(made.plan.strategy.partition("(")[0], label, unit)
        for label, count in counts.items()
        for unit in islice(queues[label], count)
    ]


def _reject_surplus(made: Generated) -> None:
    """Reject the last queries of labels that have too many, down to the planned number in all."""
    kept, wanted = made.kept, made.plan.wanted
    counts, surplus = Counter(d.obtained_label for d in kept), len(kept) - made.plan.count
    for draft in reversed(kept):
        label = draft.obtained_label
        if surplus > 0 and counts[label] > wanted.get(label, 0):
            draft.reason = f"{SURPLUS}: {wanted.get(label, 0)} are asked for"
            counts[label] -= 1
            surplus -= 1


def _item(draft: Draft) -> Item:
    texts = tuple(passage.full_text for passage in draft.made_passages or draft.passages)
    return Item(draft.query(), draft.answer, texts)


def _label(drafts: Sequence[Draft], labeller: VerdictJudge | None, services: Services) -> None:
    for draft in drafts:
        draft.obtained_label = draft.asked_label
    if labeller is None:
        return
    verdicts = labeller.verdicts([_item(draft) for draft in drafts], services)
    for draft, verdict in zip(drafts, verdicts, strict=True):
        draft.judging += verdict.cost
        if not verdict.label:
            draft.notes.append(f"not labelled: {verdict.reason}")
            continue
        if draft.asked_label in _HOW_MADE:
            draft.labels["labeller"] = verdict.label
        else:
            draft.obtained_label = verdict.label
        if draft.asked_label in _NOT_OF_THE_TAXONOMY:
            continue
        if (verdict.label == _UNANSWERABLE) != (draft.asked_label == _UNANSWERABLE):
            draft.reason = f"label: the labeller calls it {verdict.label}"


def _rate(
    drafts: Sequence[Draft], critics: VerdictJudge | None, plan: GenerationPlan, services: Services
) -> None:
    if critics is None:
        return
    verdicts = critics.verdicts([_item(draft) for draft in drafts], services)
    for draft, verdict in zip(drafts, verdicts, strict=True):
        draft.judging += verdict.cost
        draft.ratings = ratings_of(verdict)
        if verdict.reason:
            draft.notes.append(f"critiques not read: {verdict.reason}")
        draft.reason = below(draft.ratings, plan.thresholds)
