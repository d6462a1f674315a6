"""A checked test set from documents: passages of all topics, queries of each type, answers, labels.

The queries are those of `ragstone.building.generate`; this module makes them a benchmark:
the judge is checked first, each answer must be supported, and passages that also contain it are
found.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final

import numpy as np
import orjson

from ragstone.building.controls import COUNT, LEAST_INFORMED, Control, check_judge, controls
from ragstone.building.draft import Draft, QueryWriter
from ragstone.building.funnel import NOT_REACHED, Candidate, Funnel
from ragstone.building.generate import SURPLUS, Checks, Generated, GenerationPlan, generate
from ragstone.building.passages import Usable, usable
from ragstone.building.screening import Screen
from ragstone.building.topics import coverage, topics_of
from ragstone.building.write import ITEMS, SUMMARY, generated_dataset
from ragstone.core import limits
from ragstone.errors import ConfigError, LimitReached
from ragstone.statistics.judge_quality import Accuracy
from ragstone.statistics.power import assumed_population, detectable_difference, sample_size
from ragstone.text.cited_sentences import cited_sentences
from ragstone.text.language import language_of
from ragstone.text.language_names import LANGUAGE_NAMES
from ragstone.types import Passage, Query

if TYPE_CHECKING:
    from ragstone.data.corpus import Corpus
    from ragstone.data.dataset import Dataset

MIXED: Final = "mixed"
STAGES: Final = ("writing", "repeats", "label", "critique", "leak", "support", "count")
_CHECKS: Final = frozenset({"label", "critique", "leak", "support"})
_ASSUMED: Final = assumed_population(np.array([0.0, 1.0]), 0.5)
"""0/1 scores with mean 0.5 of two systems whose scores correlate by 0.5."""
_CRITIQUES: Final = 8


def size_for(difference: float) -> int:
    """Return the number of queries that shows a difference of means with a power of 80 %.

    Scores are assumed to be 0 or 1, with mean 0.5, and with correlation 0.5 between two systems.

    >>> size_for(0.1)
    200
    """
    found = sample_size(_ASSUMED, difference)
    if found is None:
        raise ConfigError(f"no size of a test set shows a difference of {difference:g}")
    return found.queries


def shown_by(count: int) -> float | None:
    """Return the least difference that a number of queries shows, as `size_for` assumes.

    >>> round(shown_by(200), 2)
    0.1
    """
    return detectable_difference(_ASSUMED, count)


@dataclass(frozen=True)
class TestsetBuild:
    """A test set and how it was made."""

    __test__ = False

    made: Generated
    corpus: Corpus
    accuracy: Accuracy | None
    """The judge on the controls; None if the budget was spent before."""
    topics: Mapping[str, int]
    language: str

    def dataset(self, name: str) -> Dataset:
        """Return the data set with a name."""
        return generated_dataset(self.made, self.corpus, name)

    @cached_property
    def funnel(self) -> Funnel:
        """The steps, from the passages to the number that was asked for."""
        funnel = Funnel(partial=self.made.partial)
        most = limits.STORED_PASSAGE_CHARACTERS
        passages = (Candidate(p.passage_id, p.text[:most]) for p in self.corpus)
        funnel.keep("passages", passages, self.made.passages.refused)
        drafts: list[Draft] = self.made.drafts
        for stage in STAGES:
            drafts = funnel.keep(stage, drafts, partial(_rejected_by, stage))
        return funnel

    @property
    def about(self) -> dict[str, Any]:
        """Types, coverage, difficulty, labels and warnings, as plain data."""
        kept = self.made.kept
        yes_no = (self.accuracy.true_yes, self.accuracy.true_no) if self.accuracy else ()
        names = ("supporting", "foreign")
        return {
            "composition": dict(Counter(draft.obtained_label for draft in kept).most_common()),
            "wanted": self.made.plan.wanted,
            "shortfall": self.made.shortfall,
            "positives": {
                str(n): c for n, c in sorted(Counter(len(d.relevant) for d in kept).items())
            },
            "further_passages": sum(len(draft.further) for draft in kept),
            "known": sum(draft.labels.get("known") == "yes" for draft in kept),
            "difficulty": dict(
                Counter(d.labels["difficulty"] for d in kept if "difficulty" in d.labels)
            ),
            "coverage": coverage(self.topics, (d.passages[0].passage_id for d in kept)),
            "language": self.language,
            "judge_on_controls": {
                name: [one.count, one.n] for name, one in zip(names, yes_no, strict=False)
            },
            "detectable_difference": shown_by(len(kept)) if kept else None,
            "warnings": [f"short of {name}: {why}" for name, why in self.made.shortfall.items()],
        }

    @property
    def files(self) -> dict[str, bytes]:
        """Every item with its prompts and replies, and the summary, as `ragstone data generate`."""
        rows = (orjson.dumps(draft.row(self.made.model)) + b"\n" for draft in self.made.drafts)
        summary = orjson.dumps(self.made.summary(), option=orjson.OPT_INDENT_2)
        return {ITEMS: b"".join(rows), SUMMARY: summary}


def main_language(corpus: Corpus) -> str:
    """Return the name of the most frequent language of the first passages, or ""."""
    codes = Counter(language_of(p.text) for p in islice(corpus, limits.LANGUAGE_SAMPLE))
    codes.pop("", None)
    code = max(codes, key=codes.__getitem__, default="")
    return LANGUAGE_NAMES.get(code, code)


def _rejected_by(stage: str, draft: Draft) -> str:
    step, reason = stage_and_reason(draft.reason)
    return reason if step == stage else ""


def stage_and_reason(written: str) -> tuple[str, str]:
    """Return the step that rejected a draft and the reason by which drafts are counted.

    >>> stage_and_reason("facts: the model refused")
    ('writing', 'the model refused (facts)')
    >>> stage_and_reason("support: one of the two passages is enough")
    ('support', 'one of the two passages is enough')
    >>> stage_and_reason("nearly repeats the question of 12ab")
    ('repeats', 'nearly repeats another question: 12ab')
    """
    if not written:
        return "", ""
    before, repeats, other = written.partition("repeats the question of ")
    if repeats:
        return "repeats", f"{before}repeats another question: {other}"
    if written.startswith(SURPLUS):
        return "count", written
    if written == NOT_REACHED:
        return "writing", written
    step, _, reason = written.partition(": ")
    if step in _CHECKS:
        return step, reason
    what, colon, detail = reason.partition(": ")
    return "writing", f"{what} ({step}){colon}{detail}"


@dataclass(frozen=True)
class TestsetBuilder:
    """The builder.

    Args:
        corpus: the passages of the documents.
        plan: the number of queries, the shares of the types, and how they are written.
        writer: the model that writes.
        screen: the checks of answers, which ask the judge and the reader.
        checks: the labeller and the critics.
        least_informed: see `ragstone.building.controls`.
    """

    __test__ = False

    corpus: Corpus
    plan: GenerationPlan
    writer: QueryWriter
    screen: Screen
    checks: Checks = field(default_factory=Checks)
    least_informed: float = LEAST_INFORMED

    @cached_property
    def passages(self) -> Usable:
        """The usable passages and the others; raises `ConfigError` if none is usable."""
        found = usable(self.corpus, in_language=self.writer.prompts.language)
        if not found.passages:
            counts = Counter(found.refused.values()).most_common(limits.MAX_SHORTFALL_REASONS)
            why = ", ".join(f"{reason} ({count:,})" for reason, count in counts)
            raise ConfigError(
                f"none of the {len(self.corpus):,} passages is usable: {why}; queries are written "
                f"about texts of {limits.MIN_PASSAGE_WORDS} words or more: give others, or "
                "cut them in another way with --chunker"
            )
        return found

    @cached_property
    def topics(self) -> dict[str, int]:
        """Passage id -> topic, of the usable passages."""
        return topics_of(self.passages.passages, self.plan.seed)

    def build(self) -> TestsetBuild:
        """Return the test set.

        Raises:
            ConfigError: no passage is usable, or the judge cannot separate supporting passages
                from foreign ones.
        """
        topics, accuracy = self.topics, None
        language = self.writer.prompts.language
        try:
            found = passage_controls(self.passages.passages)
            accuracy = check_judge(
                self.screen.judge, found, self.writer.services, least=self.least_informed
            )
        except LimitReached as error:
            model = self.writer.model.endpoint.model
            made = Generated(self.plan, model, [], self.passages, partial=str(error))
        else:
            checks = replace(self.checks, further=self.screen.checks)
            size = limits.GENERATION_BATCH
            made = generate(
                self.corpus, self.plan, self.writer, checks, topics=topics, batch_size=size
            )
        return TestsetBuild(made, self.corpus, accuracy, topics, language)

    def planned(self) -> dict[str, Any]:
        """Return the plan of a build, without any call: passages, types, calls, power."""
        wanted, whole = self.plan.wanted, self.plan.way
        writing = sum(
            n * (self.plan.turns if label == "multi_turn" else whole.part(label).steps)
            for label, n in wanted.items()
        )
        pooled = len(self.screen.pool.retrievers) * self.screen.pool.depth
        each = (
            (self.checks.labeller is not None)
            + _CRITIQUES * (self.checks.critics is not None)
            + 3  # The sources together, and each of two alone.
            + 2 * (self.screen.reader is not None)
            + pooled
        )
        return {
            "passages": len(self.corpus),
            "usable": len(self.passages.passages),
            "topics": len({*self.topics.values()}),
            "queries": wanted,
            "count": self.plan.count,
            "detectable_difference": shown_by(self.plan.count),
            "calls_without_rejections": 2 * COUNT + writing + self.plan.count * each,
        }


def passage_controls(passages: Sequence[Passage]) -> list[Control]:
    """Return controls from the passages' own first sentences, which need no written query.

    The sentence is the gold answer. A foreign control is another passage without it.
    """
    asked, others = [], []
    for place, passage in enumerate(passages[:COUNT]):
        sentence = next((text for text, _ in cited_sentences(passage.text)), "")
        if sentence:
            text = f"What is written about {_subject(passage)}?"
            asked.append(Query(passage.passage_id, text, (sentence,)))
            others.append([*passages[place + 1 : place + 1 + COUNT], *passages[:place]])
    return controls(asked, others)


def _subject(passage: Passage) -> str:
    return passage.title or " ".join(passage.text.split()[:4])
