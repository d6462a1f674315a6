"""Facts about the data of an experiment, in its record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ragstone.data.languages import LanguageFacts


@dataclass(frozen=True)
class DataFacts:
    """The data set, and the numbers of its queries that were used."""

    name: str
    passages: int
    queries: int
    ranked: int
    answered: int
    corpus_digest: str
    left_out: Mapping[str, int] = field(default_factory=dict)
    """Reason why queries are left out of all settings -> number of queries."""
    listed: str = ""
    """Digest of the ids of the file `sample.queries`; "" without it."""
    factors: Mapping[str, str] = field(default_factory=dict)
    """Differences from the other data sets of its campaign, such as language and chunker."""
    languages: LanguageFacts | None = None
    """None in the records of earlier versions."""
    language_counts: Mapping[str, Mapping[str, int]] = field(default_factory=dict)
    """Collection, or "" -> language of the labels -> passages; empty if no passage has one."""


@dataclass(frozen=True)
class Tables:
    """Folders of the tables that all systems share."""

    answered: str
    ranked: str
    qrels: str
    clusters: str
    collections: str = ""
    """The collection of each query; "" if all queries search all passages."""
    languages: str = ""
    """The language of each query; "" if the queries have it as a label."""
    texts: str = ""
    """Texts of gold passages and of the first ranked ones; "" until all trials ended."""
    passage_languages: str = ""
    """Languages of gold and ranked passages; "" if no passage has the label `language`."""
