"""`ragstone data`: show, check and convert data sets."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.data_agreement import agreement_command
from ragstone.cli.data_card import card_command
from ragstone.cli.data_chunk import chunk_command
from ragstone.cli.data_compare import compare_command
from ragstone.cli.data_contamination import contamination_command
from ragstone.cli.data_critique import critique_command
from ragstone.cli.data_generate import compare_generated_command, generate_command
from ragstone.cli.data_label import label_command, label_stats_command, suitability_command
from ragstone.cli.data_list import list_command
from ragstone.cli.data_ratings import ratings_command
from ragstone.cli.data_translate import translate_command
from ragstone.cli.options import FILE, AliasGroup, json_option, print_files, print_result
from ragstone.cli.screen import tell
from ragstone.core import limits

if TYPE_CHECKING:
    from ragstone.data.describe import Description
    from ragstone.data_quality.finding import Finding

SEVERITY: Final = ("error", "warning", "note")
_REMEDY: Final = {"fix": "", "person": "needs a person: ", "": ""}
"""Remedy of a finding -> beginning of its advice."""


@click.group(
    cls=AliasGroup,
    former={"labels": "label-stats", "generated": "compare-generated", "worth": "suitability"},
    commands=[
        list_command,
        card_command,
        chunk_command,
        label_command,
        label_stats_command,
        compare_command,
        agreement_command,
        ratings_command,
        suitability_command,
        contamination_command,
        critique_command,
        generate_command,
        compare_generated_command,
        translate_command,
    ],
)
def command() -> None:
    """Show, check, convert, label and generate data sets.

    SOURCE is `sample` (the data set that comes with Ragstone), a path, the name of a published set,
    or a reader with its parameters.

    \b
    Examples:
      ragstone data show sample                     counts, labels, lengths
      ragstone data show ../scifact                 a folder; its layout is recognised
      ragstone data show "ragstone(../nfcorpus, split=dev)"
      ragstone data list                            published sets that are read by name
      ragstone data check my-set --fix my-clean-set errors, and a cleaned copy
      ragstone data label-stats sample my-set       shares of each label, side by side
      ragstone data compare my-set my-test-set      properties and overlap, side by side
      ragstone data generate my-set my-test-set     queries written by a model
      ragstone data convert dev-v2.0.json.gz squad  SQuAD's format into Ragstone's own layout
      ragstone data card my-set --licence CC-BY-4.0 README.md and croissant.json to publish it
      ragstone data contamination my-set --after 2024-06   what models may know of it
      ragstone data chunk my-set cut --chunker "words(100)"   new passages with their qrels
      ragstone data translate my-set --to en -o my-set-en   passages translated by a model
    """


@command.command("show")
@click.argument("source")
@json_option
def show_command(source: str) -> None:
    """Show the contents of the data set SOURCE.

    Prints counts, labels, lengths of texts, the number of missing parts, and a few rows.

    \b
    Examples:
      ragstone data show sample
      ragstone data show ../scifact --json
    """
    from ragstone.data.describe import describe
    from ragstone.data.load import load_dataset

    found = describe(load_dataset(source))
    print_result(lambda: found, lambda: "\n".join(_lines(found)))


@command.command("convert")
@click.argument("source")
@click.argument("target", type=FILE, metavar="TARGET_FOLDER")
@click.option(
    "--to",
    "form",
    type=click.Choice(["ragstone", "mtrag", "mtrageval"]),
    default="ragstone",
    help="Layout of the files to write.",
)
@click.option(
    "--labels",
    "files",
    multiple=True,
    type=click.Path(exists=True, path_type=Path),
    help="Add the labels in this file of `ragstone data label` to the queries; may be repeated.",
)
@json_option
def convert_command(source: str, target: Path, form: str, files: tuple[Path, ...]) -> None:
    """Write the data set SOURCE in another layout.

    Existing files are not overwritten. The layout `ragstone` is Ragstone's own. `mtrag` has
    conversations, retrieval tasks in three query forms with qrels, and corpora. `mtrageval` has the
    inputs of its tasks A, B and C. `beir` and `mirage` are the layouts of those benchmarks.

    \b
    Examples:
      ragstone data convert sample my-copy
      ragstone data convert "mtrag(conversations.jsonl)" my-tasks --to mtrageval
      ragstone data convert my-set labelled --labels labels.jsonl
    """
    from ragstone.building.label_files import labelled
    from ragstone.data.collections import LABEL, with_collection_labels
    from ragstone.data.load import load_dataset
    from ragstone.data.writers.layouts import WRITERS

    dataset = load_dataset(source)
    if files:
        dataset = labelled(dataset, files)
    facts: dict[str, Any] = {"name": dataset.name}
    if dataset.collections and form == "ragstone":
        dataset = with_collection_labels(dataset)
        facts["collections"] = {"by": LABEL}
        tell(f"read it with: {{path: {target}, collections: {{by: {LABEL}}}}}")
    print_files(WRITERS[form](dataset, target), facts)


@command.command("check")
@click.argument("source")
@click.option("--against", metavar="SOURCE", help="Data set that must share no query with SOURCE.")
@click.option(
    "--fix",
    "target",
    type=FILE,
    metavar="TARGET_FOLDER",
    help="Write a cleaned copy and changes.jsonl into this folder; the original does not change.",
)
@json_option
def check_command(source: str, against: str | None, target: Path | None) -> None:
    """Check the data set SOURCE for errors.

    The findings are errors (scores are wrong because of them), warnings (scores may be wrong) and
    notes (they help to interpret scores). The exit code is 1 if SOURCE has an error, even if --fix
    removes it in the copy.

    \b
    Examples:
      ragstone data check sample
      ragstone data check my-set --against my-training-set
      ragstone data check my-set --fix my-clean-set
    """
    from ragstone.data_quality import check
    from ragstone.data_quality.lenient_reader import read_leniently
    from ragstone.data_quality.repair import LOG, fix
    from ragstone.data_quality.scope import looked_at

    subject = read_leniently(source, against)
    name, findings = subject.dataset.name, check(subject)
    done = fix(subject, target, source) if target else None
    read = looked_at(subject)
    lines = list(_findings(name, findings))
    lines[1:1] = ["read: " + ", ".join(f"{count:,} {part}" for part, count in read.items())]
    if done is not None and target is not None:
        changes = ", ".join(f"{what} {count:,}" for what, count in sorted(done.items()))
        lines.append(f"\nA cleaned copy is in {target}; changed: {changes or 'nothing'}")
        lines.append(f"Every change: {target / LOG}")
    facts = {"name": name, "read": read, "findings": findings, "fixed": done}
    print_result(lambda: facts, lambda: "\n".join(lines))
    sys.exit(1 if any(finding.severity == "error" for finding in findings) else 0)


def _findings(name: str, findings: Sequence[Finding]) -> Iterator[str]:
    counts = Counter(finding.severity for finding in findings)
    listed = ", ".join(f"{counts[s]} {s}{'s' * (counts[s] != 1)}" for s in SEVERITY if counts[s])
    yield f"{name}: {listed or 'nothing found'}"
    for finding in findings:
        yield f"\n{finding.severity.upper():<8} {finding.check}: {finding.what}"
        yield from (f"           {example}" for example in finding.examples)
        more = len(finding.rows) - len(finding.examples)
        if more > 0 and finding.examples:
            yield f"           and {more:,} more; the ids of all are under `rows` in --json"
        yield f"         -> {_REMEDY[finding.remedy]}{finding.advice}"


def _lines(found: Description) -> Iterator[str]:
    yield f"{found.name}\n"
    yield f"  passages       {found.passages:>9,}"
    yield f"  queries        {found.queries:>9,}{_notes(found)}"
    yield f"  conversations  {found.conversations:>9,}"
    grades = ", ".join(f"grade {grade}: {count:,}" for grade, count in found.relevance.items())
    yield f"  qrels          {found.qrels:>9,}{'   ' if grades else ''}{grades}"
    if found.judged != "passage":
        yield f"  judged         {found.judged}s, to which passages belong by the field `document`"
    for name, sizes in found.collections.items():
        line = f"{sizes.passages:>9,} passages, {sizes.queries:,} queries"
        yield f"  collection {name}: {line.lstrip()}"
    if found.answerability:
        yield f"  answerability  {_counts(found.answerability)}"
    if found.origin["published"]:
        named = (f"  {name:<14} {value}" for name, value in found.origin.items() if value)
        yield "\n" + "\n".join(named)
    yield "\nLengths in words    texts   shortest    median      mean   longest"
    for name, held in found.words.items():
        yield (
            f"  {name:<12}{held.texts:>11,}{held.shortest:>11,}{held.median:>10,.1f}"
            f"{held.mean:>10,.1f}{held.longest:>10,}"
        )
    for title, labels in (("queries", found.query_labels), ("passages", found.passage_labels)):
        if labels:
            yield f"\nLabels of {title}"
            yield from (f"  {n}: {_counts(held.counts, held.values)}" for n, held in labels.items())
    yield from _examples(found)


def _notes(found: Description) -> str:
    notes = {
        "without gold answers": found.without_answers,
        "without a relevant passage": found.without_relevant,
        "with history": found.with_history,
        "with a rewrite": found.with_rewrite,
    }
    listed = ", ".join(f"{count:,} {note}" for note, count in notes.items() if count)
    return f"   {listed}" if listed else ""


def _counts(counts: Mapping[str, int], values: int = 0) -> str:
    are_many = values > limits.STORED_LABEL_VALUES
    most = limits.SHOWN_VALUES_OF_MANY if are_many else limits.SHOWN_LABEL_VALUES
    first = list(counts.items())[:most]
    more = values - len(first)
    shown = ", ".join(f"{_cut(value)} {count:,}" for value, count in first)
    return f"{shown} and {more:,} more values" if more > 0 else shown


def _examples(found: Description) -> Iterator[str]:
    if found.example_passages:
        yield "\nFirst passages"
    for passage in found.example_passages:
        yield f"  {passage.passage_id}: {_cut(passage.full_text)}"
    yield "\nFirst queries"
    for query in found.example_queries:
        answers = " | ".join(query.gold_answers) or "(none)"
        yield f"  {query.query_id}: {_cut(query.text)}\n    gold answers: {_cut(answers)}"


def _cut(text: str) -> str:
    line = " ".join(text.split())
    most = limits.SHOWN_TEXT_CHARACTERS
    return line if len(line) <= most else f"{line[:most]}..."
