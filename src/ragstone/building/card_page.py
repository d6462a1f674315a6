"""A data card as a page: plain English in Markdown, with the header that the hub reads."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.building.card_facts import UNKNOWN, CardFacts
from ragstone.building.croissant import FILE, summary_text
from ragstone.core import limits
from ragstone.results.by_label import PLACES
from ragstone.results.wording import interval_text, number

if TYPE_CHECKING:
    from ragstone.data_quality.finding import Finding

MARK: Final = "<!-- written by ragstone data card; a rerun replaces this file -->"
_HUB_LICENCE: Final = re.compile(r"[A-Za-z0-9.+ -]{2,30}")
_DIGITS: Final = 16


def card_page(facts: CardFacts, findings: Sequence[Finding] | None) -> str:
    """Return the page; `findings` are those of the data doctor, None if it did not check."""
    parts = [
        _header(facts),
        MARK,
        f"# {facts.statements.title or facts.name}",
        summary_text(facts),
        *_section("Files", _files(facts)),
        *_section("Splits", _splits(facts)),
        *_section("Composition", _composition(facts)),
        *_section("How it was made", _made(facts)),
        *_section("Agreement of people", _agreement(facts)),
        *_section("Licence and sources", _licence(facts)),
        *_section("Known faults", _faults(findings)),
        *_section("What is not known", _unknown(facts)),
        *_section("Use", _use()),
    ]
    if facts.statements.citation:
        parts += _section("Citation", [facts.statements.citation])
    return "\n\n".join(part for part in parts if part) + "\n"


def _header(facts: CardFacts) -> str:
    """Return the header with the licence in the hub's spelling, `unknown` or `other`."""
    licence = facts.statements.licence
    known = licence.lower().replace(" ", "-") if _HUB_LICENCE.fullmatch(licence) else "other"
    lines = [
        "---",
        f"pretty_name: {_quoted(facts.statements.title or facts.name)}",
        f"license: {known if licence else UNKNOWN}",
        "task_categories: [question-answering]",
        "---",
    ]
    return "\n".join(lines)


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


def _section(title: str, lines: Iterator[str] | Sequence[str]) -> list[str]:
    return [f"## {title}", *lines]


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    cells = [head, ["---"] * len(head), *rows]
    return "\n".join(f"| {' | '.join(_cell(cell) for cell in row)} |" for row in cells)


def _cell(value: Any) -> str:
    text = f"{value:,}" if isinstance(value, int) else str(value)
    return " ".join(text.replace("|", "\\|").split())


def _files(facts: CardFacts) -> Iterator[str]:
    rows = [
        [one.name, one.kind, "" if one.rows is None else one.rows, one.size, one.sha256[:_DIGITS]]
        for one in facts.files
    ]
    yield _table(["file", "contents", "rows", "bytes", f"SHA-256 (first {_DIGITS} digits)"], rows)
    yield f"`{FILE}` has the whole digests and the fields of each file."


def _splits(facts: CardFacts) -> Iterator[str]:
    if facts.splits:
        yield _table(["split", "queries"], [[*one] for one in facts.splits.items()])
    else:
        yield "The data set has no splits: all queries are for measuring."


def _composition(facts: CardFacts) -> Iterator[str]:
    about = facts.about
    counts = {
        "queries": about.queries,
        "conversations": about.conversations,
        "queries without gold answers": about.without_answers,
        "queries without a relevant passage": about.without_relevant,
        "queries with a history": about.with_history,
        "passages": about.passages,
        "judgements": about.qrels,
        **{f"judgements of grade {grade}": n for grade, n in about.relevance.items()},
        **about.answerability,
    }
    yield _table(["", "number"], [[name, n] for name, n in counts.items() if n])
    lengths = [
        [name, one.texts, one.shortest, f"{one.median:.1f}", f"{one.mean:.1f}", one.longest]
        for name, one in about.words.items()
    ]
    if lengths:
        yield _table(["words per", "texts", "shortest", "median", "mean", "longest"], lengths)
    labels = {
        name: one
        for name, one in about.query_labels.items()
        if name not in PLACES and 1 < one.values <= limits.REPORT_LABEL_VALUES
    }
    for name, one in labels.items():
        yield f"Label `{name}` of the queries:"
        yield _table(["value", "queries"], [[*pair] for pair in one.counts.items()])


def _made(facts: CardFacts) -> Iterator[str]:
    built, generated = facts.built, facts.generated
    if built:
        yield from _built(built)
    if generated:
        kept = sum((generated.get("kept") or {}).values())
        yield (
            f"A model wrote the queries: `{generated.get('model', UNKNOWN)}`, with the strategy "
            f"`{generated.get('strategy', UNKNOWN)}` of `ragstone data generate`. "
            f"{kept:,} of {generated.get('tried', 0):,} queries were kept; `items.jsonl` has all."
        )
        rejected = generated.get("rejected") or {}
        if rejected:
            yield _table(["reason of a rejection", "queries"], [[*one] for one in rejected.items()])
    if facts.machine_qrels:
        yield f"{facts.machine_qrels}."
    if not built and not generated and not facts.machine_qrels:
        yield "Nothing beside the data set says how it was made."


def _built(built: Mapping[str, Any]) -> Iterator[str]:
    recipe = built.get("recipe") or {}
    yield f"`ragstone build {recipe.get('command', UNKNOWN)}` made it in these steps:"
    if built.get("partial"):
        yield f"The build is partial: {built['partial']}."
    steps = [
        [one["stage"], one["in"], one["out"], _reasons(one.get("rejected") or {})]
        for one in built.get("stages") or ()
    ]
    yield _table(["step", "in", "out", "rejected"], steps)
    rows = [[name, _plain(value)] for name, value in recipe.items() if name != "sets"]
    yield _table(["choice", "value"], rows)
    yield from (f"Warning: {text}" for text in built.get("warnings") or ())


def _reasons(rejected: Mapping[str, int]) -> str:
    return ", ".join(f"{reason} ({count:,})" for reason, count in rejected.items())


def _plain(value: Any) -> str:
    """Return a value of a recipe; of a path on this machine only its last part."""
    text = ", ".join(map(str, value)) if isinstance(value, list) else str(value)
    return Path(text).name if Path(text).is_absolute() else text


def _agreement(facts: CardFacts) -> Iterator[str]:
    if facts.ratings is None:
        yield "No file of people's ratings is beside the data set."
        return
    rows = [
        [
            *(name, one.n, ", ".join(one.raters)),
            (number(one.alpha.value) + interval_text(one.alpha.interval))
            if len(one.raters) > 1
            else "one rater alone: not known",
        ]
        for name, one in facts.ratings.whole.properties.items()
    ]
    yield _table(["property", "items", "raters", "Krippendorff's alpha [95 %]"], rows)


def _licence(facts: CardFacts) -> Iterator[str]:
    yield f"Licence: {facts.statements.licence or UNKNOWN}."
    rows = [
        [
            one.get("name", ""),
            one.get("licence") or UNKNOWN,
            one.get("source") or _plain(one.get("given", "")),
        ]
        for one in facts.sources
    ]
    if rows:
        yield "It was built from these sets, whose licences go along:"
        yield _table(["set", "licence", "source"], rows)
    if facts.built.get("recipe", {}).get("corpus"):
        yield f"Corpus: {_plain(facts.built['recipe']['corpus'])} (licence {UNKNOWN})."


def _faults(findings: Sequence[Finding] | None) -> Iterator[str]:
    if findings is None:
        yield "`ragstone data check` was not run for this card."
        return
    found = [one for one in findings if one.severity != "note"]
    if not found:
        yield "`ragstone data check` found no error and no warning."
        return
    yield "`ragstone data check` found:"
    yield _table(
        ["", "check", "finding"], [[one.severity, f"`{one.check}`", one.what] for one in found]
    )


def _unknown(facts: CardFacts) -> Iterator[str]:
    if facts.unknown:
        yield "\n".join(f"- {name}" for name in facts.unknown)
    else:
        yield "Nothing that Croissant requires is missing."


def _use() -> Iterator[str]:
    yield (
        "```\nragstone data show FOLDER\nragstone init --data FOLDER\n```\n\n"
        f"`{FILE}` describes the files for machines (MLCommons Croissant 1.0)."
    )
