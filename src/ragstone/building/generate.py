"""Making a test set from a corpus: drafts are written in rounds, screened, labelled and rated.

    writer = QueryWriter(resolve_llm("local"), Services(calls=calls))
    made = generate(corpus, GenerationPlan(count=40), writer)
    write_generated(made, corpus, Path("my-test-set"))

The result depends only on the plan, the corpus and the model's replies, and every reply is kept:
after an interruption the same command resumes, and a repetition has the same result.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

from ragstone.building.critique_filter import below, check_thresholds, profile, ratings_of
from ragstone.building.draft import Draft, QueryWriter
from ragstone.building.passages import Usable, usable
from ragstone.building.strategies import STRATEGIES, Unit
from ragstone.components.judges.verdict import Cost, Item, VerdictJudge
from ragstone.core import limits
from ragstone.data_quality.duplicates import squeezed
from ragstone.data_quality.shingles import character_shingles, near_pairs
from ragstone.errors import ConfigError, did_you_mean
from ragstone.protocols import Services
from ragstone.text.normalise import pieces

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus

_SAME_QUESTION: Final = 0.9
_UNANSWERABLE: Final = "unanswerable"
_HOW_MADE: Final = frozenset({_UNANSWERABLE, "counterfactual", "multi_hop"})
"""Labels of how a query was made, which a labeller can only confirm or contradict."""


@dataclass(frozen=True)
class GenerationPlan:
    """The size and the composition of a test set, and how it is made.

    Args:
        strategy: a key of `ragstone.building.strategies.STRATEGIES`.
        count: number of queries to keep.
        mix: label -> share of the queries; if empty, the strategy's labels in equal shares.
        seed: seed of the order in which passages are used.
        rounds: maximum number of rounds; each asks for the missing queries, with unused passages.
        per_passage: maximum number of queries per passage.
        thresholds: critique -> minimum rating (1 to 5) of a query that is kept.
    """

    strategy: str = "statements"
    count: int = 30
    mix: Mapping[str, float] = field(default_factory=dict)
    seed: int = 0
    rounds: int = limits.GENERATION_ROUNDS
    per_passage: int = 1
    thresholds: Mapping[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Raise `ConfigError` if no strategy can meet the plan."""
        if self.strategy not in STRATEGIES:
            raise ConfigError(
                f"unknown strategy {self.strategy!r}{did_you_mean(self.strategy, STRATEGIES)}"
            )
        legal = STRATEGIES[self.strategy].labels
        for label in self.mix:
            if label not in legal:
                raise ConfigError(
                    f"the strategy {self.strategy!r} has no label {label!r}"
                    f"{did_you_mean(label, legal)}"
                )
        if min(self.count, self.rounds, self.per_passage) < 1:
            raise ConfigError("count, rounds and per_passage must be 1 or more")
        if self.mix and (min(self.mix.values()) < 0 or not sum(self.mix.values())):
            raise ConfigError(f"the shares of a mix must be 0 or more, not all 0: {dict(self.mix)}")
        check_thresholds(self.thresholds)

    @property
    def wanted(self) -> dict[str, int]:
        """Label -> number of queries; the largest remainders are rounded up.

        >>> mix = {"fact_single": 0.5, "summary": 0.25, "reasoning": 0.25}
        >>> GenerationPlan(count=10, mix=mix).wanted
        {'fact_single': 5, 'summary': 3, 'reasoning': 2}
        """
        mix = self.mix or dict.fromkeys(STRATEGIES[self.strategy].labels, 1.0)
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


@dataclass(frozen=True)
class Generated:
    """The drafts of a test set, and how they came about."""

    plan: GenerationPlan
    model: str
    drafts: list[Draft]
    """Kept and rejected ones, in order."""
    passages: Usable

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
        return f"{self.plan.rounds} rounds were made" if tried else "no passage was left"

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


def generate(
    corpus: Corpus,
    plan: GenerationPlan,
    writer: QueryWriter,
    *,
    labeller: VerdictJudge | None = None,
    critics: VerdictJudge | None = None,
) -> Generated:
    """Write test queries about a corpus until the plan is met or no passage is left.

    Args:
        corpus: the passages; the result lists unusable ones with the reason.
        plan: number of queries per label, and the strategy.
        writer: the model that writes.
        labeller: gives each query its label, and rejects unanswerable ones; if None, each query
            keeps the label of the plan.
        critics: rates each query; see `GenerationPlan.thresholds`.
    """
    strategy = STRATEGIES[plan.strategy]
    passages = usable(corpus, in_language=writer.prompts.language)
    made = Generated(plan, writer.model.endpoint.model, [], passages)
    units = strategy.units(passages.passages, plan.seed)
    queue = iter([unit for _ in range(plan.per_passage) for unit in units])
    for _ in range(plan.rounds):
        batch = _next(made, queue)
        if not batch:
            break
        strategy.write(batch, writer)
        made.drafts.extend(batch)
        _reject_repeats(made.drafts)
        _label([draft for draft in batch if not draft.reason], labeller, writer.services)
        _rate([draft for draft in batch if not draft.reason], critics, plan, writer.services)
    return made


def _next(made: Generated, queue: Iterator[Unit]) -> list[Draft]:
    """Return a draft per missing query, as long as there are units."""
    kept = Counter(draft.obtained_label for draft in made.kept)
    return [
        Draft(made.plan.strategy, label, unit)
        for label, wanted in made.plan.wanted.items()
        for unit in islice(queue, max(wanted - kept[label], 0))
    ]


def _reject_repeats(drafts: Sequence[Draft]) -> None:
    """Reject questions that nearly or exactly repeat the question of an earlier draft."""
    live = [d for d in drafts if not d.reason and d.question]
    first: dict[str, Draft] = {}
    for draft in live:
        before = first.setdefault(" ".join(pieces(squeezed(draft.question))), draft)
        if before is not draft:
            draft.reason = f"repeats the question of {before.item_id}"
    pairs = near_pairs(character_shingles(d.question for d in live), _SAME_QUESTION)
    for pair in sorted(pairs, key=lambda p: p.second):
        one, other = live[pair.first], live[pair.second]
        digits = [[c for c in d.question if c.isdigit()] for d in (one, other)]
        if not (one.reason or other.reason) and digits[0] == digits[1]:
            other.reason = f"nearly repeats the question of {one.item_id}"


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
