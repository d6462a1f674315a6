"""Names in the address of a page: an experiment, a system, a setting, or a trial of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Final

from ragstone.errors import nearest_name
from ragstone.results.results import Results
from ragstone.view.store_view import ListedExperiment, StoreView
from ragstone.view.tables import ViewFilter
from ragstone.web.errors import PageError, StateText
from ragstone.web.page_query import PageQuery

Wanted = Callable[[ListedExperiment], bool]
_SUGGESTED: Final = 12
"""Experiments that the field for their name suggests, the latest ones."""


@dataclass(frozen=True, slots=True)
class TrialName:
    """One system under one setting of an experiment; the setting is empty for retrieval alone."""

    experiment: str
    system: str
    setting: str = ""

    def __str__(self) -> str:
        """Return the name as it is written in addresses: `EXPERIMENT:SYSTEM:SETTING`."""
        return f"{self.experiment}:{self.system}:{self.setting}".removesuffix(":")


def read_trial(view: StoreView, written: str) -> TrialName:
    """Return the trial with a name; raise `PageError` with the nearest name if there is none.

    Names may contain colons: those of the store decide.
    """
    listed = {one.name: one for one in view.experiments() if not one.problem}
    found = [name for name in listed if written == name or written.startswith(f"{name}:")]
    if not found:
        raise _unknown("experiment", written.partition(":")[0], list(listed))
    name = max(found, key=len)
    rest, one = written[len(name) + 1 :], listed[name]
    systems = [s for s in one.systems if rest == s or rest.startswith(f"{s}:")]
    if not systems:
        raise _unknown("system", rest.partition(":")[0], one.systems)
    system = max(systems, key=len)
    setting = rest[len(system) + 1 :]
    if setting not in (one.settings or ("",)):
        raise _unknown("setting", setting, one.settings)
    return TrialName(name, system, setting)


def _unknown(kind: str, name: str, known: Sequence[str]) -> PageError:
    said = f"There is no {kind} {name!r}{nearest_name(name, known) or '.'}"
    then = "A trial is written as EXPERIMENT:SYSTEM:SETTING."
    return PageError(404, StateText(said, then, link="/compare", link_text="Choose two trials"))


def trials_of(one: ListedExperiment) -> list[TrialName]:
    """Return the trials of an experiment, or the systems of one that only retrieves."""
    settings = one.settings or ("",)
    return [TrialName(one.name, system, setting) for setting in settings for system in one.systems]


def every(one: ListedExperiment) -> bool:
    """Return that a page can show any experiment."""
    return bool(one.name)


def chosen_experiment(view: StoreView, query: PageQuery, wanted: Wanted = every) -> str:
    """Return the experiment of the address, or the latest one that the page can show; "": none."""
    if name := query.text("experiment"):
        return view.experiment(name).name
    known = (one.name for one in view.experiments() if one.is_readable and wanted(one))
    return next(known, "")


def experiment_filter(view: StoreView, name: str, wanted: Wanted = every) -> ViewFilter:
    """Return the field that names the experiment, with the latest ones as suggestions."""
    known = [one.name for one in view.experiments() if not one.problem and wanted(one)]
    return ViewFilter("experiment", "Experiment", name, suggested=known[:_SUGGESTED])


def system_and_setting(results: Results, query: PageQuery) -> tuple[str, str]:
    """Return the system and the setting of the address; "" for all."""
    return query.choice("system", results.systems), query.choice("setting", results.settings)


def trial_filters(results: Results, system: str, setting: str) -> list[ViewFilter]:
    """Return the fields that choose a system and a setting."""
    return [
        ViewFilter("system", "System", system, results.systems),
        ViewFilter("setting", "Setting", setting, results.settings),
    ]
