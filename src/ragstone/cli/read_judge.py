"""The judge that a command names: by its name, in a file of its own or in an experiment file."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ragstone.protocols import Judge


def read_judge(config: str, name: str | None, forced: dict[str, Any]) -> Judge:
    """Return the judge of a file or by its name, with some fields replaced if it has them."""
    from ragstone.core.parsing import read_yaml
    from ragstone.core.registry import create, find
    from ragstone.core.spec import parse_spec
    from ragstone.errors import ConfigError, did_you_mean

    path = Path(config)
    is_file = path.suffix in {".yaml", ".yml"} or path.is_file()
    document = read_yaml(path, "judge") if is_file else config
    written = document.get("judges", document) if isinstance(document, dict) else document
    listed = written if isinstance(written, list) else [written]
    specs = [parse_spec(one, where=config) for one in listed]
    chosen = [spec for spec in specs if not name or name == spec.name]
    if len(chosen) != 1:
        names = [spec.name for spec in specs]
        raise ConfigError(
            f"{config} has no judge {name!r}{did_you_mean(name, names)}"
            if name
            else f"{config} has {len(names)} judges: name one with --judge"
        )
    (spec,) = chosen
    folder = path.parent if is_file else None
    legal = {field.name for field in fields(find("judges", spec.name, where=config, folder=folder))}
    more = {key: value for key, value in forced.items() if key in legal}
    changed = {"name": spec.name, **spec.parameters, **more}
    judge: Judge = create("judges", changed, where=config, folder=folder)
    return judge
