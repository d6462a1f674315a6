"""`ragstone calls`: list, show, export and prune the calls of a call log."""

from __future__ import annotations

import datetime as dt
from pathlib import Path
from typing import Any

import click
import orjson

from ragstone.calls import log_queries
from ragstone.calls.log_queries import Filter
from ragstone.cli.options import FILE, json_option, print_result, together
from ragstone.cli.screen import say_json, tell
from ragstone.core.tables import TextTable
from ragstone.errors import ConfigError


def _log_file(_context: click.Context, _argument: click.Parameter, store: Path) -> Path:
    return store / "calls.sqlite" if store.is_dir() else store


_STORE = click.argument(
    "log", metavar="[STORE]", type=FILE, default=Path(".ragstone"), callback=_log_file
)
_FILTER = together(
    click.option("--model", help="Only calls to this model (name or identity)."),
    click.option("--failures", is_flag=True, help="Only calls that failed."),
)


@click.group()
def command() -> None:
    """List, show, export and prune kept model calls.

    STORE is the folder of a store (default: .ragstone), or the file of a call log.

    \b
    Examples:
      ragstone calls list                      models, replies, failures, tokens, size
      ragstone calls show .ragstone 3f9a       one call with its prompt and its reply
      ragstone calls export > calls.jsonl      all calls as JSON lines
      ragstone calls prune --failures          remove the calls that failed
    """


@command.command("list")
@_STORE
@json_option
def list_command(log: Path) -> None:
    """List models with replies, failures and tokens.

    \b
    Example:
      ragstone calls list
    """
    models, size = log_queries.summary(log), log_queries.size(log)
    columns = ("model", "replies", "failures", "tokens in", "tokens out", "seconds", "last call")
    rows = [
        (m.model, m.replies, m.failures, m.tokens_in, m.tokens_out, m.seconds, m.last)
        for m in models
    ]
    print_result(
        lambda: {"path": log, "bytes": size, "models": models},
        lambda: TextTable(columns, rows, below=[f"\n{log}: {size / 1e6:.1f} MB"]),
    )


@command.command("show")
@click.argument("log", metavar="STORE", type=FILE, callback=_log_file)
@click.argument("key")
@json_option
def show_command(log: Path, key: str) -> None:
    """Show a call with its prompt and its reply.

    KEY is a prediction's call_key, or the beginning of it.

    \b
    Example:
      ragstone calls show .ragstone 3f9a
    """
    from ragstone.results.secret_calls import is_secret_call, texts_of_log

    call = log_queries.find(log, key)
    if is_secret_call(call, texts_of_log(log)):
        raise ConfigError(
            f"call {key!r} contains a secret query or nugget; take `secret` out of the experiment "
            "file and run it again to see the call, which the store records as a reveal"
        )
    print_result(lambda: call, lambda: _call_text(call))


def _call_text(call: dict[str, Any]) -> str:
    hidden = {"messages", "text", "replied"}
    lines = [f"{name}: {value}" for name, value in call.items() if name not in hidden]
    lines += [f"\n--- {role}\n{text}" for role, text in call["messages"]]
    return "\n".join([*lines, *([f"\n--- reply\n{call.get('text', '')}"] * call["replied"])])


@command.command("export")
@_STORE
@_FILTER
def export_command(log: Path, model: str | None, *, failures: bool) -> None:
    """Write calls to standard output as JSON lines, oldest first.

    \b
    Example:
      ragstone calls export --model smollm2-135m-instruct > calls.jsonl
    """
    from ragstone.results.secret_calls import is_secret_call, texts_of_log

    texts, left_out = texts_of_log(log), 0
    for call in log_queries.export(log, Filter(model=model or "", failures=failures)):
        if texts and is_secret_call(call, texts):
            left_out += 1
            continue
        say_json(orjson.dumps(call))
    if left_out:
        tell(f"note: {left_out:,} calls about secret queries or nuggets are left out")


@command.command("prune")
@_STORE
@_FILTER
@click.option("--older-than", type=int, metavar="DAYS", help="Only calls older than DAYS days.")
@click.option("--all", "everything", is_flag=True, help="Every call.")
@click.option("--yes", is_flag=True, help="Do not ask for confirmation.")
@json_option
def prune_command(
    *,
    log: Path,
    model: str | None,
    failures: bool,
    older_than: int | None,
    everything: bool,
    yes: bool,
) -> None:
    """Remove calls from the log. A removed reply can only be restored by repeating its call.

    \b
    Example:
      ragstone calls prune --failures
    """
    before = None if older_than is None else dt.datetime.now(dt.UTC) - dt.timedelta(days=older_than)
    chosen = Filter(model=model or "", failures=failures, before=before)
    if chosen == Filter() and not everything:
        raise ConfigError(
            "prune: choose the calls: --failures, --model NAME, --older-than DAYS, or --all"
        )
    found = log_queries.count(log, chosen)
    if found and not yes and not failures:
        click.confirm(f"Remove {found} calls? Their replies must be paid for again", abort=True)
    removed = log_queries.prune(log, chosen) if found else 0
    size = log_queries.size(log)
    print_result(
        lambda: {"removed": removed, "bytes": size},
        lambda: f"removed {removed} calls; {size / 1e6:.1f} MB are left",
    )
