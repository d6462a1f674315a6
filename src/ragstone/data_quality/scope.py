"""The scope of the doctor: a part that was not read has no finding, which is a finding itself."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

from ragstone.data_quality.finding import Finding, each_line

if TYPE_CHECKING:
    from ragstone.data_quality.checked_dataset import Subject

_MISSING: Final = {
    "passages": "their texts, duplicates and languages, and whether they contain the answers",
    "judgements": "gold passages, ceilings and leakage of passages",
    "gold answers": "answers in passages and in queries, short answers, and suited metrics",
}
"""Part of a data set -> the checks that need it."""


def looked_at(subject: Subject) -> dict[str, int]:
    """Return the number of queries, passages, judgements and gold answers that were read."""
    return {
        "queries": len(subject.queries),
        "passages": len(subject.dataset.corpus),
        "judgements": subject.dataset.qrel_table.num_rows,
        "gold answers": sum(len(query.gold_answers) for query in subject.queries),
        **({"collections": len(places)} if (places := subject.dataset.corpus.collections) else {}),
    }


def check_scope(subject: Subject) -> Iterator[Finding]:
    """Report the parts of which nothing was read, and files that no reader reads."""
    read = looked_at(subject)
    for part, unchecked in _MISSING.items():
        if not read[part]:
            yield Finding(
                f"scope/no-{part.replace(' ', '-')}",
                "warning" if part == "passages" and read["judgements"] else "note",
                f"no {part} were read, so these were not checked: {unchecked}",
                0,
                0,
                f"add the {part} if the data set has any",
            )
    if subject.unread:
        count = len(subject.unread)
        yield Finding(
            "scope/unread-files",
            "note" if all(read.values()) else "warning",
            f"{count:,} files of the folder were not read",
            count,
            count,
            "give them the names of docs/data.md (corpus.jsonl, queries.jsonl, qrels.tsv, ...) if "
            "they belong to the data set",
            each_line(subject.unread),
            subject.unread,
            "file",
        )
