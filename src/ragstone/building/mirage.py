"""MIRAGE's recipe: from sets of questions and answers and a corpus of articles to a benchmark.

Each query is mapped to the article that its set names. Of the chunks that a search finds by the
title, a chunk is relevant if a judge calls it supporting and a reader, shown the chunk alone,
answers rightly. A query that the reader answers without context is too easy. At least one relevant
chunk must be of the query's own article. The other chunks of the search are noise.

Section 3 of MIRAGE (2025). Where the paper leaves a choice open, docs/build.md names ours.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal

from ragstone.building.articles import NO_TITLE, Articles
from ragstone.building.controls import COUNT, LEAST_INFORMED, SUPPORTING, check_judge, controls
from ragstone.building.funnel import Funnel
from ragstone.building.right_answers import reading_task, right_answers
from ragstone.components.judges.verdict import Item, VerdictJudge
from ragstone.core.schemas import queries_to_table
from ragstone.data.corpus import Corpus
from ragstone.data.dataset import Dataset
from ragstone.data.table_builder import judgements
from ragstone.errors import ConfigError
from ragstone.protocols import Generator, Services
from ragstone.types import Passage, Query

if TYPE_CHECKING:
    from ragstone.statistics.judge_quality import Accuracy

TITLE_LABELS: Final = ("doc_name", "article", "title", "wikipedia_title", "page_title")
"""Labels of a query that name its article, the first that is present counts."""
ORACLE: Final = 2
"""Grade of the relevant chunk that the gold setting shows first; other relevant ones have 1."""
_SMALL_SHARE: Final = 0.1
_LARGE_SHARE: Final = 0.6


@dataclass(frozen=True)
class MirageRecipe:
    """The choices of the pipeline; the defaults are the paper's.

    Args:
        chunks: chunks per query: relevant ones and noise.
        search: finds the chunks by the article's `title`, or by the `text` of the query.
        hard_noise: whether noise is the best chunks by the query's text that do not support the
            answer, in place of the rest of the chunks by title.
        keep_known: whether a query that is answered without context stays, with the label `known`.
        per_source: maximum queries of each set, drawn at random; None keeps all.
        title_label: label of the queries that names their article; "" for the first of
            `TITLE_LABELS`, or the title of a judged passage of the set.
        least_informed: see `ragstone.building.controls`.
        seed: of the draws.
    """

    chunks: int = 5
    search: Literal["title", "text"] = "title"
    hard_noise: bool = False
    keep_known: bool = False
    per_source: int | None = None
    title_label: str = ""
    least_informed: float = LEAST_INFORMED
    seed: int = 0


@dataclass
class Mapped:
    """A query on its way through the pipeline."""

    query: Query
    source: str
    title: str
    """The title of the reference article, as the set has it."""
    own: frozenset[str] = frozenset()
    """Ids of the chunks of the reference article."""
    chunks: list[Passage] = field(default_factory=list)
    """The chunks that the search found."""
    hard: list[Passage] = field(default_factory=list)
    """Further chunks, by the query's text, for hard noise."""
    supporting: dict[str, bool | None] = field(default_factory=dict)
    """Chunk id -> the judge's label; None without a verdict."""
    right: dict[str, bool | None] = field(default_factory=dict)
    """Chunk id -> whether the reader's answer is right; None if its call failed."""
    known: bool | None = None
    """Whether the reader is right without context; None if its call failed."""

    @property
    def item_id(self) -> str:
        """The query's id."""
        return self.query.query_id

    @property
    def text(self) -> str:
        """The query's text."""
        return self.query.text

    @property
    def candidates(self) -> list[Passage]:
        """The chunks that are labelled, each once."""
        return list({chunk.passage_id: chunk for chunk in (*self.chunks, *self.hard)}.values())

    @property
    def relevant(self) -> list[Passage]:
        """The chunks that support the answer and lead to it, those of the article first."""
        both = [chunk for chunk in self.candidates if self.right.get(chunk.passage_id)]
        return sorted(both, key=lambda chunk: chunk.passage_id not in self.own)

    @property
    def noise(self) -> list[Passage]:
        """The chunks that are not relevant; with hard noise, those that do not support either."""
        if self.hard:
            ordered = {chunk.passage_id: chunk for chunk in (*self.hard, *self.chunks)}
            return [chunk for i, chunk in ordered.items() if not self.supporting[i]]
        return [chunk for chunk in self.chunks if not self.right.get(chunk.passage_id)]


@dataclass(frozen=True)
class MirageBuild:
    """A benchmark by the recipe."""

    recipe: MirageRecipe
    funnel: Funnel
    accuracy: Accuracy
    """The judge on the controls."""
    labelled: list[Mapped]
    """All queries that entered the steps with models, kept or rejected."""
    queries: list[Mapped]

    @property
    def dataset(self) -> Dataset:
        """The data set: each query with its chunks, relevant ones and noise."""
        grades: dict[tuple[str, str], int] = {}
        pool: dict[str, Passage] = {}
        for one in self.queries:
            relevant = one.relevant[: self.recipe.chunks]
            noise = one.noise[: self.recipe.chunks - len(relevant)]
            for place, chunk in enumerate((*relevant, *noise)):
                grade = 0 if place >= len(relevant) else 1 if place else ORACLE
                grades[one.item_id, chunk.passage_id] = grade
                pool[chunk.passage_id] = chunk
        queries = queries_to_table([_labelled(one) for one in self.queries])
        return Dataset(
            "mirage", queries, Corpus.from_passages([*pool.values()]), judgements(grades)
        )

    @property
    def about(self) -> dict[str, Any]:
        """Composition, positives per query, difficulty and warnings, as plain data."""
        composition = dict(Counter(one.source for one in self.queries).most_common())
        positives = Counter(len(one.relevant) for one in self.queries)
        labels = [label for one in self.queries for label in one.supporting.values()]
        yes, no = self.accuracy.true_yes, self.accuracy.true_no
        return {
            "composition": composition,
            "positives": {str(n): positives[n] for n in sorted(positives)},
            "known": sum(bool(one.known) for one in self.queries),
            "labels_without_verdict": labels.count(None),
            "judge_on_controls": {"supporting": [yes.count, yes.n], "foreign": [no.count, no.n]},
            "warnings": [] if self.recipe.per_source else list(_imbalance(composition)),
        }


def _labelled(one: Mapped) -> Query:
    known = {} if one.known is None else {"known": "yes" if one.known else "no"}
    return replace(one.query, labels={**one.query.labels, "source": one.source, **known})


def _imbalance(composition: Mapping[str, int]) -> Iterator[str]:
    """Yield a warning if one set has most queries, or a set has few."""
    total = sum(composition.values())
    if len(composition) < 2:  # noqa: PLR2004 - a balance has two sides
        return
    most, count = next(iter(composition.items()))
    rare = [f"{name} ({n:,})" for name, n in composition.items() if n < _SMALL_SHARE * total]
    if count > _LARGE_SHARE * total or rare:
        few = f", and {', '.join(rare)} less than {_SMALL_SHARE:.0%} each" if rare else ""
        yield (
            f"the sets are not balanced: {most} has {count:,} of {total:,} queries{few}. Means "
            "over all queries are mostly those of the large sets: read results by the label "
            "source, or draw equal numbers with --per-source"
        )


@dataclass(frozen=True)
class MirageBuilder:
    """The pipeline.

    Args:
        articles: the corpus.
        judge: labels whether one chunk supports the gold answer.
        reader: answers with one chunk, and without context.
        services: the services that make the model calls.
        recipe: the choices of the pipeline.
    """

    articles: Articles
    judge: VerdictJudge
    reader: Generator
    services: Services
    recipe: MirageRecipe = field(default_factory=MirageRecipe)
    funnel: Funnel = field(default_factory=Funnel)

    def build(self, sets: Sequence[Dataset]) -> MirageBuild:
        """Return the benchmark of some sets of queries with gold answers.

        The judgements of the sets are not read, only the titles of judged passages, if no label
        names the article.

        Raises:
            ConfigError: no query names its article, or the judge does not distinguish supporting
                passages from foreign ones.
        """
        found = self.funnel.keep(
            "chunks",
            self._searched(self._mapped(sets)),
            lambda one: "" if one.chunks else "no chunk has text",
        )
        queries = [one.query for one in found]
        others = [one.chunks for one in (*found[1:], *found[:1])]
        least = self.recipe.least_informed
        accuracy = check_judge(self.judge, controls(queries, others), self.services, least=least)
        batches = self.funnel.until_limit("support", found, self._screened)
        kept = self._drawn([one for batch in batches for one in batch])
        return MirageBuild(self.recipe, self.funnel, accuracy, found, kept)

    def calls(self, sets: Sequence[Dataset]) -> int:
        """Return the largest number of calls that a build makes, without any call."""
        found = self._searched(self._mapped(sets))
        return 2 * COUNT + sum(2 * len(one.candidates) + 1 for one in found)

    def _mapped(self, sets: Sequence[Dataset]) -> list[Mapped]:
        """Return the queries with a gold answer and an article of their own."""
        asked = list(_titled(sets, self.recipe.title_label))
        articles, reasons, seen, repeated = {}, {}, set(), {}
        for one in asked:
            articles[one.item_id], reason = self.articles.find(one.title)
            reasons[one.item_id] = reason if one.query.gold_answers else "no gold answer"
        if asked and set(reasons.values()) == {NO_TITLE}:
            raise ConfigError(
                f"none of the {len(asked):,} queries names its article: none has one of the labels "
                f"{', '.join(TITLE_LABELS)}, or a judged passage with a title; name the label with "
                "--title-label"
            )
        mapped = self.funnel.keep("mapping", asked, reasons)
        for one in mapped:
            article = articles[one.item_id]
            if article in seen:
                repeated[one.item_id] = "another query has the article"
            seen.add(article)
            one.own = frozenset(chunk.passage_id for chunk in self.articles.chunks(article))
        return self.funnel.keep("one per article", mapped, repeated)

    def _searched(self, mapped: list[Mapped]) -> list[Mapped]:
        """Give each query its chunks."""
        count = self.recipe.chunks
        none: list[list[Passage]] = [[] for _ in mapped]
        by_title = by_text = none
        if self.recipe.search == "title":
            by_title = self.articles.nearest_by_title((one.title for one in mapped), count)
        if self.recipe.hard_noise or self.recipe.search == "text":
            by_text = self.articles.nearest_by_text((one.text for one in mapped), count)
        for one, titled, texted in zip(mapped, by_title, by_text, strict=True):
            one.chunks = titled if self.recipe.search == "title" else texted
            one.hard = texted if self.recipe.hard_noise else []
        return mapped

    def _screened(self, batch: Sequence[Mapped]) -> list[Mapped]:
        """Return the queries of a batch that pass the steps with models and the check of titles."""
        self._label(batch)
        kept = self.funnel.keep("support", batch, _unsupported)
        self._read(kept)
        kept = self.funnel.keep("validation", kept, _invalid)
        if not self.recipe.keep_known:
            kept = self.funnel.keep("known", kept, _known)
        return self.funnel.keep("title", kept, _foreign)

    def _label(self, batch: Sequence[Mapped]) -> None:
        pairs = [(one, chunk) for one in batch for chunk in one.candidates]
        items = [Item(one.query, one.query.gold_answers[0], (c.full_text,)) for one, c in pairs]
        verdicts = self.judge.verdicts(items, self.services)
        for (one, chunk), verdict in zip(pairs, verdicts, strict=True):
            label = None if verdict.value is None else verdict.value > SUPPORTING
            one.supporting[chunk.passage_id] = label

    def _read(self, batch: Sequence[Mapped]) -> None:
        """Let the reader answer with each supporting chunk alone, and without context."""
        pairs = [(one, c) for one in batch for c in one.candidates if one.supporting[c.passage_id]]
        tasks = [reading_task(one.query, chunk) for one, chunk in pairs]
        tasks += [reading_task(one.query) for one in batch]
        rights = right_answers(tasks, self.reader, self.services)
        for (one, chunk), is_right in zip(pairs, rights, strict=False):
            one.right[chunk.passage_id] = is_right
        for one, is_right in zip(batch, rights[len(pairs) :], strict=True):
            one.known = is_right

    def _drawn(self, kept: list[Mapped]) -> list[Mapped]:
        """Return at most `per_source` queries of each set, drawn at random."""
        most = self.recipe.per_source
        if most is None:
            return kept
        order = list(kept)
        random.Random(self.recipe.seed).shuffle(order)  # noqa: S311 - no secret
        taken: Counter[str] = Counter()
        beyond = {}
        for one in order:
            taken[one.source] += 1
            if taken[one.source] > most:
                beyond[one.item_id] = f"more than {most:,} queries of the set"
        return self.funnel.keep("balance", kept, beyond)


def _titled(sets: Sequence[Dataset], label: str) -> Iterator[Mapped]:
    """Yield each query, with an id that is unique over all sets, and the title of its article."""
    counts = Counter(query.query_id for one in sets for query in one.queries)
    for one in sets:
        for query in one.queries:
            unique = counts[query.query_id] == 1
            query_id = query.query_id if unique else f"{one.name}:{query.query_id}"
            source = str(query.labels.get("source") or one.name)
            title = _title(query, one, (label,) if label else TITLE_LABELS)
            yield Mapped(replace(query, query_id=query_id), source, title)


def _title(query: Query, dataset: Dataset, labels: Sequence[str]) -> str:
    named = (str(query.labels[label]) for label in labels if query.labels.get(label))
    judged = (
        dataset.corpus[passage_id].title
        for passage_id, grade in dataset.qrels.get(query.query_id, {}).items()
        if grade > 0 and passage_id in dataset.corpus
    )
    return next(named, "") or next(judged, "")


def _unsupported(one: Mapped) -> str:
    if any(one.supporting.values()):
        return ""
    unread = any(label is None for label in one.supporting.values())
    return "no chunk supports the answer" + (", and some have no verdict" if unread else "")


def _invalid(one: Mapped) -> str:
    if any(one.right.values()):
        return ""
    failed = any(value is None for value in one.right.values())
    return "the reader's call failed" if failed else "no supporting chunk leads to a right answer"


def _known(one: Mapped) -> str:
    if one.known is None:
        return "the reader's call without context failed"
    return "right without context" if one.known else ""


def _foreign(one: Mapped) -> str:
    own = any(chunk.passage_id in one.own for chunk in one.relevant)
    return "" if own else "no relevant chunk is of the reference article"
