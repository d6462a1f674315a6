"""`ragstone score`: score recorded answers against gold answers."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.judge_options import JudgeModel, judge_options
from ragstone.cli.options import FILE, print_result
from ragstone.cli.scores import print_notes, scores_options, write_scores
from ragstone.cli.screen import tell
from ragstone.core import limits

if TYPE_CHECKING:
    from ragstone.components.metrics.variants_explained import Disagreement
    from ragstone.data.corpus import Corpus
    from ragstone.data.readers.answer_rows import SystemRows
    from ragstone.evaluation.evaluation import Evaluation
    from ragstone.protocols import Judge
    from ragstone.statistics.summary import Policy
    from ragstone.types import Query


@click.command("score")
@click.argument("answers", type=FILE)
@click.option(
    "--gold",
    "--data",
    type=FILE,
    help="File of queries with gold answers (_id, answers), or the folder of the data set; by "
    "default, the rows of ANSWERS have gold answers of their own, or none.",
)
@click.option(
    "--columns",
    default="",
    help="Columns of ANSWERS by their role, as in text=question,gold_answers=ground_truth.",
)
@click.option(
    "--nuggets",
    type=FILE,
    help="File of the queries' nuggets, in TREC RAG's form (qid, query, nuggets); without --gold, "
    "its queries are scored.",
)
@click.option(
    "--format",
    "--as",
    "format_name",
    default="",
    metavar="NAME",
    help="Tool or form of ANSWERS, such as ragas, promptfoo or trec-rag, or 'plain' (default: "
    "recognised).",
)
@click.option("--system", help="Score only the rows of this system (column system).")
@click.option(
    "--metrics",
    help="Comma-separated metrics, and judges such as faithfulness, which need --judge (default: "
    "Match,EM,F1, or without gold answers K-precision,refusal).",
)
@judge_options
@click.option(
    "--variant",
    default="corrected",
    help="Variant of the metrics: corrected, paper, squad, mirage, bergen or mtrag.",
)
@click.option("--setting", help="Score only the answers of this context setting.")
@click.option(
    "--explain",
    is_flag=True,
    help="Show all variants, and the answers that they score differently.",
)
@scores_options
def command(
    *,
    answers: Path,
    gold: Path | None,
    nuggets: Path | None,
    columns: str,
    format_name: str,
    system: str | None,
    metrics: str | None,
    judging: JudgeModel,
    variant: str,
    setting: str | None,
    explain: bool,
    clusters: Mapping[str, str] | None,
    failures: Policy,
    per_query: Path | None,
) -> None:
    """Score recorded answers with metrics, and with judges if --judge names their model.

    ANSWERS is a table (CSV, TSV, JSON, JSON lines, Parquet) with any of query_id, query,
    gold_answers, contexts, passage_ids, answer and system, or a file of ragas, LangChain,
    LangSmith, LlamaIndex, DeepEval, promptfoo, open-rag-eval or TREC RAG. A query without a row, or
    with an answer of null, is failed; --failures decides how it counts. Checks that the rows
    carry (column checks) are scored too.

    \b
    Examples:
      ragstone score rows.csv --metrics EM,F1,K-precision
      ragstone score answers.jsonl --gold queries.jsonl --metrics Match,EM,F1 --explain
      ragstone score answers.jsonl --gold my-data --metrics ROUGE-L,F1 --variant paper --json
      ragstone score rows.jsonl --metrics F1,faithfulness --judge http://localhost:8000/v1#qwen
      ragstone score run.jsonl --as trec-rag --data my-data --metrics nuggets --judge local
    """
    from ragstone.components.metrics import parse

    parse.check_variant(variant)
    rows = _Source(answers, columns, format_name, setting or "")
    whole = explain or per_query or clusters or nuggets or setting or system is not None
    if gold and not whole and rows.is_plain:
        done = _by_blocks(answers, gold, metrics, judging, variant=variant, failures=failures)
        if done is not None:
            return _print(*done)
    tables = _tables(rows, _Gold(gold, nuggets), system)
    written, judges = judging.judges_apart(_names(metrics, tables))
    _require_texts(tables, judges)
    wanted = _wanted(written, variant)
    variants = [v for name in wanted for v in (parse.variants_of(name) if explain else [name])]
    if explain or per_query:
        _require_one(tables, "--explain" if explain else "--per-query")
    common = {"clusters": clusters, "failures": failures, "judges": judges}
    with judging.services(judges) as services:
        found = {
            name: _evaluate(table, variants, services=services, **common)
            for name, table in tables.items()
        }
    write_scores(per_query, found.values())
    if explain:
        _print_notes(found)
        return _explain(list(wanted), next(iter(found.values())), next(iter(tables.values())))
    return _print(found, wanted)


def _require_one(tables: Iterable[str], option: str) -> None:
    """Raise `UsageError` if there are several systems."""
    if len(names := list(tables)) > 1:
        raise click.UsageError(
            f"{option} is for one system, and the file has {', '.join(names)}; name one with "
            "--system"
        )


def _wanted(written: Iterable[str], variant: str) -> dict[str, str]:
    """Return the metrics with their variant -> the names by which they were asked for."""
    from ragstone.components.metrics import parse

    return {parse.with_variant(n, variant): str(parse.parse_metric(n)) for n in written}


def _by_blocks(
    answers: Path,
    gold: Path,
    metrics: str | None,
    judging: JudgeModel,
    *,
    variant: str,
    failures: Policy,
) -> tuple[dict[str, Evaluation], dict[str, str]] | None:
    """Return the scores of plain files, and the metrics; None if they are read as a whole."""
    from ragstone.components.metrics.defaults import WITH_GOLD
    from ragstone.components.metrics.parse import split_names
    from ragstone.data.gold_queries import gold_lines, has_gold_lines
    from ragstone.data.readers.answer_index import AnswerIndex, NotPlain
    from ragstone.errors import DatasetError
    from ragstone.evaluation.score_blocks import evaluate_blocks

    try:
        if not has_gold_lines(gold):
            return None
        queries = (query for _, query in gold_lines(gold))
        first = next(queries, None)
        if first is None or not (metrics or first.gold_answers):
            return None
        written, judges = judging.judges_apart(split_names(metrics) if metrics else WITH_GOLD)
        if judges:
            return None
        wanted = _wanted(written, variant)
        index = AnswerIndex(answers)
        found = evaluate_blocks(index, chain([first], queries), list(wanted), failures=failures)
    except (NotPlain, DatasetError):
        return None  # read as a whole, the files show the line and the reason
    return {"": found}, wanted


def _names(metrics: str | None, tables: Mapping[str, SystemRows]) -> Sequence[str]:
    """Return the names of an option, or the usual metrics for the queries.

    `nuggets` are the aggregates of assignments if the rows have some, and need no judge.
    """
    from ragstone.components.metrics import assigned_nuggets, defaults, parse

    queries = [query for rows in tables.values() for query in rows.queries]
    assigned = assigned_nuggets.metrics_of(queries)
    if not metrics:
        return assigned or defaults.usual_metrics(queries)
    names = parse.split_names(metrics)
    apart = [assigned if assigned and name == "nuggets" else (name,) for name in names]
    return list(chain.from_iterable(apart))


def _require_texts(tables: Mapping[str, SystemRows], judges: Iterable[Judge]) -> None:
    """Raise `DatasetError` if the text of a cited passage is unknown, and another one is known.

    A judge that reads passages needs all of them; without any, a metric does not apply.
    """
    from ragstone.data.cited_passages import require_cited_texts

    read = any("passages" in getattr(judge, "needs", ()) for judge in judges)
    for table in tables.values():
        require_cited_texts(table, if_known=not read)


def _evaluate(table: SystemRows, metrics: Sequence[str], **options: Any) -> Evaluation:
    """Return the scores of a system by some metrics, and by the checks that its rows carry."""
    from ragstone.components.metrics.row_checks import check_metrics_of
    from ragstone.evaluation.score_files import evaluate_answers

    names = dict.fromkeys([*metrics, *check_metrics_of(table.queries)])
    answers = list(table.predictions.values())
    return evaluate_answers(answers, table.queries, list(names), contexts=table.contexts, **options)


def _print_notes(found: Mapping[str, Evaluation]) -> None:
    for name, one in found.items():
        print_notes(one, f"the answers of {name}" if name else "the answers", "the gold answers")


def _print(found: Mapping[str, Evaluation], wanted: Mapping[str, str]) -> None:
    """Print the notes and the scores, those of several systems by name."""
    _print_notes(found)
    by_system = {name: one.to_dict(wanted) for name, one in found.items()}
    if len(found) > 1:
        blocks = (f"{name}\n{one}" for name, one in found.items())
        print_result(lambda: {"systems": by_system}, lambda: "\n\n".join(blocks))
    else:
        ((name, only),) = found.items()
        print_result(lambda: by_system[name], lambda: only)


@dataclass(frozen=True)
class _Source:
    """A file of answers, and how it is read."""

    path: Path
    columns: str
    format_name: str
    setting: str

    @property
    def is_plain(self) -> bool:
        """Whether it is JSON lines with `query_id` and `answer`, and nothing else is asked for."""
        from ragstone.data.readers.answer_lines import has_own_rows

        return not self.columns and not self.format_name and has_own_rows(self.path)


@dataclass(frozen=True)
class _Gold:
    """Where the queries come from, beside the rows of answers."""

    gold: Path | None
    nuggets: Path | None

    def read(self) -> tuple[list[Query] | None, Corpus | None]:
        """Return the queries, or None for those of the rows, and the corpus if there is one."""
        from ragstone.data.gold_queries import read_gold
        from ragstone.data.readers.nuggets import read_nuggets, with_nuggets

        queries, corpus = (None, None) if self.gold is None else read_gold(self.gold)
        if self.nuggets is None:
            return queries, corpus
        found = read_nuggets(self.nuggets)
        if queries is None:
            return [one.query for one in found.values()], corpus
        return with_nuggets(queries, found, self.nuggets), corpus


def _tables(source: _Source, gold: _Gold, system: str | None) -> dict[str, SystemRows]:
    """Return the answers and gold answers of each system; print guesses on stderr."""
    from ragstone.data.cited_passages import with_references
    from ragstone.data.readers.answer_lines import read_answers
    from ragstone.data.readers.answer_rows import read_answer_rows
    from ragstone.data.readers.table_columns import parse_columns

    queries, corpus = gold.read()
    if queries is not None and system is None and source.is_plain:
        return {"": replace(read_answers(source.path, source.setting), queries=queries)}
    columns = parse_columns(source.columns)
    table = read_answer_rows(source.path, columns, source.setting, source.format_name)
    if note := table.columns.note(source.path):
        tell(f"note: {note}")
    chosen = table.systems if system is None else {system: table.of(system)}
    with_texts = {name: with_references(rows, corpus) for name, rows in chosen.items()}
    if queries is None:
        return with_texts
    return {name: replace(rows, queries=queries) for name, rows in with_texts.items()}


def _explain(names: Sequence[str], found: Evaluation, table: SystemRows) -> None:
    """Print the scores, and the answers that the variants of a metric score differently."""
    from ragstone.components.metrics.variants_explained import disagreements
    from ragstone.types import Prediction

    ids = [query.query_id for query in table.queries]
    predictions = [table.predictions.get(i) or Prediction(i, "") for i in ids]
    differing = {name: disagreements(name, table.queries, predictions) for name in names}
    lines = [line for name, ones in differing.items() for line in _explanation(name, ones)]
    print_result(
        lambda: {"metrics": found.to_dict(), "differ": differing},
        lambda: "\n".join([str(found), *lines]),
    )


def _explanation(metric: str, differing: Sequence[Disagreement]) -> list[str]:
    lines = ["", f"{metric}: its variants differ on {len(differing):,} answers"]
    most = limits.SHOWN_DIFFERING_ANSWERS
    for one in differing[:most]:
        lines.append(f"  {one.query_id}: {one.answer!r} against {one.gold_answers!r}")
        lines.append("    " + "  ".join(f"{n} {v:.3f}" for n, v in one.values.items()))
    if len(differing) > most:
        lines.append(f"  and {len(differing) - most:,} more; --json lists them all")
    return lines
