"""The page of the causes of wrong answers: their shares, the gains of fixes, and a list."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from ragstone.causes.order import BY_NAME, CAUSES
from ragstone.results.causes.found import FoundCauses, QueryCause, causes_of
from ragstone.results.causes.gains import Gain, gains_of
from ragstone.results.results import Results
from ragstone.view.chosen import (
    chosen_experiment,
    experiment_filter,
    system_and_setting,
    trial_filters,
)
from ragstone.view.query_filter import QueryFilter, found_queries, label_values
from ragstone.view.store_view import ListedExperiment, StoreView
from ragstone.view.tables import (
    Consequence,
    ListPage,
    ViewColumn,
    ViewFilter,
    ViewTable,
    drawn_mean,
    list_page,
    paged,
    plot_axis,
)
from ragstone.web import limits
from ragstone.web.errors import StateText
from ragstone.web.numbers import points, signed
from ragstone.web.page_query import PageQuery, page_address

TONES: Final[Mapping[str, str]] = {
    "retrieval": "finding",
    "reading": "reading",
    "refusal": "refusing",
    "failure": "failed",
    "undecided": "open",
    "refinement": "open",
}
"""Group of a cause -> its colour and pattern."""
_STEPS: Final = {
    "retrieval": "perfect retrieval",
    "ranking": "a perfect ranking",
    "processing": "no loss by the processor",
    "noise": "no noise",
    "reader": "a perfect reader",
    "refusal": "perfect refusals",
}


@dataclass(frozen=True)
class CausesView:
    """The wrong answers that an address selects."""

    results: Results
    found: FoundCauses
    """The causes of the chosen system and setting."""
    selected: tuple[QueryCause, ...]
    """Those that match all filters."""
    system: str
    setting: str


def selected_causes(view: StoreView, query: PageQuery, experiment: str) -> CausesView:
    """Return the wrong answers of an experiment that match the filters of an address.

    The filters are those of `QueryFilter`; an answer that is right is not listed.
    """
    results = view.results(experiment)
    system, setting = system_and_setting(results, query)
    found = causes_of(results).only(system or None, setting or None)
    query.choice("cause", BY_NAME)
    wanted = QueryFilter.of_address(query.link({"experiment": experiment}))
    kept = {
        (one.query_id, one.system, one.setting)
        for fitting in found_queries(results, wanted)
        for one in fitting.answers
    }
    selected = [one for one in found.queries if (one.query_id, one.system, one.setting) in kept]
    return CausesView(results, found, tuple(selected), system, setting)


def causes_page(view: StoreView, query: PageQuery) -> ListPage:
    """Return the causes of an experiment's wrong answers."""
    experiment = chosen_experiment(view, query, _has_answers)
    filters = [experiment_filter(view, experiment, _has_answers)]
    if not experiment:
        state = StateText("No experiment of this store has answers.", command="ragstone run demo")
        return ListPage("No wrong answers", filters=filters, state=state)
    if not view.results(experiment).correctness:
        then = "Causes need a rule that calls an answer correct. Add `correct: Match` to its file."
        state = StateText(f"{experiment} has no rule for correct answers.", then)
        return ListPage(f"No causes of {experiment}", filters=filters, state=state)
    causes = causes_of(view.results(experiment))
    trials = {(one.system, one.setting) for one in causes.counts}
    asked = query.text("system"), query.text("setting")
    if not any(asked[0] in ("", s) and asked[1] in ("", t) for s, t in trials):
        system_and_setting(view.results(experiment), query)  # an unknown name is an error
        then = "Causes are those of answers with a retrieved or mixed context."
        link = page_address("/causes", {"experiment": experiment})
        said = "No causes are decided for this system and setting."
        state = StateText(said, then, link=link, link_text="All trials with causes")
        return ListPage(f"No causes of {experiment}", filters=filters, state=state)
    of = selected_causes(view, query, experiment)
    filters += trial_filters(of.results, of.system, of.setting)
    known = list(dict.fromkeys(one.cause for one in of.found.queries))
    ordered = [cause.name for cause in CAUSES if cause.name in known]
    filters += [
        ViewFilter("cause", "Cause", query.text("cause"), ordered),
        ViewFilter(
            "label", "Label", query.text("label"), label_values(of.results)[: limits.VIEW_ROWS]
        ),
        ViewFilter("q", "Text", query.text("q")),
    ]
    gains = [
        one
        for one in gains_of(of.results)
        if (one.system, one.setting) in {(c.system, c.setting) for c in of.found.counts}
    ]
    return ListPage(
        _verdict(of, gains),
        _basis(of),
        (*_follows(of, gains, experiment), *_files(of, query, experiment)),
        filters,
        (*_summaries(of, gains, query, experiment), _list(of, query, experiment)),
        more={"experiment": experiment},
    )


def _labels(of: CausesView) -> list[str]:
    return label_values(of.results)[: limits.VIEW_ROWS]


def _has_answers(one: ListedExperiment) -> bool:
    return bool(one.settings)


def _verdict(of: CausesView, gains: Sequence[Gain]) -> str:
    wrong = sum(one.wrong for one in of.found.counts)
    groups = Counter(BY_NAME[one.base].group for one in of.found.queries)
    if not wrong:
        return "No answer is wrong."
    group, n = groups.most_common(1)[0]
    where = {
        "refusal": "Wrong refusals have",
        "failure": "Failed calls have",
        "undecided": "The trials at hand do not decide",
    }.get(group, f"The {group} step has")
    said = f"{where} {n:,} of {wrong:,} wrong answers."
    if len(of.found.counts) == 1 and (best := _largest(gains)):
        most = "at most " if best.bound else ""
        step = _STEPS.get(best.step, f"a perfect {best.step}")
        said += f" {step[0].upper()}{step[1:]} would gain {most}{points(best.gain, best.n)} points."
    return said


def _largest(gains: Sequence[Gain]) -> Gain | None:
    return max((one for one in gains if one.gain > 0), key=lambda one: one.gain, default=None)


def _basis(of: CausesView) -> str:
    counts = of.found.counts
    answers, right = sum(one.answers for one in counts), sum(one.right for one in counts)
    left_out = sum(sum(one.left_out.values()) for one in counts)
    where = " under ".join(filter(None, (of.system or "all systems", of.setting or "all settings")))
    return (
        f"{of.results.name}, {where}: {answers:,} answers, {right:,} right, {left_out:,} neither "
        f"right nor wrong. An answer is correct by {of.results.correctness}. Each wrong answer has "
        "one cause, decided by trials of the same query under other settings. Intervals are 95 %."
    )


def _follows(of: CausesView, gains: Sequence[Gain], experiment: str) -> list[Consequence]:
    found = []
    if best := _largest(gains) if len(of.found.counts) == 1 else None:
        step = _STEPS.get(best.step, best.step)
        link = page_address("/experiment/" + experiment)
        said = f"{step[0].upper()}{step[1:]}: {signed(best.gain)} of {of.results.correctness}."
        found.append(Consequence("Largest gain", said, link, "The experiment"))
    if missing := of.found.missing:
        trial, n = next(iter(missing.items()))
        said = f"{n:,} wrong answers need {trial}."
        found.append(Consequence("Not decided", said))
    if len(of.found.counts) > 1:
        worst = max(of.found.counts, key=lambda one: one.wrong / max(1, one.right + one.wrong))
        values = {"experiment": experiment, "system": worst.system, "setting": worst.setting}
        said = f"{worst.system} under {worst.setting} has {worst.wrong:,} wrong answers."
        link = page_address("/causes", values)
        found.append(Consequence("Most wrong answers", said, link, "Show its causes"))
    return found


def _files(of: CausesView, query: PageQuery, experiment: str) -> Iterator[Consequence]:
    """Yield the way to the files of the list."""
    if of.selected:
        here = query.link({"experiment": experiment, "from": ""})
        link = page_address("/queries", QueryFilter.of_address(here).values())
        said = "The list can become a data set, a CSV or an annotation project."
        yield Consequence("Files", said, link, "Open as a list of queries")


def _summaries(
    of: CausesView, gains: Sequence[Gain], query: PageQuery, experiment: str
) -> list[ViewTable]:
    """Return the shares and the gains of one trial, or the counts of several trials."""
    if len(of.found.counts) != 1:
        return [_trials(of, experiment)]
    wrong = of.found.counts[0].wrong
    shares: list[dict[str, Any]] = [
        {
            "cause": {"name": one.cause, "tone": TONES[BY_NAME[one.cause].group]},
            "meaning": BY_NAME[one.cause].meaning,
            "share": drawn_mean(one.share, one.interval, one.n),
            "n": one.n,
            "links": {"cause": query.link({"cause": one.cause, "from": ""})},
        }
        for one in of.found.shares
    ]
    columns = [
        ViewColumn("cause", "Cause", "cause"),
        ViewColumn("meaning", "Rule", "words"),
        ViewColumn("share", f"Share of {wrong:,} wrong answers", "proportion"),
    ]
    axis = plot_axis([row["share"] for row in shares], guide=0.0)
    tables = [ViewTable("shares", f"{wrong:,} wrong answers by cause", columns, shares, axis=axis)]
    if gains:
        tables.append(_gains(gains))
    return [one for one in tables if one.rows]


def _gains(gains: Sequence[Gain]) -> ViewTable:
    rows: list[dict[str, Any]] = [
        {
            "step": _STEPS.get(one.step, one.step),
            "gain": {
                "difference": one.gain,
                "n": one.n,
                "p": None,
                "outcome": _outcome(one),
                "interval": one.interval and list(one.interval),
            },
            "bound": "at most" if one.bound else "measured",
            "shapley": signed(one.shapley),
            "missing": one.missing_trial or "none",
        }
        for one in gains
    ]
    columns = [
        ViewColumn("step", "With", "title"),
        ViewColumn("gain", "Gain of right answers", "difference"),
        ViewColumn("bound", "Measured or bound", "label"),
        ViewColumn("shapley", "Shapley value", "label"),
        ViewColumn("missing", "Missing trial"),
    ]
    lead = (
        "One step is replaced by a perfect one, and the others stay the same. The gains overlap "
        "and do not add up; their Shapley values do."
    )
    axis = plot_axis([row["gain"] for row in rows], key="difference", guide=0.0)
    return ViewTable("gains", "Gain of a perfect step", columns, rows, lead, axis=axis)


def _outcome(one: Gain) -> str:
    return "better" if one.interval and one.interval[0] > 0 else "undecided"


def _trials(of: CausesView, experiment: str) -> ViewTable:
    rows = []
    for one in of.found.counts:
        groups = Counter(BY_NAME[c.base].group for c in of.found.of(one.system, one.setting))
        values = {"experiment": experiment, "system": one.system, "setting": one.setting}
        rows.append(
            {
                "system": one.system,
                "setting": one.setting,
                "answers": one.answers,
                "right": one.right,
                "wrong": one.wrong,
                "decided": one.decided,
                "causes": ", ".join(f"{group} {n}" for group, n in groups.most_common()),
                "links": {"system": page_address("/causes", values)},
            }
        )
    columns = [
        ViewColumn("system", "System", "name"),
        ViewColumn("setting", "Setting", "label"),
        ViewColumn("answers", "Answers", "count"),
        ViewColumn("right", "Right", "count"),
        ViewColumn("wrong", "Wrong", "count"),
        ViewColumn("decided", "Cause decided", "count"),
        ViewColumn("causes", "Wrong answers by step"),
    ]
    lead = "A link shows the shares of one trial with their intervals."
    return ViewTable("trials", "Trials", columns, rows, lead)


def _list(of: CausesView, query: PageQuery, experiment: str) -> ViewTable:
    answers = {(one.system, one.setting): one.predictions for one in of.results.trials}
    here = QueryFilter.of_address(query.link({"experiment": experiment}))
    listed = {"cause": here.cause, "label": here.label, "q": here.q}

    def row(one: QueryCause) -> dict[str, Any]:
        asked = of.results.queries[one.query_id]
        given = answers[one.system, one.setting].get(one.query_id)
        reply = f"No answer: {given.reason}" if given and given.answer is None else ""
        values = {"experiment": experiment, "system": one.system, "setting": one.setting}
        place = f"{one.query_id}, {one.system}, {one.setting}"
        return {
            "query_id": one.query_id,
            "system": one.system,
            "setting": one.setting,
            "query": asked.text,
            "cause": {"name": one.cause, "tone": TONES[BY_NAME[one.base].group]},
            "within": one.within,
            "evidence": one.evidence,
            "missing_trial": one.missing_trial,
            "answer": reply or (given.answer or "" if given else ""),
            "gold": " | ".join(asked.gold_answers),
            "links": {"query": page_address(f"/query/{one.query_id}", {**values, **listed})},
            "notes": {
                "query": place,
                "cause": f"refines {one.within}" if one.within else "",
                "evidence": f"Needs {one.missing_trial}." if one.missing_trial else "",
            },
        }

    columns = [
        ViewColumn("query", "Query", "title"),
        ViewColumn("cause", "Cause", "cause"),
        ViewColumn("evidence", "Evidence"),
        ViewColumn("answer", "Answer", "long"),
        ViewColumn("gold", "Gold", "long"),
    ]
    return ViewTable(
        *("wrong", "Wrong answers", columns),
        unit="wrong answers",
        total=len(of.found.queries),
        **paged(query, of.selected, row),
    )


CAUSES_PAGE: Final = list_page("/causes", "Causes", causes_page, tab="Causes")
