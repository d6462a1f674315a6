"""The record of an experiment: names of the stored steps behind its numbers, and no number."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, Literal, Self, cast

from ragstone.components.judges.secret_nuggets import open_part
from ragstone.core.fingerprint import fingerprint
from ragstone.core.redaction import redacted_data
from ragstone.core.store import Store
from ragstone.errors import DamagedFile, NewerFile, StoreError
from ragstone.evaluation.judge_independence import SharedPart
from ragstone.results.data_facts import DataFacts, Tables
from ragstone.results.trained_parts import TrainedPart
from ragstone.statistics.correctness import Correctness
from ragstone.statistics.failures import FAILURE_RATE, Scale
from ragstone.statistics.paired import Correction
from ragstone.statistics.summary import Policy

if TYPE_CHECKING:
    from pydantic import TypeAdapter

KIND: Final = "experiments"
ATTEMPTS: Final = "attempts"
EARLIER: Final = "history"
COUNTERFACTUALS: Final = "counterfactuals"
FORMAT: Final = 3
_AGAIN: Final = "run the experiment again, with --reuse to keep the answers of own systems"
NOT_ASKED: Final = "the adaptive run did not ask it"
"""Why a query has no score of a system that an adaptive run stopped."""


def is_oracle(setting: str) -> bool:
    """Return whether a setting may be the oracle: it shows gold passages alone.

    >>> is_oracle("gold"), is_oracle("gold(1)"), is_oracle("gold+noise(1)")
    (True, True, False)
    """
    return re.fullmatch(r"gold(\(\d+\))?", setting) is not None


def part_id(made_by: Mapping[str, Any]) -> str:
    """Return the id of a component in passports: the start of the digest of its key parts."""
    return fingerprint(redacted_data(made_by))[:12]


@dataclass(frozen=True)
class SystemEntry:
    """A system and the cache key parts of its components."""

    name: str
    components: Mapping[str, Any]


@dataclass(frozen=True)
class MetricEntry:
    """The properties of a metric in a report, which is made without the metric's code."""

    name: str
    kind: Literal["ranking", "answer", "judge", "repeats"]
    direction: Literal["higher", "lower", "neutral"] = "higher"
    range: tuple[float, float] | None = (0.0, 1.0)
    description: str = ""
    prompt: Mapping[str, Any] = field(default_factory=dict)
    """The facts of the judge's prompt, and the id of its texts (`part`); {} without one."""

    def scale(self, failures: Policy) -> Scale:
        """Return the range and the direction, with a policy for failed queries."""
        return Scale(self.range, self.direction, failures)


_FAILURE_RATE: Final = MetricEntry(
    FAILURE_RATE, "answer", "lower", description="Share of the queries that the system failed on."
)


@dataclass(frozen=True)
class RankingEntry:
    """Folders of a system's run and of its scores."""

    system: str
    run: str
    scores: str
    searches: str = ""
    """The search texts; empty if the system retrieves by itself."""
    qrels: str = ""
    """The judgements within the datastore of the system; "" for those of the data set."""
    translations: str = ""
    """Relevant passages that count as another one, their translation; "" without such qrels."""


@dataclass(frozen=True)
class RepeatEntry:
    """Folders of one answer to each query, and of one verdict of each judge on it."""

    answer: int
    verdict: int
    """The numbers of the answer and of the verdict on it, from 0."""
    contexts: str
    predictions: str
    scores: str
    verdicts: tuple[str, ...] = ()


@dataclass(frozen=True)
class TrialEntry:
    """Folders of one system under one setting."""

    system: str
    setting: str
    built: str
    contexts: str
    predictions: str
    scores: str
    verdicts: tuple[str, ...] = ()
    not_applicable: str = ""
    """The reasons of the queries that the setting does not apply to; "" if it applies to all."""
    hops: str = ""
    """The searches that an own system reported; "" if its own context is not measured."""
    repeats: tuple[RepeatEntry, ...] = ()
    """The further answers and verdicts; the folders above are those of the first."""

    @property
    def every(self) -> tuple[RepeatEntry, ...]:
        """The first answer with its verdicts, then the further ones."""
        folders = (self.contexts, self.predictions, self.scores, self.verdicts)
        return (RepeatEntry(0, 0, *folders), *self.repeats)

    def scored(self) -> Iterator[tuple[RepeatEntry, tuple[str, ...]]]:
        """Yield each answer and verdict with the folders of its own scores.

        A further verdict has those of its judges; one that does not sample gives no further one.
        """
        first = {one.answer: one.verdicts for one in self.every if not one.verdict}
        for one in self.every:
            if one.verdict:
                yield one, tuple(f for f in one.verdicts if f not in first[one.answer])
            else:
                yield one, (one.scores, *one.verdicts)


@dataclass(frozen=True)
class StepEntry:
    """A stored step and the code that made it."""

    folder: str
    step: str
    component: str
    ragstone: str
    """The version of Ragstone."""
    source: str
    """The beginning of the digest of the code that computed the step."""
    packages: Mapping[str, str]
    """Installed packages that the code imports -> their versions."""
    made_at: str
    trusted: tuple[str, ...] = ()
    """Folders of steps of other code that this one rests on, perhaps itself (`--trust-code`)."""
    ann: Mapping[str, Any] | None = None
    """Of an approximate search: target, recall, lower_bound, n and nprobe (docs/retrievers.md)."""


@dataclass(frozen=True)
class CallsEntry:
    """The calls for the answers of one system under one setting."""

    system: str
    setting: str
    asked: int
    """Finished calls of the run, with a reply or a failure."""
    kept: int
    """Replies that an earlier call or run had made."""
    failed: int
    kept_from: str | None = None
    """When the oldest kept reply was made; None without one."""
    release: str | None = None
    """The declared version of the system."""


@dataclass(frozen=True)
class Record:
    """An experiment and the folders of its results."""

    name: str
    started: str
    file: Mapping[str, Any]
    """The experiment file after overrides, as plain data."""
    data: DataFacts
    tables: Tables
    systems: tuple[SystemEntry, ...]
    metrics: tuple[MetricEntry, ...]
    environment: Mapping[str, str]
    ragstone: str
    format: int = FORMAT
    finished: str | None = None
    rankings: tuple[RankingEntry, ...] = ()
    trials: tuple[TrialEntry, ...] = ()
    steps: tuple[StepEntry, ...] = ()
    """All steps, in order."""
    calls: tuple[CallsEntry, ...] = ()
    """The calls for answers in the run that the record is of."""
    last_run: Mapping[str, Any] = field(default_factory=dict)
    """Calls, tokens and cost of the run that ended last."""
    data_source: Mapping[str, Any] = field(default_factory=dict)
    """The data set's reader and files with digests; address, revision and licence if known."""
    analysis: Mapping[str, Any] = field(default_factory=dict)
    """`recorded`: when the analysis was first recorded; `after_results`: if results were known."""
    templates: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Id of a component that prompts a model -> its templates by name."""
    prompts: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    """System -> the facts of its generator's prompt; docs/prompts.md lists the keys."""
    campaign: str = ""
    """The experiment with several data sets of which this is one; "" without one."""
    adaptive: Mapping[str, Any] = field(default_factory=dict)
    """The rules, rounds and stopped systems of an adaptive run; keys in docs/campaigns.md."""
    counterfactual: Mapping[str, Any] = field(default_factory=dict)
    """The change of a counterfactual, and its experiment; keys in docs/why.md."""
    independence: tuple[SharedPart, ...] = ()
    """Parts that judges share with the systems that they grade, as far as they are known."""
    trained: tuple[TrainedPart, ...] = ()
    """Parts that were trained, and the queries that they have seen."""

    @property
    def kind(self) -> str:
        """The folder of the record in a store."""
        return COUNTERFACTUALS if self.counterfactual else KIND

    @cached_property
    def correctness(self) -> Correctness | None:
        """The rule that calls an answer correct; None if there is none, or no such metric."""
        # Records of earlier versions have the former name of the key.
        written = self.file.get("correct", self.file.get("correctness_metric"))
        names = (metric.name for metric in self.metrics)
        return Correctness.parse(written).among(names) if written else None

    @property
    def correctness_metric(self) -> str | None:
        """The metric of the rule for correct answers, or None."""
        return self.correctness.metric if self.correctness else None

    @property
    def oracle(self) -> str | None:
        """The setting with ideal context; None without one, or if it is one of several."""
        given = self.file.get("oracle")
        golds = list(dict.fromkeys(t.setting for t in self.trials if is_oracle(t.setting)))
        return str(given) if given else golds[0] if len(golds) == 1 else None

    @property
    def headline(self) -> str:
        """The metric of the verdict: the file's, else that of correct answers, else the first."""
        planned = (self.file.get("analysis") or {}).get("headline")
        given = planned or self.file.get("headline") or self.answer_metric
        return str(given or next((metric.name for metric in self.metrics), ""))

    @property
    def answer_metric(self) -> str:
        """The metric of charts and breakdowns of answers: that of correct answers, or the first."""
        first = next((m.name for m in self.metrics if m.kind != "ranking"), "")
        return self.correctness_metric or first

    @property
    def correction(self) -> Correction:
        """The multiple-testing correction of ranks, leads and verdicts."""
        found: Correction = (self.file.get("analysis") or {}).get("correction", "holm")
        return found

    @property
    def failures(self) -> Policy:
        """The failure policy of the experiment."""
        found: Policy = self.file.get("failures", "wrong")
        return found

    def scale(self, metric: str) -> Scale:
        """Return the range and direction of a metric, and the failure policy."""
        return self.metric(metric).scale(self.failures)

    def metric(self, name: str) -> MetricEntry:
        """Return the entry of a metric, by default that of its open nuggets or default values."""
        known = {entry.name: entry for entry in (*self.metrics, _FAILURE_RATE)}
        found = known.get(name) or known.get(open_part(name)) or MetricEntry(name, "answer")
        return replace(found, name=name)

    def save(self, store: Store) -> None:
        """Replace the record of this name in a store."""
        store.write_json(self.kind, self.name, asdict(self))

    @classmethod
    def load(cls, store: Store, name: str, *, earlier: str = "", kind: str = KIND) -> Record:
        """Return the last record of this name or an earlier one; `StoreError` without one."""
        try:
            document = store.read_json(*((EARLIER, earlier) if earlier else (kind, name)))
        except DamagedFile as error:
            if error.document is None or error.document.get("format") == FORMAT:
                raise
            document = error.document
        if document is None:
            raise StoreError(
                f"the store {store.root} has no experiment {name!r}; give the folder of its store, "
                "or run its file first with `ragstone run`"
            )
        return cls.of(document, name)

    @classmethod
    def of(cls, document: Mapping[str, Any], name: str) -> Record:
        """Return the record in a document of a store; `StoreError` for another format."""
        from pydantic import ValidationError

        if isinstance(written := document.get("format"), int) and written > FORMAT:
            raise NewerFile(
                f"the record of experiment {name!r} was written by a newer Ragstone (format "
                f"{written}, this one reads format {FORMAT}); upgrade with: pip install -U ragstone"
            )
        if document.get("format") != FORMAT:
            raise StoreError(
                f"the record of experiment {name!r} has format {written}, this version reads "
                f"format {FORMAT}; {_AGAIN}"
            )
        try:
            return cast("Record", _adapter(Record).validate_python(document))
        except ValidationError as error:
            first = error.errors()[0]
            key = ".".join(map(str, first["loc"]))
            raise StoreError(
                f"the record of experiment {name!r} is damaged: {key}: {first['msg'].lower()}; "
                f"{_AGAIN}",
                key=key,
            ) from error


@cache
def _adapter(kind: Any) -> TypeAdapter[Any]:
    """Return the validator of a document; making it takes longer than checking many documents."""
    from pydantic import TypeAdapter

    return TypeAdapter(kind)


@dataclass(frozen=True)
class Attempt:
    """A run that is not complete and that began after the last one that finished."""

    started: str
    after: str
    """When the last finished run had finished."""
    command: str
    """The command that resumes the run; "" if it was started from Python."""
    rankings: int
    """Number of systems that retrieve."""
    rankings_complete: int
    trials: int
    trials_complete: int
    format: Literal[1] = 1

    def save(self, store: Store, name: str, steps: Sequence[Any] = ()) -> None:
        """Replace the attempt at this experiment in a store.

        `steps` are those so far: `ragstone store prune` keeps the steps that a document names.
        """
        store.write_json(ATTEMPTS, name, {**asdict(self), "steps": steps})

    @classmethod
    def load(cls, store: Store, record: Record) -> Self | None:
        """Return the attempt that is newer than a finished record, or None.

        An attempt that cannot be read never hides the record: a notice names its file.
        """
        from pydantic import ValidationError

        try:
            document = store.read_json(ATTEMPTS, record.name)
            found: Self = _adapter(cast("Any", cls)).validate_python(document)
        except DamagedFile as error:
            logging.getLogger(__name__).warning("%s is damaged: %s", error.path, error.what)
            return None
        except (OSError, ValidationError):
            return None
        return found if found.after == record.finished else None
