"""Ids: unreadable lines, repeated ids, judgements of unknown queries and passages."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ragstone.data.matching_ids import id_hint
from ragstone.data_quality.finding import Finding, Severity, each_line, report

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_FAULTS: Final[Mapping[str, tuple[Severity, str, str]]] = {
    "malformed": ("error", "lines could not be read", "correct or remove them"),
    "not-utf-8": ("error", "lines are not UTF-8", "save the file as UTF-8"),
    "repeated-id": (
        "error",
        "rows have the id of an earlier row",
        "give each row its own id (`--fix` keeps the first)",
    ),
    "repeated-judgement": (
        "note",
        "judgements are repeated",
        "keep one of each (`--fix` does)",
    ),
    "conflicting-grades": (
        "error",
        "judgements contradict an earlier one of the same pair",
        "decide on one grade (`--fix` keeps the first)",
    ),
    "dangling": (
        "error",
        "files name unknown queries or passages",
        "add the missing ones, or remove the rows that name them",
    ),
}


def check_rows(subject: Subject) -> Iterator[Finding]:
    """Report malformed, repeated and contradictory rows."""
    for kind, count in Counter(fault.kind for fault in subject.faults).items():
        severity, problem, advice = _FAULTS[kind]
        faults = [f for f in subject.faults if f.kind == kind]
        yield Finding(
            f"rows/{kind}",
            severity,
            f"{count:,} {problem}",
            count,
            count,
            advice,
            each_line(f"{f.place}: {f.problem}" for f in faults),
            tuple(f.place for f in faults),
            "line",
            remedy="person" if kind == "not-utf-8" else "fix",
        )


def check_judgements(subject: Subject) -> Iterator[Finding]:
    """Report judgements of absent queries or passages, and changes of ids that would match."""
    total = subject.dataset.qrel_table.num_rows + len(subject.dangling)
    dangling = subject.dangling
    queries = [(d.query_id, d.place) for d in dangling if d.no_query]
    passages = [(d.passage_id, d.place) for d in dangling if d.no_passage]
    for kind, noun, lost, known in (
        ("query", "queries", queries, {query.query_id for query in subject.queries}),
        ("passage", "passages", passages, set(subject.passage_ids)),
    ):
        yield from report(
            f"judgements/absent-{noun}",
            "error",
            [(row_id, f"{row_id!r} ({place})") for row_id, place in lost],
            total,
            f"judgements name {noun} that do not exist{id_hint([i for i, _ in lost], known)}",
            advice=f"each lowers recall without a message: add the missing {noun}, correct the "
            "ids, or remove the judgements (`--fix` does)",
            kind=kind,
            remedy="fix",
        )
    yield from _lost_queries(subject)


def _lost_queries(subject: Subject) -> Iterator[Finding]:
    """Report answerable queries without a relevant passage in the corpus."""
    if not subject.dataset.qrel_table.num_rows:
        return
    answerable = subject.expecting
    lost = {d.query_id for d in subject.dangling if d.no_passage}
    gone = [query_id for query_id in lost if not subject.gold.get(query_id)]
    bare = [q.query_id for q in answerable if not subject.gold.get(q.query_id)]
    yield from report(
        "judgements/no-relevant",
        "warning",
        [(query_id, query_id) for query_id in bare],
        len(answerable),
        "answerable queries have no relevant passage in the corpus; for "
        f"{len(gone):,} of them the judged passages are absent",
        advice="no ranking can be correct for them: judge a passage, or label them `answerability: "
        "unanswerable`",
    )
