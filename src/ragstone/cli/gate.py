"""`ragstone gate`: an exit code that decides whether a new version may replace a baseline."""

from __future__ import annotations

import sys
import traceback
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.options import FILE, json_option, output_quiet, print_result
from ragstone.cli.progress_bars import open_bar
from ragstone.cli.sources import chosen_clusters, source_options
from ragstone.core.progress import shown_by
from ragstone.errors import ConfigError, RagstoneError

if TYPE_CHECKING:
    from ragstone.evaluation.gate_result import GateResult

_FAILED: Final = 4
"""Exit code of a gate that could not be decided because of an error; 1 would mean `worse`."""


@click.command("gate")
@click.argument("new", metavar="NEW")
@click.option("--baseline", required=True, metavar="OLD", help="Scores of the earlier version.")
@click.option(
    "--metric",
    "metrics",
    multiple=True,
    required=True,
    help="Metric to decide on; give the option several times for several metrics.",
)
@click.option(
    "--margin",
    "margins",
    type=float,
    multiple=True,
    required=True,
    help="Largest acceptable loss: one for all metrics, or one for each in their order.",
)
@click.option(
    "--looks",
    type=int,
    default=1,
    help="Planned looks: analyse the queries in this many batches, and stop at a decision.",
)
@click.option("--seed", type=int, default=0, help="Seed of the order of the batches.")
@click.option("--run", is_flag=True, help="Run NEW, also if it has a finished run.")
@click.option("--common", is_flag=True, help="Accept a baseline of other data.")
@click.option("--junit", type=FILE, metavar="FILE", help="Write JUnit XML to this file.")
@source_options
@json_option
def command(**options: Any) -> None:
    """Decide whether NEW may replace a baseline: pass, worse or undecided.

    NEW and OLD are anything that `ragstone compare` takes: a file of scores, an experiment
    (e.yaml, e.yaml:SYSTEM or e.yaml:SYSTEM:SETTING; an earlier run as e.yaml@DATE or
    e.yaml:SYSTEM@RELEASE), or a passport or report. A NEW experiment without a finished run is run;
    with --looks it is asked in batches until the gate is decided. If a run was interrupted, run the
    same command again to resume. A metric passes if the lower bound of its change is above -MARGIN;
    else it is worse if the upper bound is below 0; else it is undecided. Both bounds are one-sided,
    at 95 %.

    \b
    Exit codes:
      0  pass
      1  worse
      2  wrong usage, or a baseline of other data
      3  undecided
      4  an error

    \b
    Examples:
      ragstone gate new.scores.jsonl --baseline old.scores.jsonl --metric F1 --margin 0.02
      ragstone gate e.yaml:new --baseline e.yaml:old --metric F1 --metric EM --margin 0.02
      ragstone gate new.yaml --baseline old.yaml --metric F1 --margin 0.02 --looks 5
      ragstone gate e.yaml --run --baseline e.yaml@2026-10-01 --metric F1 --margin 0.02
    """
    try:
        with shown_by(open_bar), output_quiet():
            found = _decide(**options)
        print_result(found.to_dict, lambda: found)
    except ConfigError:
        raise
    except RagstoneError as error:
        error.exit_code = _FAILED
        raise
    except Exception:  # noqa: BLE001 - see the comment
        # The interpreter's own exit code of an error would mean `worse`.
        traceback.print_exc()
        sys.exit(_FAILED)
    sys.exit(found.exit_code)


def _decide(
    *,
    new: str,
    baseline: str,
    metrics: tuple[str, ...],
    margins: tuple[float, ...],
    clusters: str | None,
    data: str | None,
    lower_is_better: str | None,
    junit: Path | None,
    markdown: Path | None,
    **options: Any,
) -> GateResult:
    from ragstone.components.metrics.parse import split_names
    from ragstone.core.atomic_files import write_document
    from ragstone.experiment.gated import gate_places

    found = gate_places(
        new,
        baseline,
        metrics=metrics,
        margin=margins,
        clusters=chosen_clusters(clusters, data)[1],
        lower_is_better=split_names(lower_is_better or ""),
        **options,
    )
    for path, text in ((junit, found.to_junit), (markdown, found.to_markdown)):
        if path is not None:
            write_document(path, text().encode(), "gate")
    return found
