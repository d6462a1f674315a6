"""`ragstone store`: list, check and prune a store."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ragstone.cli.options import FILE, json_option, print_result
from ragstone.cli.screen import say
from ragstone.core import limits
from ragstone.core.resources import size
from ragstone.core.tables import TextTable

if TYPE_CHECKING:
    from ragstone.core.store_check import Damage, StoreCheck
    from ragstone.core.store_contents import Leftover, StoreContents

_STORE = click.argument("store", metavar="[STORE]", type=FILE, default=Path(".ragstone"))


class _ListByDefault(click.Group):
    """A group whose first argument may be the argument of its command `list`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Parse the arguments, those of `list` if no command is named."""
        named = bool(args) and args[0] in (*self.commands, *ctx.help_option_names)
        return super().parse_args(ctx, args if named else ["list", *args])


@click.group(cls=_ListByDefault)
def command() -> None:
    """List, check and prune a store.

    STORE is the folder of a store (default: .ragstone). Without a command, its contents are listed.

    \b
    Examples:
      ragstone store                           size, experiments, folders that nothing needs
      ragstone store check                     verify every file
      ragstone store check --repair            set damaged files aside
      ragstone store prune                     remove files that nothing needs
    """


@command.command("list")
@_STORE
@json_option
def list_command(store: Path) -> None:
    """List experiments, folders that no experiment refers to, and set-aside files.

    \b
    Example:
      ragstone store list .ragstone
    """
    from ragstone.core.store import Store
    from ragstone.core.store_contents import StoreContents

    contents = StoreContents.of(Store(store))
    print_result(lambda: contents, lambda: _contents_text(contents))


@command.command("check")
@_STORE
@click.option("--repair", is_flag=True, help="Set damaged files aside; nothing is deleted.")
@json_option
def check_command(store: Path, *, repair: bool) -> None:
    """Verify every file of a store.

    The exit code is 1 if something is damaged and was not repaired. A repaired step is computed
    again by the next run of its experiment, from kept replies; --reuse keeps those of own systems.

    \b
    Example:
      ragstone store check --repair
    """
    from ragstone.cli.progress_bars import open_bar
    from ragstone.core.progress import shown_by

    with shown_by(open_bar):
        found = _checked(store, repair=repair)
    print_result(lambda: found, lambda: _check_text(found, store))
    click.get_current_context().exit(0 if found.is_sound else 1)


@command.command("prune")
@_STORE
@click.option(
    "--older-than",
    type=click.FloatRange(min=0),
    default=limits.KEPT_ORPHAN_DAYS,
    metavar="DAYS",
    help="Minimum age of a folder that no experiment refers to, in days.",
)
@click.option(
    "--forget",
    type=click.FloatRange(min=0),
    metavar="DAYS",
    help="Remove the records of earlier runs that are older than this, and steps only they need.",
)
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
def prune_command(store: Path, *, older_than: float, forget: float | None, yes: bool) -> None:
    """List files that nothing needs, and remove them after confirmation.

    These are step and array folders that no experiment refers to, temporary folders of killed
    processes, and damaged files that were set aside. Kept model replies stay, and so do earlier
    runs of experiments without --forget.

    \b
    Examples:
      ragstone store prune --older-than 30
      ragstone store prune --forget 365
    """
    from ragstone.core.store import Store
    from ragstone.core.store_contents import StoreContents, earlier_records, prune

    forgotten = [] if forget is None else earlier_records(store, forget)
    contents = StoreContents.of(Store(store), forgotten=forgotten)
    chosen = [*contents.prunable(older_than), *forgotten]
    freed = sum(one.bytes for one in chosen)
    if chosen and not yes:
        say(str(_table(chosen)), err=True)
        click.confirm(f"Remove these {len(chosen)} ({size(freed)})?", abort=True, err=True)
    prune(store, chosen)
    print_result(
        lambda: {"removed": chosen, "bytes": freed},
        lambda: f"removed {len(chosen)} files and folders: {size(freed)}",
    )


def _checked(store: Path, *, repair: bool) -> StoreCheck:
    """Return the damage of a store and of its call log."""
    from ragstone.calls.identity import KEY_FILE
    from ragstone.calls.log_check import check_log, missing_key
    from ragstone.core.store import Store
    from ragstone.core.store_check import Damage, StoreCheck, check_store
    from ragstone.indexes.vector_files import find_damage

    log = Store(store).call_log
    found = check_store(Store(store), repair=repair, arrays={"vectors": find_damage})
    if not log.exists():
        return found
    checked = check_log(log, repair=repair)
    damaged = tuple(Damage(log.name, what, checked.repaired) for what in checked.findings)
    if problem := missing_key(log):
        damaged += (Damage(KEY_FILE, problem, repaired=False),)
    return StoreCheck(found.checked + 1, found.damaged + damaged)


def _contents_text(contents: StoreContents) -> str:
    headers = ("experiment", "started", "finished", "steps", "earlier")
    rows = [
        (
            *(one.name, one.started, one.problem or one.finished or "not finished"),
            *(one.steps, one.earlier),
        )
        for one in contents.experiments
    ]
    title = f"{contents.path}: {size(contents.bytes)}, call log {size(contents.calls_bytes)}\n"
    kinds = {
        "that no experiment refers to": contents.orphans,
        "left by killed processes": contents.abandoned,
        "damaged and set aside": contents.set_aside,
    }
    below = [_total(text, found) for text, found in kinds.items() if found]
    removed = contents.prunable(limits.KEPT_ORPHAN_DAYS)
    young = sum(map(len, kinds.values())) - len(removed)
    prune = f"ragstone store prune {contents.path}"
    if removed:
        these = f"{len(removed)} of them" if young else "them"
        below.append(f"to remove {these}: {prune}")
    if young:
        below.append(
            f"{young} changed in the last {limits.KEPT_ORPHAN_DAYS * 24:.0f} hours and may belong "
            f"to a run that goes on; to remove them too: {prune} --older-than 0"
        )
    below[:1] = [f"\n{line}" for line in below[:1]]
    return str(TextTable(headers, rows, title=title, below=below))


def _total(text: str, found: Sequence[Leftover]) -> str:
    return f"{len(found)} {text}: {size(sum(one.bytes for one in found))}"


def _table(found: Iterable[Leftover]) -> TextTable:
    rows = [(one.path, size(one.bytes), f"{one.days:.1f}") for one in found]
    return TextTable(("path", "size", "days old"), rows)


def _check_text(found: StoreCheck, store: Path) -> str:
    lines = [_damage_text(one) for one in found.damaged]
    earlier = sum(one.earlier_version for one in found.damaged)
    counts = [f"{found.checked:,} files checked", f"{len(found.damaged) - earlier} damaged"]
    counts += [f"{earlier} of an earlier version, without a checksum"] if earlier else []
    lines.append(", ".join(counts))
    if not found.is_sound:
        lines.append(f"to set them aside: ragstone store check --repair {store}")
    elif found.damaged:
        lines.append("to make them again from kept replies, run the experiments with --reuse")
    return "\n".join(lines)


def _damage_text(damage: Damage) -> str:
    return f"{damage.path}: {damage.what}{' (repaired)' if damage.repaired else ''}"
