"""`ragstone history`: a system over releases and dates."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.options import FILE, POSITIVE, json_option, print_result, warn_of_attempt
from ragstone.core import limits
from ragstone.errors import RagstoneError

if TYPE_CHECKING:
    from ragstone.results.history import History

_LOG: Final = logging.getLogger(__name__)


@click.command("history")
@click.argument("sources", nargs=-1, required=True, type=FILE, metavar="SOURCE...")
@click.option("--system", help="One system (default: all).")
@click.option("--setting", help="One context setting (default: all).")
@click.option("--metric", help="Metric to show (default: the headline of the last run).")
@click.option(
    "--last",
    type=POSITIVE,
    default=limits.HISTORY_RUNS,
    help="Maximum number of runs of an experiment, the last ones.",
)
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write the trend to this file: .html, .svg, .png, or .json (Vega-Lite).",
)
@json_option
def command(*, sources: tuple[Path, ...], last: int, output: Path | None, **options: Any) -> None:
    """Show a metric over the runs of an experiment, with the changes between them.

    SOURCE is an experiment file (of several data sets: FILE.yaml#NAME), whose finished runs are in
    its store, or a passport or report of one run. Several are put in the order of their dates.
    Values before and after a change of the data, the judge or the code are not comparable: the
    change has a mark.

    \b
    Examples:
      ragstone history e.yaml
      ragstone history e.yaml --system mine --metric F1 -o trend.svg
      ragstone history passports/*.json -o history.html
    """
    from ragstone.results.charts.render import check_chart_path
    from ragstone.results.history import make_history

    if output is not None and not _is_page(output):
        check_chart_path(output)
    passports = [passport for source in sources for passport in _passports(source, last)]
    found = make_history(passports, **options)
    if output is not None:
        _write(found, output)
    print_result(found.to_dict, lambda: found)


def _is_page(path: Path) -> bool:
    return path.suffix.lower() in {".html", ".htm"}


def _write(history: History, path: Path) -> None:
    from ragstone.core.atomic_files import write_document
    from ragstone.results.charts.render import write_chart
    from ragstone.results.charts.trend import trend_chart
    from ragstone.results.html import chart_page

    chart = trend_chart(history)
    if _is_page(path):
        page = chart_page("history", chart=chart, history=history)
        write_document(path, page.encode(), "history")
    else:
        write_chart(chart, path)


def _passports(source: Path, last: int) -> Iterator[dict[str, Any]]:
    """Yield the passport in a file, or those of the last finished runs of an experiment."""
    from ragstone.core.progress import track
    from ragstone.core.store import Store
    from ragstone.examples import find_example
    from ragstone.experiment.members import read_experiment_file, split_member
    from ragstone.results.earlier import finished_records
    from ragstone.results.passport_file import read_passport
    from ragstone.results.results import Results

    if find_example(split_member(source)[0]).suffix.lower() not in {".yaml", ".yml"}:
        yield read_passport(source)
        return
    file = read_experiment_file(source, ())
    store = Store(Path(file.store))
    warn_of_attempt(Results.load(store, file.name))
    records = finished_records(store, file.name)
    if len(records) > last:
        _LOG.warning("note: the last %d of %d runs are shown; --last N", last, len(records))
    records = records[-last:]
    for record in track(records, "Runs", len(records)):
        try:
            yield Results(store, record).with_share_of(file.secret).passport()
        except (RagstoneError, OSError) as error:
            _LOG.warning("note: the run of %s is left out: %s", record.finished, error)
