"""Ids: lines that cannot be read, ids that stand twice, judgements of what is not there."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Final

from ragstone.data_quality.finding import Finding, Severity, first

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Dangling, Subject

_FAULTS: Final[Mapping[str, tuple[Severity, str, str]]] = {
    "malformed": ("error", "lines could not be read", "correct them, or take them out"),
    "not-utf-8": ("error", "lines are not UTF-8", "save the file as UTF-8"),
    "repeated-id": (
        "error",
        "rows have an id that was there already",
        "give each row its own id (`--fix` keeps the first)",
    ),
    "repeated-judgement": (
        "note",
        "judgements stand twice",
        "keep one of each (`--fix` does)",
    ),
    "conflicting-grades": (
        "error",
        "judgements contradict an earlier one of the same pair",
        "decide on one grade (`--fix` keeps the first)",
    ),
    "dangling": (
        "error",
        "files name what is not there",
        "add what is missing, or take the rest out",
    ),
}


def check_rows(subject: Subject) -> Iterator[Finding]:
    """Report the rows that could not be taken as they are."""
    for kind, count in Counter(fault.kind for fault in subject.faults).items():
        severity, what, advice = _FAULTS[kind]
        told = [f"{f.place}: {f.told}" for f in subject.faults if f.kind == kind]
        yield Finding(
            f"rows/{kind}", severity, f"{count:,} {what}", count, count, advice, first(told)
        )


def check_judgements(subject: Subject) -> Iterator[Finding]:
    """Report judgements of absent queries or passages, and how their ids might be meant."""
    total = subject.dataset.qrel_table.num_rows + len(subject.dangling)
    for what, lost in (
        ("queries", [d for d in subject.dangling if d.no_query]),
        ("passages", [d for d in subject.dangling if d.no_passage]),
    ):
        if not lost:
            continue
        known = (
            {query.query_id for query in subject.queries}
            if what == "queries"
            else set(subject.passage_ids)
        )
        ids = [d.query_id if what == "queries" else d.passage_id for d in lost]
        hint = _hint(ids, known)
        yield Finding(
            f"judgements/absent-{what}",
            "error",
            f"{len(lost):,} of {total:,} judgements name {what} that do not exist{hint}",
            len(lost),
            total,
            "each lowers recall without a sign of it: add what is missing, correct the ids, or "
            "take them out (`--fix` does)",
            first([f"{_id!r} ({d.place})" for _id, d in zip(ids, lost, strict=True)]),
        )
    yield from _lost_queries(subject)


_REPAIRS: Final[Mapping[str, Callable[[str], str]]] = {
    "in lower case": str.lower,
    "in upper case": str.upper,
    "without leading zeros": lambda i: i.lstrip("0"),
    "without what follows the last '-'": lambda i: i.rpartition("-")[0],
    "without the last two fields after '-'": lambda i: i.rsplit("-", 2)[0],
    "without what follows the last '_'": lambda i: i.rpartition("_")[0],
    "without '.0'": lambda i: i.removesuffix(".0"),
    "without '.txt', '.pdf', ...": lambda i: i.rpartition(".")[0],
}


def _hint(ids: list[str], known: set[str]) -> str:
    """Say how most of the ids would match, where a simple change does it."""
    found = {name: sum(change(i) in known for i in ids) for name, change in _REPAIRS.items()}
    name = max(found, key=lambda key: found[key])
    return f"; {found[name]:,} of them would, {name}" if found[name] else ""


def _lost_queries(subject: Subject) -> Iterator[Finding]:
    """Report queries all of whose relevant passages are absent, and those judged by nobody."""
    if not subject.dataset.qrel_table.num_rows:
        return
    answerable = subject.expecting
    gone = _only_absent(subject.dangling, subject)
    bare = [q.query_id for q in answerable if not subject.gold.get(q.query_id)]
    if bare:
        yield Finding(
            "judgements/no-relevant",
            "warning",
            f"{len(bare):,} of {len(answerable):,} answerable queries have no relevant passage in "
            f"the corpus; of {len(gone):,} of them the judged ones are absent",
            len(bare),
            len(answerable),
            "no ranking can be right for them: judge a passage, or label them `answerability: "
            "unanswerable`",
            first(bare),
        )


def _only_absent(dangling: tuple[Dangling, ...], subject: Subject) -> set[str]:
    return {d.query_id for d in dangling if d.no_passage and not subject.gold.get(d.query_id)}
