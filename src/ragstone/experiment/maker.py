"""The components and systems that an experiment file names."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from ragstone.calls.identity import digest_folder
from ragstone.core.component_error import error_log
from ragstone.core.registry import beside, create
from ragstone.errors import ConfigError
from ragstone.experiment.system import System
from ragstone.results.secret import Secret

if TYPE_CHECKING:
    from ragstone.experiment.config import SystemSpec
    from ragstone.protocols import Generator, Judge

_KINDS: Final[Mapping[str, str]] = {
    "query_former": "query_formers",
    "retriever": "retrievers",
    "reranker": "rerankers",
    "processor": "processors",
    "generator": "generators",
}
"""Key of a system -> kind of its component."""


@dataclass(frozen=True)
class Maker:
    """Makes the components of an experiment."""

    folder: Path
    """The folder of the experiment file, in which your own components are looked for."""
    store: Path
    """The store, whose key is that of the digests in the identity of a component."""

    def part(self, kind: str, written: Any, where: str) -> Any:
        """Return the component of a kind that a part of the file describes; see `create`."""
        digest_folder.set(self.store.absolute())
        return create(kind, written, where=where, folder=self.folder)

    def parts(self, kind: str, written: Sequence[Any], where: str) -> list[Any]:
        """Return several components of a kind."""
        return [self.part(kind, one, where) for one in written]

    def judges(self, written: Sequence[Any], secret: Mapping[str, Any] | None) -> tuple[Judge, ...]:
        """Return the judges, whose nuggets are secret by the share of the file."""
        made = self.parts("judges", written, "judge")
        return tuple(hiding_nuggets(judge, secret, self.folder) for judge in made)

    def system(self, entry: SystemSpec) -> System:
        """Return a system; `ConfigError` if it can neither retrieve nor answer."""
        name = entry.name or entry.default_name
        if entry.retriever is None and entry.generator is None:
            raise ConfigError(f"system {name!r} has neither a retriever nor a generator")
        made = {
            step: self.part(kind, written, f"system {name!r}, {step}")
            for step, kind in _KINDS.items()
            if (written := getattr(entry, step)) is not None
        }
        # A system may have these keys instead of its generator.
        keys = ("release", "identity")
        declared = {k: value for k in keys if (value := getattr(entry, k)) is not None}
        if declared:
            # A component that is made again finds its files where it found them first.
            with beside(self.folder):
                made["generator"] = _declared(name, made.get("generator"), declared)
        return System(name=name, datastore=entry.datastore or "", **made)


def hiding_nuggets(judge: Any, secret: Mapping[str, Any] | None, folder: Path) -> Any:
    """Return a judge that keeps the file's share of nuggets apart; another judge as it is."""
    from ragstone.components.judges.nuggets import Nuggets

    share = Secret.parse(secret) if secret else Secret()
    seed = share.seed if share.nuggets else 0
    if not isinstance(judge, Nuggets):
        return judge
    if (judge.secret_share, judge.secret_seed) == (share.nuggets, seed):
        return judge
    # A component that is made again finds its files where it found them first.
    with beside(folder):
        return replace(judge, secret_share=share.nuggets, secret_seed=seed)


def _declared(name: str, generator: Generator | None, options: Mapping[str, Any]) -> Generator:
    if generator is None:
        raise ConfigError(f"system {name!r} has {' and '.join(options)}, but no generator")
    try:
        return generator.declared(**options)
    except ConfigError as error:
        raise error.with_message(f"system {name!r}: {error}") from error


def use_folder(root: Path) -> None:
    """Keep tracebacks of components and the key of addresses in the folder of a store."""
    error_log.set(root / "errors.log")
    digest_folder.set(root)
