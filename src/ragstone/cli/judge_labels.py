"""Options of the commands that read people's ratings of an experiment's answers."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.options import FILE, together, warn_of_attempt

if TYPE_CHECKING:
    from ragstone.data.readers.rated_set import RatedSet
    from ragstone.data.readers.rating_scales import RatingScale
    from ragstone.evaluation.human_grades import HumanSet
    from ragstone.results.results import Results


class _Scale(click.ParamType):
    name = "scale"

    def convert(self, value: Any, _param: Any, _context: Any) -> RatingScale:
        """Return a scale as it is written."""
        from ragstone.data.readers.rating_scales import RatingScale

        return RatingScale.parse(value) if isinstance(value, str) else value


scale_option: Final = click.option(
    "--scale",
    type=_Scale(),
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
    """Return the rated answers of an experiment; what was left out is printed to stderr.

    `options` are those of `human_set`.
    """
    from ragstone.evaluation.human_grades import human_set
    from ragstone.results.rated_trials import read_labels

    warn_of_attempt(results)
    rated = read_labels(results, labels)
    _note(rated, f"of queries that {results.name!r} does not have")
    return human_set(rated, **options)


def _note(rated: RatedSet, of_others: str) -> None:
    left_out = ((rated.other_queries, of_others), (rated.parts, "of parts of answers"))
    for count, what in left_out:
        if count:
            click.echo(f"note: {count:,} ratings are {what}; they are left out", err=True)
