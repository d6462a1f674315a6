"""The pages, one file per page, in the order of the navigation."""

from __future__ import annotations

from typing import Final

from ragstone.view.page import ViewAction, ViewPage
from ragstone.view.pages.calls import CALLS
from ragstone.view.pages.causes import CAUSES_PAGE
from ragstone.view.pages.compare import COMPARE
from ragstone.view.pages.conversation import CONVERSATION
from ragstone.view.pages.experiment import EXPERIMENT
from ragstone.view.pages.experiments import EXPERIMENTS
from ragstone.view.pages.history import HISTORY
from ragstone.view.pages.judges import JUDGES
from ragstone.view.pages.labels import LABELS
from ragstone.view.pages.leaderboard import LEADERBOARD
from ragstone.view.pages.queries import (
    QUERIES,
    QUERIES_CSV,
    Annotate,
    Select,
    annotation_action,
    dataset_action,
)
from ragstone.view.pages.query import QUERY, Ask, what_if_action
from ragstone.view.pages.traces import TRACES, TRACES_CSV, TRACES_DATASET, TRACES_ROWS

PAGES: Final[tuple[ViewPage, ...]] = (
    EXPERIMENTS,
    LEADERBOARD,
    COMPARE,
    CAUSES_PAGE,
    QUERIES,
    LABELS,
    JUDGES,
    CALLS,
    HISTORY,
    TRACES,
    *(QUERY, EXPERIMENT, CONVERSATION),
)
ACTIONS: Final[tuple[ViewAction, ...]] = (
    QUERIES_CSV,
    *(TRACES_CSV, TRACES_ROWS, TRACES_DATASET),
)


def experiment_actions(ask: Ask, select: Select, annotate: Annotate) -> tuple[ViewAction, ...]:
    """Return the buttons that need the experiment behind stored results, or annotation.

    Args:
        ask: asks a query again with a change.
        select: returns the data set with some of its queries.
        annotate: writes answers as an annotation project.
    """
    return (what_if_action(ask), dataset_action(select), annotation_action(annotate))
