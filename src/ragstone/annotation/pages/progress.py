"""The page of a project's progress: items, agreement, labels that are needed, people and days."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

from ragstone.annotation.live_numbers import ProjectNumbers, live_numbers
from ragstone.annotation.site import Document, Site, SitePage, Visit
from ragstone.web import limits, numbers
from ragstone.web.page_query import page_address

if TYPE_CHECKING:
    from ragstone.annotation.agreement import PeopleAgreement
    from ragstone.annotation.label_forecast import QuestionForecast

WAIT: Final = 5.0
"""Seconds that a page waits for new numbers; then it shows the last ones."""
_DAYS: Final = 14
"""Days in the table, the last ones."""


def _make(site: Site, visit: Visit) -> Document:
    found = live_numbers(site, WAIT)
    if found is None:
        return {"made": ""}
    progress, start = found.progress, visit.query.number("from", 0)
    people = sorted(progress.people, key=lambda one: (-one.labels, one.name))
    return {
        "made": found.made,
        "verdict": verdict(found),
        "events": found.events,
        "progress": progress,
        "items": progress.items,
        "hours_left": progress.hours_left,
        "days_left": progress.days_left,
        "wanted_half_width": site.project.settings.wanted_half_width,
        "still_needed": still_needed(found.needed),
        "questions": [_question(one, found) for one in found.questions],
        "people": people[start : start + limits.VIEW_ROWS],
        "people_from": start,
        "days": progress.days[:_DAYS],
    }


def verdict(found: ProjectNumbers) -> str:
    """Return the progress and the agreement, in one sentence."""
    progress = found.progress
    if not progress.labels:
        return f"0 of {numbers.count(progress.items)} items have a label"
    each = progress.people_per_item
    labels = "a label" if each == 1 else f"{each} labels"
    said = f"{numbers.count(progress.done)} of {numbers.count(progress.items)} items have {labels}"
    known = [(one.agreement.alpha, one.question) for one in found.questions]
    alphas = [(one.value, one, name) for one, name in known if one.value is not None]
    if not alphas:
        return said
    if len(alphas) == 1:
        _, alpha, _ = alphas[0]
        return f"{said}; alpha {_alpha(alpha.value, alpha.interval)}"
    if len({_alpha(value) for value, _, _ in alphas}) == 1:
        return f"{said}; alpha {_alpha(alphas[0][0])} of each question"
    (low, _, worst), (high, _, best) = (f(alphas, key=lambda one: one[0]) for f in (min, max))
    return f"{said}; alpha from {_alpha(low)} ({worst}) to {_alpha(high)} ({best})"


def _alpha(value: float | None, interval: tuple[float, float] | None = None) -> str:
    return f"{numbers.kappa(value)} {numbers.kappa_interval(interval)}".strip()


def still_needed(needed: tuple[QuestionForecast, ...]) -> dict[str, Any] | None:
    """Return the forecast of the question that needs the most labels; None without a question."""

    def labels(one: QuestionForecast) -> float:
        if one.needed.alone is None:
            return 1e9 + one.needed.missing
        more = one.needed.alone.more
        return 1e8 if more is None else more

    return _forecast(max(needed, key=labels)) if needed else None


def _forecast(one: QuestionForecast) -> dict[str, Any]:
    return {"question": one.question, "value": one.value, "needed": one.needed}


def _question(one: PeopleAgreement, found: ProjectNumbers) -> dict[str, Any]:
    most = max(one.counts.values(), default=0) or 1
    width = 100 / max(len(one.counts), 1)
    total = one.agreement.ratings or 1
    needed = next(_forecast(of) for of in found.needed if of.question == one.question)
    return {
        "question": one.question,
        "n": one.agreement.n,
        "two": one.two,
        "alpha": one.agreement.alpha,
        "equal_pairs": one.agreement.equal_pairs,
        "values": [
            {"value": value, "labels": count, "share": count / total}
            for value, count in one.counts.items()
        ],
        "bars": [
            {"x": place * width, "width": width * 0.8, "height": 100 * count / most}
            for place, count in enumerate(one.counts.values())
        ],
        "needed": needed,
        "link": page_address("/agreement", {"question": one.question}),
    }


PROGRESS: Final = SitePage(
    "/progress", "Progress", "progress.html", _make, "Progress", roles=("reviewer", "owner")
)
