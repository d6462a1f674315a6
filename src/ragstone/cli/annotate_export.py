"""`ragstone annotate export`, `import` and `add`: labels and items out of a project and into it."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click

from ragstone.cli.annotate_make import add_to, source_options
from ragstone.cli.annotate_project import opened, project_options
from ragstone.cli.options import FILE, json_option, print_result
from ragstone.errors import ConfigError, did_you_mean

if TYPE_CHECKING:
    from ragstone.annotation.project import Project
    from ragstone.annotation.rating_export import Further
    from ragstone.data.dataset import Dataset

FORMS: Final = ("ratings", "inspector", "qrels", "dataset", "mtrag", "nuggets")
_FURTHER: Final[tuple[Further, ...]] = ("known", "repeats", "suggestions")


@click.command("export")
@project_options
@click.option("-o", "--output", type=FILE, required=True, help="File or folder to write.")
@click.option("--as", "form", type=click.Choice(FORMS), default="ratings", help="Form of the file.")
@click.option("--all", "every", is_flag=True, help="Conversations that are not accepted, too.")
@click.option("--no-names", is_flag=True, help="Number people, and leave times out.")
@click.option(
    "--include",
    default="",
    metavar="WHAT,...",
    help="Further labels: known (of qualification items), repeats, suggestions (of the model).",
)
@json_option
def export_command(
    *,
    folder: Path,
    database: str,
    output: Path,
    form: str,
    no_names: bool,
    include: str,
    every: bool,
) -> None:
    """Write the labels of a project: equal labels give equal bytes, and an equal digest.

    \b
    Forms:
      ratings    JSON lines for `data ratings`, `data agreement`, `judge check`, `judge calibrate`
      inspector  one JSON file of InspectorRAGet, with the ratings of answers
      qrels      grades of passages; the label that counts of each
      dataset    the data set with people's labels, or the generated queries that they keep
      mtrag      conversations in mtRAG's form
      nuggets    nuggets of queries, vital or okay, in TREC RAG's form

    No file is overwritten.

    \b
    Examples:
      ragstone annotate export my-labels -o labels.jsonl
      ragstone annotate export my-labels -o qrels.tsv --as qrels
      ragstone annotate export my-labels -o shared.jsonl --no-names --include suggestions
    """
    from ragstone.annotation.export_forms import Export, digest_of, write_export
    from ragstone.annotation.rating_export import ExportChoice

    choice = ExportChoice(names=not no_names, include=_further(include))
    with opened(folder, database, items=True) as (project, held):
        dataset = _source_of(project) if form == "dataset" else None
        files = write_export(Export(project, held, output, choice, dataset, every), form)
    digest = digest_of(files)
    document = {"project": folder, "form": form, "files": files, "digest": digest}
    listed = "\n".join(f"{path.stat().st_size:>13,} bytes  {path}" for path in files)
    print_result(lambda: document, lambda: f"{listed}\n{digest}")


def _further(written: str) -> frozenset[Further]:
    names = [one.strip() for one in written.split(",") if one.strip()]
    for name in names:
        if name not in _FURTHER:
            raise ConfigError(
                f"--include has no {name!r}{did_you_mean(name, _FURTHER)}",
                key="include",
                value=name,
            )
    return frozenset(one for one in _FURTHER if one in names)


def _source_of(project: Project) -> Dataset | None:
    """Return the data set that a project was made of, or None if it was made of something else.

    Its name or path is that of `project.yaml`, in the current folder.
    """
    from ragstone.data.load import load_dataset

    written = project.settings.source.get("data")
    # A project of `ragstone view` has the name of its data set beside the experiment.
    if not isinstance(written, str) or "experiment" in project.settings.source:
        return None
    return load_dataset(written)


@click.command("import")
@project_options
@click.argument("labels", type=FILE, metavar="LABELS.jsonl")
@json_option
def import_command(*, folder: Path, database: str, labels: Path) -> None:
    """Import ratings as labels of a project, by the names of their raters.

    LABELS.jsonl has the ratings form. A second import of the same file changes nothing.

    \b
    Example:
      ragstone annotate import my-labels labels.jsonl
    """
    from ragstone.annotation.import_labels import import_ratings
    from ragstone.data.readers.ratings import read_ratings

    with opened(folder, database, items=True) as (project, held):
        counts = import_ratings(project, held, read_ratings(labels))
    said = f"{counts.kept:,} labels imported, {counts.known:,} were there, {counts.others:,} others"
    print_result(lambda: counts, lambda: said)


@click.command("add")
@click.argument("folder", type=FILE, metavar="PROJECT")
@source_options
@json_option
def add_command(*, folder: Path, **given: Any) -> None:
    """Add items of a source to a project: those with new ids; items that it has stay as they are.

    \b
    Example:
      ragstone annotate add my-labels --data my-set --run another.trec
    """
    added, total = add_to(folder, given)
    document = {"project": folder, "added": added, "items": total}
    print_result(lambda: document, lambda: f"{added:,} items added to {folder}")


@click.command("scheme")
@click.argument("name", default="")
@json_option
def scheme_command(*, name: str) -> None:
    """Print a scheme as YAML, to start your own; with --json, the JSON Schema of scheme files.

    Without NAME, the names of the schemes are printed.

    \b
    Examples:
      ragstone annotate scheme fanc > mine.yaml
      ragstone annotate my-ratings --task ratings --experiment my-run --scheme mine.yaml
    """
    from ragstone.annotation.tasks import scheme_file, scheme_names, scheme_schema

    text = scheme_file(name) if name else "\n".join(scheme_names())
    print_result(scheme_schema, text.rstrip)
