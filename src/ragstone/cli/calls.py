"""`ragstone calls`: what the call log holds, and how to take from it."""

from __future__ import annotations

import dataclasses
import datetime as dt
import json
import sys
from pathlib import Path
from typing import Final

import click
import orjson

from ragstone.calls import log_queries
from ragstone.calls.log_queries import Filter
from ragstone.errors import ConfigError

_AS_JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for machines.")
_MODEL = click.option("--model", default="", help="Only calls to this model (name or identity).")
_STORE = click.argument("store", type=click.Path(path_type=Path), default=Path("store"))
_LOG_NAME: Final = "calls.sqlite"


@click.group()
def command() -> None:
    """List, show, export and prune the model calls that are kept.

    STORE is the folder of a store ("store" by default), or a call log's file.

    \b
    Examples:
      ragstone calls list                        models, replies, failures, tokens, size
      ragstone calls show store 3f9a             one call, its prompt and its reply
      ragstone calls export store > calls.jsonl  all of them as JSON lines
      ragstone calls prune store --failures      forget the calls that failed
    """


@command.command("list")
@_STORE
@_AS_JSON
def list_command(store: Path, *, as_json: bool) -> None:
    """List the models that were asked, with replies, failures, tokens and size.

    \b
    Example:
      ragstone calls list store
    """
    path = _log(store)
    models = log_queries.summary(path)
    if as_json:
        document = {
            "path": str(path),
            "bytes": log_queries.size(path),
            "models": [dataclasses.asdict(model) for model in models],
        }
        click.echo(json.dumps(document, indent=1, ensure_ascii=False))
        return
    from tabulate import tabulate

    columns = ("model", "replies", "failures", "tokens in", "tokens out", "seconds", "last call")
    rows = [
        (m.model, m.replies, m.failures, m.tokens_in, m.tokens_out, m.seconds, m.last)
        for m in models
    ]
    click.echo(tabulate(rows, headers=columns))
    click.echo(f"\n{path}: {log_queries.size(path) / 1e6:.1f} MB")


@command.command("show")
@_STORE
@click.argument("key")
@_AS_JSON
def show_command(store: Path, key: str, *, as_json: bool) -> None:
    """Show one call: its prompt, its parameters, and how it ended.

    KEY is a prediction's call_key, or the first digits of one.

    \b
    Example:
      ragstone calls show store 3f9a
    """
    call = log_queries.find(_log(store), key)
    if as_json:
        click.echo(json.dumps(call, indent=1, ensure_ascii=False))
        return
    for name, value in call.items():
        if name not in {"messages", "text", "replied"}:
            click.echo(f"{name}: {value}")
    for role, text in call["messages"]:
        click.echo(f"\n--- {role}\n{text}")
    if call["replied"]:
        click.echo(f"\n--- reply\n{call.get('text', '')}")


@command.command("export")
@_STORE
@_MODEL
@click.option("--failures", is_flag=True, help="Only calls that failed.")
def export_command(store: Path, model: str, *, failures: bool) -> None:
    """Write the calls as JSON lines, oldest first, to standard output.

    \b
    Example:
      ragstone calls export store --model smollm2-135m-instruct > calls.jsonl
    """
    for call in log_queries.export(_log(store), Filter(model=model, failures=failures)):
        sys.stdout.buffer.write(orjson.dumps(call, option=orjson.OPT_APPEND_NEWLINE))


@command.command("prune")
@_STORE
@_MODEL
@click.option("--failures", is_flag=True, help="Only calls that failed.")
@click.option("--older-than", type=int, metavar="DAYS", help="Only calls made longer ago.")
@click.option("--all", "everything", is_flag=True, help="Every call.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@_AS_JSON
def prune_command(  # noqa: PLR0917 - one parameter an option
    store: Path,
    model: str,
    failures: bool,
    older_than: int | None,
    everything: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Remove calls from the log. A reply that is removed must be paid for again.

    \b
    Example:
      ragstone calls prune store --failures
    """
    before = None if older_than is None else dt.datetime.now(dt.UTC) - dt.timedelta(days=older_than)
    chosen = Filter(model=model, failures=failures, before=before)
    if chosen == Filter() and not everything:
        raise ConfigError(
            "prune: say which calls: --failures, --model NAME, --older-than DAYS, or --all"
        )
    path = _log(store)
    found = log_queries.count(path, chosen)
    if found and not yes and not failures:
        click.confirm(f"Remove {found} calls, which cost calls to get again?", abort=True)
    removed = log_queries.prune(path, chosen) if found else 0
    if as_json:
        click.echo(json.dumps({"removed": removed, "bytes": log_queries.size(path)}))
    else:
        click.echo(f"removed {removed} calls; {log_queries.size(path) / 1e6:.1f} MB are left")


def _log(store: Path) -> Path:
    return store / _LOG_NAME if store.is_dir() else store
