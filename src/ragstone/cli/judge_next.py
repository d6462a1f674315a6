"""`ragstone judge next`: the answers that people should label next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.judge_labels import labelled_answers, rating_options
from ragstone.cli.options import (
    FILE,
    POSITIVE,
    experiment_arguments,
    json_option,
    load_results,
    print_json,
    seed_option,
    wants_json,
    write_json_lines,
)
from ragstone.cli.screen import say, say_json, tell

if TYPE_CHECKING:
    from ragstone.data.readers.rating_scales import RatingScale


@click.command("next")
@experiment_arguments
@click.option("--metric", required=True, help="Metric of a judge that the labels will correct.")
@click.option("--labels", "count", required=True, type=POSITIVE, help="Number of answers to label.")
@click.option("--have", type=FILE, help="File of existing labels; their queries are not proposed.")
@click.option("--baseline", help="System to compare with (default: the best of each setting).")
@click.option("--setting", "settings", multiple=True, help="Setting to label; repeatable.")
@click.option("--system", "systems", multiple=True, help="System to label; repeatable.")
@click.option(
    "-o",
    "--output",
    type=FILE,
    metavar="FILE",
    help="File to write, with one rating to fill in per line (default: standard output).",
)
@rating_options
@seed_option
@json_option
def command(
    *,
    experiment: Path,
    overrides: tuple[str, ...],
    metric: str,
    have: Path | None,
    output: Path | None,
    rating: str | None,
    scale: RatingScale | None,
    combine: str,
    **options: Any,
) -> None:
    """Propose the answers whose labels narrow the differences of systems most.

    Queries are drawn with known probabilities, larger ones if the judge's values differ between
    systems or are unusual. Of each drawn query the answers of all systems are proposed. Fill in
    `value` and `rater`, and give the file to `ragstone judge calibrate --labels`. For another
    round, give all earlier files as one with --have, and add the new labels to it.

    \b
    Examples:
      ragstone judge next experiment.yaml --metric equivalence --labels 50 -o next.jsonl
      ragstone judge next experiment.yaml --metric RL_F --labels 50 --have old.jsonl -o new.jsonl
    """
    import orjson

    from ragstone.results.calibrate import inclusions_of, labels_of
    from ragstone.results.next_labels import next_labels

    results = load_results(experiment, overrides)
    given = {"rating": rating, "scale": scale, "combine": combine}
    graded = labelled_answers(results, have, **given) if have else None
    plan = next_labels(
        results,
        metric,
        labels=labels_of(graded) if graded else None,
        inclusions=inclusions_of(graded) if graded else None,
        **options,
    )
    lines = [one.line(metric) for one in plan.proposals]
    if output is not None:
        write_json_lines(output, lines)
    if wants_json():
        found = {"queries": plan.queries, "left": plan.left, "notes": plan.notes, "file": output}
        print_json({"proposals": lines, **found})
        return
    for note in plan.notes:
        tell(f"note: {note}")
    if output is None:
        say_json(b"\n".join(map(orjson.dumps, lines)))
        return
    drawn = ", ".join(f"{count:,} queries under {name}" for name, count in plan.queries.items())
    say(f"{output}: {len(lines):,} answers to label, of {drawn}")
