"""Options of the commands that read people's ratings of an experiment's answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.options import FILE, together, warn_of_attempt
from ragstone.cli.screen import tell

if TYPE_CHECKING:
    from ragstone.data.readers.rating_scales import RatingScale
    from ragstone.evaluation.human_grades import HumanSet
    from ragstone.results.results import Results


def _scale(
    _context: click.Context, _option: click.Parameter, written: str | None
) -> RatingScale | None:
    from ragstone.data.readers.rating_scales import RatingScale

    return None if written is None else RatingScale.parse(written)


scale_option: Final = click.option(
    "--scale",
    callback=_scale,
    metavar="LOW-HIGH",
    help="Scale of the ratings, such as 1-4, or words from the lowest to the highest: "
    "no,partly,yes (default: the one that the file declares or shows).",
)
LABELS_HELP: Final = "People's ratings of the experiment's answers, as JSON lines."
labels_option: Final = click.option("--labels", type=FILE, metavar="FILE", help=LABELS_HELP)
rating_options: Final = together(
    click.option("--property", "rating", help="Rated property, such as faithfulness."),
    scale_option,
    click.option(
        "--combine",
        type=click.Choice(["mean", "median"]),
        default="mean",
        help="How the values of several raters for an answer become one.",
    ),
)
FORMER_RATING: Final = {"--rating": "--property"}


def labelled_answers(results: Results, labels: Path, **options: Any) -> HumanSet:
    """Return the rated answers of an experiment; print how many ratings are left out to stderr.

    `options` are those of `human_set`; those that are empty are left out.
    """
    from ragstone.evaluation.human_grades import human_set
    from ragstone.results.rated_trials import read_labels

    warn_of_attempt(results)
    rated = read_labels(results, labels)
    others = f"ratings of queries that {results.name!r} does not have"
    for count, what in (
        (rated.other_queries, others),
        (rated.parts, "ratings of parts of answers"),
    ):
        if count:
            tell(f"note: {what} are left out: {count:,}")
    return human_set(rated, **{name: value for name, value in options.items() if value})


def judge_source(config: str, name: str | None) -> tuple[str, str | None]:
    """Return the file and the name of the judge for a labelled experiment.

    A judge that the experiment does not have is found by its own name or file.
    """
    from ragstone.cli.read_judge import judge_names
    from ragstone.core.parsing import read_yaml
    from ragstone.errors import ConfigError

    file = config.partition("#")[0]
    known = judge_names(file) if read_yaml(Path(file), "experiment").get("judges") else set()
    if name is None and not known:
        raise ConfigError(f"{file} has no judges: name one with --judge, such as equivalence")
    return (file, name) if name is None or name in known else (name, None)
