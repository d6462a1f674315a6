"""The page that compares two trials of any experiments, with the causes of changed queries."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from ragstone.causes.changes import CHANGES
from ragstone.errors import DatasetError
from ragstone.evaluation.changes import QueryChange
from ragstone.evaluation.compare import compare
from ragstone.evaluation.comparison import Comparison
from ragstone.evaluation.flipped_texts import FlippedQuery
from ragstone.evaluation.kept_probes import probes_state
from ragstone.evaluation.metric_comparison import MetricComparison
from ragstone.results.by_label import labels_of
from ragstone.results.judge_notes import MARK
from ragstone.statistics.breakdown import groups_of
from ragstone.view.chosen import TrialName, read_trial, trials_of
from ragstone.view.store_view import StoreView
from ragstone.view.tables import (
    Consequence,
    ListPage,
    PlotAxis,
    ViewColumn,
    ViewFilter,
    ViewTable,
    counted,
    list_page,
    paged,
    plot_axis,
)
from ragstone.web.errors import PageError, StateText
from ragstone.web.numbers import share, signed, signed_interval
from ragstone.web.page_query import PageQuery, page_address

_SIDES: Final = ("a", "b")
_TONES: Final[Mapping[str, str]] = {
    **dict.fromkeys(("now_retrieved", "not_retrieved", "now_shown", "now_cut"), "finding"),
    **dict.fromkeys(("noise_added", "noise_removed", "order_changed", "text_changed"), "reading"),
    **dict.fromkeys(("prompt", "generator"), "reading"),
    "failure": "failed",
}
"""Cause of a change -> its colour and pattern."""
_CHANGED: Final = {"better": "gained", "worse": "lost"}


def compare_page(view: StoreView, query: PageQuery) -> ListPage:
    """Return two trials side by side, or the trials to choose from."""
    named = {side: query.text(side) for side in _SIDES}
    trials = {side: read_trial(view, name) for side, name in named.items() if name}
    if len(trials) < len(_SIDES):
        return _choose(view, query, trials)
    if trials["a"] == trials["b"]:
        then = "Their numbers are equal. Choose another trial."
        link = page_address("/compare", {"a": named["a"]})
        state = StateText("A and B are the same trial.", then, link=link, link_text="Choose B")
        return ListPage("Nothing to compare", filters=_sides(named), state=state)
    by = query.choice("by", labels_of(view.results(trials["a"].experiment)))
    state_of = tuple(view.experiment(one.experiment).digest for one in trials.values())
    # It has the texts of both trials, so that only the last one is kept.
    made_of = (*trials.values(), by, state_of, probes_state(view.store))
    found = view.kept("comparison", made_of, lambda: _compared(view, trials, by))
    return _page(view, query, found, trials, by)


def _sides(named: Mapping[str, str]) -> list[ViewFilter]:
    return [ViewFilter(side, f"Trial {side.upper()}", named.get(side, "")) for side in _SIDES]


def _choose(view: StoreView, query: PageQuery, trials: Mapping[str, TrialName]) -> ListPage:
    """Return the trials of the store, each with a link that chooses it."""
    every = [one for one in view.experiments() if one.is_readable]
    words = query.text("q").lower().split()
    found = [
        trial
        for one in every
        for trial in trials_of(one)
        if all(word in str(trial).lower() for word in words)
    ]
    side = next(side for side in _SIDES if side not in trials)

    def row(trial: TrialName) -> dict[str, Any]:
        link = query.link({side: str(trial), "q": "", "from": ""})
        return {
            "system": trial.system,
            "setting": trial.setting or "retrieval",
            "experiment": trial.experiment,
            "choose": f"as {side.upper()}",
            "links": {"choose": link},
        }

    columns = [
        ViewColumn("system", "System", "name"),
        ViewColumn("setting", "Setting", "label"),
        ViewColumn("experiment", "Experiment", "label"),
        ViewColumn("choose", "Choose", "label"),
    ]
    total = sum(len(one.systems) * max(1, len(one.settings)) for one in every)
    table = ViewTable(
        *("trials", f"Choose trial {side.upper()}", columns),
        unit="trials",
        total=total,
        **paged(query, found, row),
    )
    named = {name: str(trial) for name, trial in trials.items()}
    filters = [*_sides(named), ViewFilter("q", "Part of a name", query.text("q"))]
    verdict = f"Choose what {named['a']} is compared with" if "a" in named else "Choose two trials"
    basis = "A trial is a system under a setting of an experiment. Any two can be compared."
    if not every:
        state = StateText("No experiment of this store has finished.", command="ragstone run demo")
        return ListPage(verdict, basis, filters=filters, state=state)
    return ListPage(verdict, basis, filters=filters, tables=(table,))


def _compared(view: StoreView, trials: Mapping[str, TrialName], by: str) -> Comparison:
    """Return the comparison of two trials, as `ragstone compare` makes it."""
    scores = {
        side.upper(): view.results(one.experiment).evaluation(one.system, one.setting)
        for side, one in trials.items()
    }
    queries = view.results(trials["a"].experiment).all_queries
    try:
        return compare(scores, by=groups_of(queries.values(), by) if by else None)
    except DatasetError as error:
        then = "Two trials are compared on the queries and metrics that both have."
        link = page_address("/compare", {"a": str(trials["a"])})
        raise PageError(
            400, StateText(str(error), then, link=link, link_text="Choose B")
        ) from error


def _page(
    view: StoreView, query: PageQuery, found: Comparison, trials: Mapping[str, TrialName], by: str
) -> ListPage:
    named = {side: str(trial) for side, trial in trials.items()}
    names = [one.metric for one in found.metrics]
    metric = query.choice("metric", names, found.headline)
    one = found[metric]
    labels = labels_of(view.results(trials["a"].experiment))
    changes = [
        (change, flipped)
        for flipped in found.flipped().values()
        for change in flipped.changes
        if change.metric == metric
    ]
    causes = [cause for cause in CHANGES if any(c.cause == cause for c, _ in changes)]
    filters = [
        *_sides(named),
        ViewFilter("metric", "Metric", metric, names, required=True),
        ViewFilter("by", "By label", by, labels),
        ViewFilter("change", "Cause of the change", query.choice("change", CHANGES), causes),
        ViewFilter(
            *("outcome", "Change", query.choice("outcome", _CHANGED.values())),
            list(_CHANGED.values()),
        ),
        ViewFilter("q", "Text", query.text("q")),
    ]
    tables = [_metrics(found), *_by_label(one, by), *_causes(query, changes)]
    judged = [f"{MARK} {m.metric} {note}." for m in found.metrics for note in m.judge_notes]
    notes = (*judged, *found.population[2:], *found.not_known_lines(), one.few_clusters)
    return ListPage(
        _verdict(one),
        _basis(found, one, trials),
        tuple(_follows(query, trials, changes)),
        filters,
        (*tables, _list(query, changes, trials)),
        [line for line in notes if line],
        more={"trials": named, "comparison": one.to_dict()},
    )


def _verdict(one: MetricComparison) -> str:
    if not one.pairs:
        return f"No query counts for both trials by {one.metric}."
    pair = one.pairs[0]
    gap = pair.difference
    numbers = f"{signed(gap.difference)} {signed_interval(gap.interval)}".strip()
    if pair.outcome in ("better", "worse"):
        return f"B is {pair.outcome} than A by {one.metric}: {numbers}."
    if pair.outcome == "equivalent":
        return f"A and B are equivalent by {one.metric}: {numbers}."
    return f"A and B are not shown to differ by {one.metric}: {numbers}."


def _basis(found: Comparison, one: MetricComparison, trials: Mapping[str, TrialName]) -> str:
    sides = []
    for side, trial in trials.items():
        summary = one.summaries[side.upper()]
        under = f" under {trial.setting}" if trial.setting else ""
        sides.append(
            f"{side.upper()} is {trial.system}{under} of {trial.experiment}: "
            f"{share(summary.mean)}, {summary.failed:,} failed."
        )
    over = found.clusters or "queries"
    return (
        f"{' '.join(sides)} {one.n:,} queries are compared. Intervals are "
        f"{100 * found.confidence:.0f} %, over {over}; p values are Holm-corrected over "
        f"{counted(found.tests, 'test')}."
    )


def _follows(
    query: PageQuery,
    trials: Mapping[str, TrialName],
    changes: Sequence[tuple[QueryChange, FlippedQuery]],
) -> Iterator[Consequence]:
    a, b = map(str, trials.values())
    swapped = page_address("/compare", {**query.values, "a": b, "b": a, "from": ""})
    yield Consequence("Direction", "The difference is B minus A.", swapped, "Swap A and B")
    lost = [change for change, _ in changes if change.outcome == "worse"]
    if lost:
        said = f"B is worse on {counted(len(lost), 'query')}."
        link = query.link({"outcome": "lost", "from": ""})
        yield Consequence("Lost", said, link, "Show them")
    if (one := trials["b"]).setting:
        where = {"experiment": one.experiment, "system": one.system, "setting": one.setting}
        said = "Wrong answers of B,"
        yield Consequence("Causes", said, page_address("/causes", where), "by cause")


def _metrics(found: Comparison) -> ViewTable:
    rows = [
        {
            "metric": f"{one.metric}{MARK}" if one.judge_notes else one.metric,
            "a": one.summaries["A"].mean,
            "b": one.summaries["B"].mean,
            "difference": _difference(one),
            "outcome": _OUTCOMES[one.pairs[0].outcome] if one.pairs else "no common query",
            "failed": f"{one.summaries['A'].failed:,}, {one.summaries['B'].failed:,}",
        }
        for one in found.metrics
    ]
    columns = [
        ViewColumn("metric", "Metric", "name"),
        ViewColumn("a", "A", "share"),
        ViewColumn("b", "B", "share"),
        ViewColumn("difference", "B minus A", "difference"),
        ViewColumn("failed", "Failed in A, B", "label"),
        ViewColumn("outcome", "B is", "label"),
    ]
    lead = "Metrics on other scales share the axis; their figures are beside it."
    return ViewTable("metrics", "Metrics", columns, rows, lead, axis=_axis(rows))


_OUTCOMES: Final = {
    "better": "better",
    "worse": "worse",
    "undecided": "not shown to differ",
    "equivalent": "equivalent",
}


def _axis(rows: Sequence[Mapping[str, Any]]) -> PlotAxis | None:
    return plot_axis([row["difference"] for row in rows], key="difference", guide=0.0)


def _difference(one: MetricComparison) -> dict[str, Any]:
    if not one.pairs:
        return {"difference": None, "interval": None, "n": one.n, "p": None, "outcome": ""}
    pair = one.pairs[0]
    gap = pair.difference
    return {
        "difference": gap.difference,
        "interval": None if gap.interval is None else list(gap.interval),
        "n": one.n,
        "p": pair.adjusted_p,
        "outcome": pair.outcome,
    }


def _by_label(one: MetricComparison, by: str) -> Iterator[ViewTable]:
    groups = one.by.get(("A", "B"), ())
    if not by or not groups:
        return
    rows = []
    for group in groups:
        gap = group.difference
        shown = gap.interval is not None and group.p_adjusted < 0.05  # noqa: PLR2004 - the level
        gained = (gap.difference > 0) is (one.scale.direction != "lower")
        outcome = ("better" if gained else "worse") if shown else "undecided"
        value = {
            "difference": gap.difference,
            "interval": None if gap.interval is None else list(gap.interval),
            "n": gap.n,
            "p": group.p_adjusted,
            "outcome": outcome,
        }
        changed = f"{gap.wins:,}, {gap.losses:,}"
        rows.append({"value": group.value, "difference": value, "changed": changed})
    columns = [
        ViewColumn("value", by, "name"),
        ViewColumn("changed", "Gained, lost", "label"),
        ViewColumn("difference", "B minus A", "difference"),
    ]
    lead = "p values are Holm-corrected over the values of the label."
    yield ViewTable("labels", f"{one.metric} by {by}", columns, rows, lead, axis=_axis(rows))


def _causes(
    query: PageQuery, changes: Sequence[tuple[QueryChange, FlippedQuery]]
) -> Iterator[ViewTable]:
    rows = []
    for cause, meaning in CHANGES.items():
        own = [change for change, _ in changes if change.cause == cause]
        if own:
            rows.append(
                {
                    "cause": {"name": cause, "tone": _TONES.get(cause, "open")},
                    "meaning": meaning,
                    "gained": sum(change.outcome == "better" for change in own),
                    "lost": sum(change.outcome == "worse" for change in own),
                    "links": {"cause": query.link({"change": cause, "from": ""})},
                }
            )
    columns = [
        ViewColumn("cause", "Cause of the change", "cause"),
        ViewColumn("meaning", "Meaning", "words"),
        ViewColumn("gained", "Gained", "count"),
        ViewColumn("lost", "Lost", "count"),
    ]
    if rows:
        title = f"Causes of {counted(len(changes), 'change')}"
        yield ViewTable("causes", title, columns, rows)


def _list(
    query: PageQuery,
    changes: Sequence[tuple[QueryChange, FlippedQuery]],
    trials: Mapping[str, TrialName],
) -> ViewTable:
    cause, outcome = query.text("change"), query.text("outcome")
    words = query.text("q").lower().split()
    found = [
        one
        for one in changes
        if cause in ("", one[0].cause)
        and outcome in ("", _CHANGED[one[0].outcome])
        and all(word in f"{one[0].query_id}\n{one[1].query.text}".lower() for word in words)
    ]

    def row(one: tuple[QueryChange, FlippedQuery]) -> dict[str, Any]:
        change, flipped = one
        trial = trials["b"]
        where = {"experiment": trial.experiment, "system": trial.system, "setting": trial.setting}
        tone = {"better": "yes", "worse": "no"}[change.outcome]
        return {
            "query": flipped.query.text or change.query_id,
            "query_id": change.query_id,
            "outcome": {"name": _CHANGED[change.outcome], "tone": tone},
            "cause": {"name": change.cause, "tone": _TONES.get(change.cause, "open")},
            "evidence": change.evidence,
            **{side: _answer(flipped, side) for side in _SIDES},
            "links": {"query": page_address(f"/query/{change.query_id}", where)},
            "notes": {"query": change.query_id},
        }

    columns = [
        ViewColumn("query", "Query", "title"),
        ViewColumn("outcome", "Change", "mark"),
        ViewColumn("cause", "Cause", "cause"),
        ViewColumn("evidence", "Evidence"),
        ViewColumn("a", "A", "long"),
        ViewColumn("b", "B", "long"),
    ]
    return ViewTable(
        *("changes", "Answers to queries on which A and B differ", columns),
        unit="changes",
        total=len(changes),
        **paged(query, found, row),
    )


def _answer(flipped: FlippedQuery, side: str) -> str:
    query_id, of = flipped.query.query_id, flipped.answered[side.upper()]
    found = of.predictions.get(query_id)
    if found is None:
        return ", ".join(of.passage_ids(query_id) or ())
    return f"No answer: {found.reason}" if found.answer is None else found.answer


COMPARE: Final = list_page("/compare", "Compare", compare_page, tab="Compare")
