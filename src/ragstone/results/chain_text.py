"""The chains of a query as text and as plain data: `ragstone why`."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from ragstone.causes.evidence import GoldPath
from ragstone.core import limits
from ragstone.core.screen_text import shorten
from ragstone.core.tables import TextTable
from ragstone.results.chain import QueryChain, SettingAnswer
from ragstone.results.influence import AnswerInfluence
from ragstone.results.reader import StoredResults
from ragstone.results.wording import ABSENT


def chains_document(
    results: StoredResults,
    chains: Sequence[QueryChain],
    influence: AnswerInfluence | None = None,
) -> dict[str, Any]:
    """Return a query and its chains as plain data (`ragstone why --json`)."""
    query = results.queries[chains[0].query_id]
    return {
        "experiment": results.name,
        "query_id": query.query_id,
        "text": query.text,
        "history": [[message.role, message.text] for message in query.history],
        "gold_answers": list(query.gold_answers),
        "chains": [chain.to_dict() for chain in chains],
        **({} if influence is None else {"influence": influence.to_dict()}),
    }


def chains_text(
    results: StoredResults,
    chains: Sequence[QueryChain],
    influence: AnswerInfluence | None = None,
) -> str:
    """Return a query and its chains as text."""
    query = results.queries[chains[0].query_id]
    head = [
        f"Query {query.query_id} of {results.name}",
        *(f"  {message.role}: {message.text}" for message in query.history),
        query.text,
        f"Gold answers: {' | '.join(query.gold_answers) or 'none'}",
    ]
    blocks = ("\n".join(map(str, _lines(results, chain))) for chain in chains)
    more = [] if influence is None else [str(influence)]
    return _printable("\n\n".join(["\n".join(head), *blocks, *more]))


def _printable(text: str) -> str:
    """Return a text whose control characters, such as those of a terminal, are blanks."""
    return "".join(c if c.isprintable() or c == "\n" else " " for c in text)


def _lines(results: StoredResults, chain: QueryChain) -> Iterator[str | TextTable]:
    own = chain.own
    yield f"== {chain.system} under {chain.setting}: {_verdict(own)}"
    yield f"Answer: {_said(own)}"
    yield from _cause(results, chain)
    if chain.search is not None:
        yield f"Search text: {chain.search}"
    for number, hop in enumerate(chain.hops, start=1):
        found = ", ".join(passage.passage_id for passage in hop.passages) or "nothing found"
        yield f"Hop {number}: {hop.query} ({found})"
    yield ""
    yield from _gold(chain)
    yield ""
    yield from _context(chain)
    yield ""
    lines = [
        [
            f"{one.setting} (counterfactual: {one.note})" if one.note else one.setting,
            _verdict(one),
            shorten(_said(one), limits.SHOWN_TEXT_CHARACTERS),
        ]
        for one in chain.answers
    ]
    yield TextTable(["setting", "verdict", "answer"], lines, "Answers under each setting")


def _cause(results: StoredResults, chain: QueryChain) -> Iterator[str]:
    """Yield the cause of a wrong answer, its evidence and the trials that would decide it."""
    if chain.cause:
        within = f" (within {chain.within})" if chain.within else ""
        yield f"Cause: {chain.cause}{within}: {chain.evidence}"
    elif results.correctness is None:
        yield "No cause: the experiment has no rule for correct answers (`correct`)"
    elif chain.right is False:
        yield "No cause: this setting is one of those that decide the causes of others"
    if chain.missing_trial:
        yield f"To decide it: {chain.missing_trial}"


def _gold(chain: QueryChain) -> Iterator[str | TextTable]:
    """Yield the rank of each gold passage at each step."""
    if not chain.gold:
        yield "Gold passages: the data set has none for this query"
        return
    places = {p.passage_id: n for n, p in enumerate(chain.context or (), start=1)}
    rows = [_steps(chain, one, places.get(one.passage_id)) for one in chain.gold]
    below = [] if chain.depth is None else [f"{chain.depth:,} passages were retrieved"]
    if chain.cut is not None:
        below.append(f"the context takes those up to rank {chain.cut:,}")
    headers = ["gold passage", "retrieved", "ranked", "in the context", "shown at"]
    yield TextTable(headers, rows, "Ranks of gold passages", below=below)


def _steps(chain: QueryChain, one: GoldPath, place: int | None) -> list[object]:
    shown: object = "not shown" if chain.context is not None else "not known"
    if one.shown:
        shown = "in a longer text" if place is None else place
        shown = shown if one.kept else f"{shown}, without the gold answer"
    ranks = [_rank(chain, rank) for rank in (one.retrieved, one.ranked)]
    return [one.passage_id, *ranks, "yes" if one.built else "no", shown]


def _rank(chain: QueryChain, rank: int | None) -> object:
    return (ABSENT if chain.depth is None else "not found") if rank is None else rank


def _context(chain: QueryChain) -> Iterator[str]:
    """Yield the passages that were shown."""
    if chain.context is None:
        yield "Context: it is not known what the generator was shown"
        return
    gold = {one.passage_id for one in chain.gold}
    yield f"Context ({len(chain.context):,} passages)"
    for number, passage in enumerate(chain.context, start=1):
        origin = "gold" if passage.passage_id in gold else passage.origin
        text = shorten(passage.text.strip(), limits.SHOWN_TEXT_CHARACTERS)
        yield f"{number:>3}. [{passage.passage_id}; {origin}] {text}"


def _verdict(one: SettingAnswer | None) -> str:
    if one is None:
        return "not asked"
    return "not known" if one.right is None else "right" if one.right else "wrong"


def _said(one: SettingAnswer | None) -> str:
    if one is None:
        return ABSENT
    return f"no answer: {one.reason}" if one.answer is None else one.answer
