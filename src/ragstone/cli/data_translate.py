"""`ragstone data translate`: a data set in another language, translated by a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click

from ragstone.cli.build_options import Spending, spending_options
from ragstone.cli.options import FILE, json_option, model_option, print_result
from ragstone.core.tables import TextTable

_COUNTS = ("read", "translated", "as_they_were", "failed", "not_reached")


@click.command("translate")
@click.argument("source")
@click.option("--to", required=True, help="Language: a code or an English name, such as en.")
@click.option(
    "-o",
    "--output",
    type=FILE,
    required=True,
    metavar="FOLDER",
    help="Folder of the translated data set, and of the kept replies.",
)
@model_option
@click.option(
    "--queries", is_flag=True, help="Translate queries, gold answers and histories as well."
)
@click.option("--max-tokens", default=1000, help="Maximum tokens per translated text.")
@click.option("--plan", is_flag=True, help="Print the largest number of calls, and stop.")
@spending_options
@json_option
def translate_command(
    *,
    source: str,
    to: str,
    output: Path,
    model: str,
    queries: bool,
    max_tokens: int,
    plan: bool,
    spending: Spending,
) -> None:
    """Translate the passages of the data set SOURCE with a model.

    The data set in FOLDER has the same ids, and the labels `language` and `translated_from`. A row
    whose translation failed is not in it: `left_out.jsonl` has the reason. `translation.json` has
    the counts. If interrupted, run the same command again to resume.

    \b
    Examples:
      ragstone data translate my-set --to en -o my-set-en --model "chat(model=my-model)"
      ragstone data translate my-set --to ja -o my-set-ja --queries --max-calls 500
      ragstone data translate my-set --to German -o my-set-de --plan
    """
    from ragstone.building.built import check_target
    from ragstone.building.translated_data import (
        TRANSLATION,
        DataTranslator,
        planned_calls,
        translate_dataset,
        write_translated,
    )
    from ragstone.data.collections import with_collection_labels
    from ragstone.data.load import load_dataset

    check_target(output, TRANSLATION, "translated data set")
    translator = DataTranslator(to=to, model=model, max_tokens=max_tokens)
    dataset = with_collection_labels(load_dataset(source))
    if plan:
        calls = planned_calls(dataset, translator, queries=queries)
        print_result(lambda: {"calls": calls}, lambda: f"at most {calls:,} calls")
        return
    with spending.services(output) as services:
        translator.check(services)
        made = translate_dataset(dataset, translator, services, queries=queries)
        used = services.calls.usage
    files = write_translated(made, output)
    facts = {**made.document(), "calls": {"asked": used.asked, "kept": used.kept}, "files": files}
    print_result(lambda: facts, lambda: "\n".join(_lines(facts, output)))


def _lines(facts: Mapping[str, Any], output: Path) -> Iterator[str]:
    if facts["partial"]:
        yield f"PARTIAL: {facts['partial']}"
    kinds = [kind for kind in ("passages", "queries") if kind in facts]
    head = ["rows", *(name.replace("_", " ") for name in _COUNTS)]
    yield str(TextTable(head, [[k, *(facts[k].get(name, 0) for name in _COUNTS)] for k in kinds]))
    if lost := facts["judgements_left_out"]:
        yield f"{lost:,} judgements of rows that are left out are left out too"
    calls = facts["calls"]
    yield f"{calls['asked']:,} calls, {calls['kept']:,} kept replies"
    yield f"{', '.join(path.name for path in facts['files'])} in {output}"
