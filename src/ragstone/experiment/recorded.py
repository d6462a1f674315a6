"""The experiment of stored results, made again from the file that their record contains."""

from __future__ import annotations

import dataclasses
from collections.abc import Collection

from arro3.core import Table

from ragstone.core.schemas import columns
from ragstone.data.corpus import rows_at
from ragstone.data.dataset import Dataset
from ragstone.errors import ConfigError
from ragstone.experiment.changed_query import ask_changed
from ragstone.experiment.config import ExperimentFile
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.members import Member
from ragstone.results.chain import QueryChain
from ragstone.results.publishable import has_hidden
from ragstone.results.reader import StoredResults
from ragstone.results.what_if import WhatIf


def recorded_experiment(results: StoredResults) -> Experiment:
    """Return the experiment that stored results are of, so that more can be asked of its systems.

    Paths of the file are looked for in the current folder, then in the folder of the store; there
    your own components are looked for too.

    Raises:
        ConfigError: the experiment was given in Python, with objects that no file contains, or
            its record hides values.
    """
    from pydantic import ValidationError

    root = results.store.root.resolve()
    if has_hidden(results.record.file):
        raise ConfigError(
            f"the record of {results.name!r} does not contain the headers and the values in "
            "addresses of its systems; write them as {env:NAME}, or list the names of those that "
            "are not secret in `show`, and run the experiment again"
        )
    try:
        file = ExperimentFile.model_validate({**results.record.file, "store": str(root)})
    except ValidationError as error:
        raise ConfigError(
            f"the file in the record of {results.name!r} cannot be read; run the experiment again "
            f"({error.errors()[0]['msg']})"
        ) from error
    return Experiment(file, folder=root.parent, member=Member(results.record.campaign))


def selected_dataset(results: StoredResults, query_ids: Collection[str], name: str) -> Dataset:
    """Return the data set of an experiment with some of its queries, and all of its passages.

    Raises:
        ConfigError: the data set has changed since the experiment ran.
        DatasetError: the data set cannot be read.
    """
    dataset = recorded_experiment(results).dataset
    if dataset.corpus.digest != results.record.data.corpus_digest:
        raise ConfigError(
            f"the passages of the data set {dataset.name!r} are not those of the last run of "
            f"{results.name!r}; run the experiment again first"
        )
    wanted = set(query_ids)
    chosen = dataset.select(_places(dataset.query_table, wanted))
    qrels = rows_at(dataset.qrel_table, _places(dataset.qrel_table, wanted))
    return dataclasses.replace(chosen, name=name, qrel_table=qrels)


def _places(table: Table, query_ids: Collection[str]) -> list[int]:
    """Return the positions of the rows of some queries."""
    return [place for place, one in enumerate(columns(table)["query_id"]) if one in query_ids]


def ask_recorded(results: StoredResults, chain: QueryChain, change: WhatIf) -> str:
    """Ask a query of stored results again with a change; return the name of the counterfactual.

    Raises the errors of `recorded_experiment` and of `ask_changed`; nothing was spent.
    """
    asked = ask_changed(recorded_experiment(results), chain, change)
    return asked.results.name if asked.results else ""
