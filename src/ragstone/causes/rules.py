"""The rules that decide the cause of a wrong answer, in their order.

1. There is no answer: `failure`.
2. The gold answer is doubtful: `label_suspect`.
3. The query is labelled unanswerable and was answered: `missed_refusal`.
4. Some repeats of the answer are right: `undecided`, since the wrong answer may be chance.
5. A gold passage was shown and the system refused: `false_refusal`.
6. Wrong with the gold passages alone: `knowledge_conflict` if it is right without context, or else
   `reading`.
7. A gold passage was lost on the way to the context: the step that lost it.
8. A gold passage was shown: `distraction` if the answer is right with the gold passages alone.

An answer that no rule decides is `undecided`, with the trial that would decide it. A refinement
then replaces the cause and keeps it in `within`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from ragstone.causes.evidence import Evidence, GoldPath
from ragstone.causes.order import (
    BY_NAME,
    GOLD,
    LOST,
    NONE,
    QRELS,
    REFUSALS,
    REPEATS,
    SUFFICIENT,
    CauseName,
)


@dataclass(frozen=True, slots=True)
class Decision:
    """The cause of one wrong answer, and the evidence for it."""

    cause: CauseName
    evidence: str
    """The evidence for the cause, as a sentence without a full stop."""
    within: CauseName | None = None
    """The cause that this one refines."""
    missing_trial: str | None = None
    """The trial that would decide the cause, or the one that it refines; None if it is decided."""


_FARTHEST: Final = (
    "retrieval_miss",
    "ranking",
    "reranking",
    "query_rewriting",
    "processing",
    None,
)
"""The steps by how far a gold passage came. One that the gold rewrite brings into the context is
near it, whatever other gold passages were not found."""
_Rule = Callable[[Evidence], Decision | None]


def decide(found: Evidence) -> Decision:
    """Return the cause of a wrong answer.

    >>> decide(Evidence(gold=(GoldPath("p"),), depth=100)).evidence
    'no gold passage is among the 100 retrieved'
    >>> path = GoldPath("p", retrieved=1, ranked=1, built=True, shown=True)
    >>> decide(Evidence(gold=(path,), right_with_gold=True)).cause
    'distraction'
    """
    decision = next(filter(None, (rule(found) for rule in RULES)), None)
    return _refined(decision or _open(found), found)


def lost_at(path: GoldPath, found: Evidence) -> CauseName | None:
    """Return the step at which a gold passage was lost; None if the generator was shown it.

    >>> lost_at(GoldPath("p", retrieved=9, ranked=9), Evidence(depth=100, cut=5))
    'ranking'
    """
    if path.shown and path.kept:
        return None
    if path.built:
        return "processing"
    cut = found.cut or 0
    if path.with_rewrite is not None and path.with_rewrite <= cut:
        return "query_rewriting"
    if path.retrieved is None:
        # A passage that the system's search found but its context lacks was below its own cut.
        return "retrieval_miss" if path.hop is None else "ranking"
    lost = found.reranked and path.retrieved <= cut and (path.ranked or cut + 1) > cut
    return "reranking" if lost else "ranking"


def deciding_path(found: Evidence) -> tuple[CauseName | None, GoldPath]:
    """Return the step at which gold was lost (None if it was shown) and the passage it concerns.

    One gold passage is enough, so the one that came farthest counts; if all are needed, the one
    that was lost first.
    """
    paths = [(lost_at(path, found), path) for path in found.gold]
    if found.all_needed:
        return min(paths, key=lambda pair: (*LOST, None).index(pair[0]))
    return max(paths, key=lambda pair: _FARTHEST.index(pair[0]))


def gold_shown(found: Evidence) -> bool:
    """Return whether the generator was shown the gold that the answer needs."""
    return bool(found.gold) and found.context_known and deciding_path(found)[0] is None


def _failure(found: Evidence) -> Decision | None:
    return Decision("failure", found.failure) if found.failure else None


def _label(found: Evidence) -> Decision | None:
    return Decision("label_suspect", found.label_doubt) if found.label_doubt else None


def _unanswerable(found: Evidence) -> Decision | None:
    if not found.unanswerable:
        return None
    if found.refused is None:
        return Decision("undecided", "it is not known if the answer refuses", None, REFUSALS)
    return Decision("missed_refusal", "the query is labelled unanswerable, and it was answered")


def _chance(found: Evidence) -> Decision | None:
    if not found.right_repeats:
        return None
    right = f"{found.right_repeats} of {found.repeats} repeats are right"
    return Decision("undecided", right, None, REPEATS)


def _false_refusal(found: Evidence) -> Decision | None:
    if not (found.refused and gold_shown(found)):
        return None
    return Decision("false_refusal", f"refused, although {_where_shown(found)}")


def _reading(found: Evidence) -> Decision | None:
    """Decide the answers that are wrong with gold alone, whatever else was shown."""
    if not found.gold or found.right_with_gold is not False:
        return None
    if found.right_without is None:
        return Decision("undecided", "wrong with the gold passages alone", None, NONE)
    if found.right_without:
        evidence = "right without context, wrong with the gold passages alone"
        return Decision("knowledge_conflict", evidence)
    return Decision("reading", "wrong with the gold passages alone, and without context")


def _lost(found: Evidence) -> Decision | None:
    if not found.gold or not found.context_known:
        return None
    step, path = deciding_path(found)
    if step is None:
        return None
    alone = "; right with the gold passages alone" if found.right_with_gold else ""
    return Decision(step, f"{_where_lost(step, path, found)}{alone}")


def _distraction(found: Evidence) -> Decision | None:
    if not (found.right_with_gold and gold_shown(found)):
        return None
    right = "right with the gold passages alone"
    return Decision("distraction", f"{right}, wrong although {_where_shown(found)}")


RULES: Final[tuple[_Rule, ...]] = (
    _failure,
    _label,
    _unanswerable,
    _chance,
    _false_refusal,
    _reading,
    _lost,
    _distraction,
)
"""The rules in their order; the first with a decision counts."""


def _open(found: Evidence) -> Decision:
    """Return `undecided`, with the data that a decision needs."""
    if not found.gold:
        missing = f"{QRELS}, or {SUFFICIENT}" if found.sufficient is None else QRELS
        return Decision("undecided", "the query has no gold passage", None, missing)
    if not found.context_known:
        evidence = "it is not known what the generator was shown"
        return Decision("undecided", evidence, None, "contexts reported by the system")
    return Decision("undecided", f"wrong although {_where_shown(found)}", None, GOLD)


def _refined(decision: Decision, found: Evidence) -> Decision:
    """Return a refinement of a decision, or the decision itself."""
    base = BY_NAME[decision.cause]
    pending = decision.cause == "undecided" and decision.missing_trial != REPEATS
    if base.group not in {"retrieval", "reading"} and not pending:
        return decision
    if found.right_with_neighbours:
        evidence = f"right if neighbouring passages are joined; {decision.evidence}"
        return Decision("chunk_border", evidence, base.name, decision.missing_trial)
    if found.covered is not None and 0 < found.covered < 1:
        evidence = f"{found.covered:.0%} of the required facts; {decision.evidence}"
        return Decision("incomplete", evidence, base.name, decision.missing_trial)
    # A lost gold passage explains by itself why the context does not suffice.
    if found.sufficient is False and base.group != "retrieval":
        evidence = f"what was shown cannot answer the query; {decision.evidence}"
        return Decision("insufficient_context", evidence, base.name, decision.missing_trial)
    return decision


def _where_shown(found: Evidence) -> str:
    if found.all_needed and len(found.gold) > 1:
        return f"all {len(found.gold)} gold passages were shown"
    path = deciding_path(found)[1]
    return f"the gold passage {path.passage_id} was shown"


def _where_lost(step: CauseName, path: GoldPath, found: Evidence) -> str:
    one = f"the gold passage {path.passage_id}"
    if step == "processing":
        lost = "the text of the gold answer was cut from it" if path.shown else "it was cut away"
        return f"{one} was in the context as built; {lost}"
    if step == "query_rewriting":
        own = f"at rank {path.ranked}" if path.ranked is not None else "not found"
        return f"{one} is at rank {path.with_rewrite} with the gold rewrite, {own} with the query"
    if step == "retrieval_miss":
        return _where_missed(one, found)
    if step == "reranking":
        after = f"at rank {path.ranked}" if path.ranked is not None else "not ranked"
        return f"{one} was at rank {path.retrieved} before reranking, {after} after it"
    if path.hop is not None:
        return f"{one} was found in search {path.hop}, and is not in the context"
    return f"{one} is at rank {path.ranked or path.retrieved}, below the cut at {found.cut}"


def _where_missed(one: str, found: Evidence) -> str:
    several = found.all_needed and len(found.gold) > 1
    among = "was retrieved" if found.depth is None else f"is among the {found.depth:,} retrieved"
    hop = found.lost_at_hop
    first = "" if hop is None else f"; search {hop} was the first that found no further one"
    if several:
        return f"{one} {among.replace(' ', ' not ', 1)}{first}"
    return f"no gold passage {among}{first}"
