"""The first sentence of a report: the main result of the experiment."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ragstone.results.leaderboards import leads, retrieval_lead
from ragstone.results.oracle import context_gains, right_answers
from ragstone.results.wording import interval_text, number, signed
from ragstone.statistics.paired import paired_summary
from ragstone.statistics.summary import clusters_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ragstone.results.leaderboards import Lead
    from ragstone.results.oracle import ContextGain
    from ragstone.results.reader import StoredResults
    from ragstone.statistics.summary import Summary


def lesson(results: StoredResults) -> str:
    """Return the main result, as one sentence; "" without any result.

    It is the effect of gold context, and of retrieval in its place, on the system with the best
    answers. Without gold context it is the best system with its mean.
    """
    gains = context_gains(results)
    if gains:
        return _gold_sentence(results, max(gains, key=lambda gain: gain.mean))
    found = [*leads(results), retrieval_lead(results)]
    return next((_lead_sentence(results, lead) for lead in found if lead), "")


def main_lead(leads: Sequence[Lead]) -> Lead | None:
    """Return the lead that decides between systems: of retrieved passages if there is one.

    Otherwise it is that of the last setting, because `none` and gold context come first.
    """
    retrieved = (lead for lead in leads if lead.setting.startswith("retrieved"))
    return next(retrieved, leads[-1] if leads else None)


def verdict_sentence(results: StoredResults, lead: Lead | None) -> str:
    """Return whether a system is shown to be best, with its mean; "" without any mean."""
    if lead is None:
        return ""
    found, best = lead.summary, lead.best
    where = f" under {lead.setting}" if lead.setting else " of retrieval"
    failed = f", {found.failed} of them failed" if found.failed else ""
    mean = f"{lead.metric} {number(found.mean)}{interval_text(found.interval)}"
    measured = f"{mean}{where} on {found.n} queries{failed}"
    if not lead.runner_up:
        return f"{best} has {measured}."
    if not lead.tied:
        others = "every other system" if len(results.systems) > 2 else lead.runner_up  # noqa: PLR2004
        return f"{best} is shown to be better than {others}: {measured}."
    one = len(lead.tied) == 1
    rest = lead.tied[0] if one else f"{len(lead.tied)} other systems"
    told = f"{rest} {'is' if one else 'are'} not told apart from it"
    return f"No system is shown to be best: {best} has {measured}, and {told}."


def _gold_sentence(results: StoredResults, gain: ContextGain) -> str:
    what = f"Gold context changes {results.correctness} of {gain.system}"
    first = f"{what} by {signed(gain.difference)} on {gain.difference.n} queries"
    lost = _retrieval_change(results, gain.system)
    if lost is None:
        return f"{first}."
    setting, change = lost
    return f"{first}, and its own passages in place of them ({setting}) by {signed(change)}."


def _retrieval_change(results: StoredResults, system: str) -> tuple[str, Summary] | None:
    """Return the first setting with retrieved passages alone, and its change from gold context."""
    trials = {trial.setting: trial for trial in results.trials if trial.system == system}
    setting = next((name for name in trials if name.startswith("retrieved")), None)
    if setting is None:
        return None
    gold, own = (
        right_answers(results, trials[name]) for name in (str(results.record.oracle), setting)
    )
    ids = [query_id for query_id in gold if query_id in own]
    change = paired_summary(
        [gold[query_id] for query_id in ids],
        [own[query_id] for query_id in ids],
        clusters=clusters_of(ids, results.clusters),
    )
    return (setting, change) if change.n else None


def _lead_sentence(results: StoredResults, lead: Lead) -> str:
    of = f" under {lead.setting}" if lead.setting and len(results.settings) > 1 else ""
    found = lead.summary
    failed = f", {found.failed} of them without an answer" if found.failed else ""
    mean = f"{number(found.mean)}{interval_text(found.interval)}"
    first = f"{lead.best} has {lead.metric} {mean}{of} on {found.n} queries{failed}"
    return f"{first}: {lead.sentence}" if lead.runner_up else f"{first}."
