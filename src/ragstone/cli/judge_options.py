"""Options of commands that grade answers with judges: their model, and the store of its replies."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ragstone.cli.model_calls import open_services, store_option
from ragstone.cli.options import together

if TYPE_CHECKING:
    from ragstone.protocols import Judge, Services


@dataclass(frozen=True)
class JudgeModel:
    """The model that judges call, as a command got it."""

    model: str | None
    """URL#MODEL, or the spec of a generator."""
    api_key_env: str
    store: Path

    def judges_apart(self, written: Sequence[str]) -> tuple[list[str], list[Judge]]:
        """Return the metrics among some names, and the judges with their model.

        Raises:
            UnknownMetric: a name is neither that of a metric nor that of a judge.
            UsageError: a judge without a model.
        """
        from ragstone.components.metrics.parse import parse_metric
        from ragstone.core.builtins import SYNONYMS
        from ragstone.core.registry import create, known
        from ragstone.core.spec import parse_spec
        from ragstone.errors import UnknownMetric, did_you_mean

        named = [*known("judges"), *SYNONYMS["judges"]]
        metrics: list[str] = []
        judges: list[Judge] = []
        for name in written:
            try:
                parse_metric(name)
            except UnknownMetric as error:
                spec = parse_spec(name, where="metric", several=True)
                if spec.name not in named:
                    shown = [metric.replace("@k", "@10") for metric in known("metrics")]
                    hint = did_you_mean(spec.name, [*shown, *named])
                    raise error.with_message(f"unknown metric {name!r}{hint}") from error
                judge = {"name": spec.name, "model": self._generator(name), **spec.parameters}
                made = create("judges", judge, where="--metrics")
                # Two names may be metrics of one judge.
                judges += [] if made in judges else [made]
            else:
                metrics.append(name)
        return metrics, judges

    def _generator(self, judge: str) -> str | dict[str, str]:
        if self.model is None:
            raise click.UsageError(
                f"{judge} is a judge; name its model with --judge URL#MODEL, or with a generator "
                "spec such as --judge local"
            )
        if not self.model.lower().startswith(("http://", "https://")):
            return self.model
        url, _, model = self.model.partition("#")
        if not model:
            raise click.UsageError(f"--judge {url} names no model; write {url}#MODEL")
        return {"name": "chat", "base_url": url, "model": model, "api_key_env": self.api_key_env}

    @contextmanager
    def services(self, judges: Sequence[Judge]) -> Iterator[Services | None]:
        """Yield the way to the models of judges, with progress; None without judges."""
        if not judges:
            yield None
            return
        with open_services(self.store) as services:
            yield services


_OPTIONS = together(
    click.option(
        "--judge",
        "model",
        help="Model of the judges: URL#MODEL of an OpenAI-compatible server, or a generator spec.",
    ),
    click.option("--api-key-env", default="", help="Environment variable with the key for URL."),
    store_option,
)


def judge_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options to a command, which takes them as one `JudgeModel` called `judging`."""

    @wraps(command)
    def with_model(*, model: str | None, api_key_env: str, store: Path, **options: Any) -> Any:
        return command(judging=JudgeModel(model, api_key_env, store), **options)

    return _OPTIONS(with_model)
