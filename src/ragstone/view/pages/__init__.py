"""The pages, one file per page, in the order of the navigation."""

from __future__ import annotations

from typing import Final

from ragstone.view.page import ViewAction, ViewPage
from ragstone.view.pages.conversation import CONVERSATION
from ragstone.view.pages.experiment import EXPERIMENT
from ragstone.view.pages.experiments import EXPERIMENTS
from ragstone.view.pages.queries import (
    QUERIES,
    QUERIES_CSV,
    QUERIES_DATASET,
    QUERIES_PROJECT,
)
from ragstone.view.pages.query import QUERY, WHAT_IF
from ragstone.view.pages.traces import TRACES, TRACES_CSV, TRACES_DATASET, TRACES_ROWS

PAGES: Final[tuple[ViewPage, ...]] = (EXPERIMENTS, QUERIES, TRACES, QUERY, EXPERIMENT, CONVERSATION)
ACTIONS: Final[tuple[ViewAction, ...]] = (
    WHAT_IF,
    *(QUERIES_CSV, QUERIES_DATASET, QUERIES_PROJECT),
    *(TRACES_CSV, TRACES_ROWS, TRACES_DATASET),
)
