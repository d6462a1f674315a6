"""Judges of a file or by name, for the commands that examine judges."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from ragstone.core.spec import Spec
    from ragstone.protocols import Judge

J = TypeVar("J", bound="Judge")


def read_judge(config: str, name: str | None, forced: Mapping[str, Any]) -> Judge:
    """Return the one judge of a file or by its name, with some fields replaced if it has them.

    Raises:
        ConfigError: the file has no judge of this name, or several and `name` is None.
    """
    from ragstone.errors import ConfigError

    found = read_judges(config, name, forced)
    if len(found) > 1:
        names = ", ".join(map(str, found))
        raise ConfigError(f"{config} has {len(found)} judges: name one with --judge: {names}")
    return found[0]


def read_judges(config: str, name: str | None, forced: Mapping[str, Any]) -> list[Judge]:
    """Return the judges of a file, or the judge with a name, with some fields replaced.

    A list of prompts is a judge per prompt, as in an experiment.

    Args:
        config: YAML file with a judge, with a list of them or with the key `judges`; or the spec
            of a judge.
        name: name of the judges that are wanted: a metric, such as "idk(prompt=idk.de)", or all
            judges of a component, such as "idk", if no metric has this name. None for all.
        forced: field -> value, for the judges that have the field.

    Raises:
        ConfigError: the file has no judge, or none of this name.
    """
    from ragstone.errors import ConfigError, did_you_mean

    specs, folder = _specs(config)
    if not specs:
        raise ConfigError(f"{config} has no judges: write them under `judges`")
    same = [spec for spec in specs if name in (None, spec.name)]
    made = [_created(spec, forced, config, folder) for spec in same or specs]
    found = [judge for judge in made if str(judge) == name] or (made if same else [])
    if not found:
        hint = did_you_mean(name or "", [str(judge) for judge in made])
        raise ConfigError(f"{config} has no judge {name!r}{hint}")
    return found


def judge_names(config: str) -> set[str]:
    """Return the names by which `read_judges` finds the judges of a file."""
    specs, folder = _specs(config)
    made = [_created(spec, {}, config, folder) for spec in specs]
    return {*map(str, made), *(spec.name for spec in specs)}


def _specs(config: str) -> tuple[list[Spec], Path | None]:
    """Return the judges as they are written, and the folder of their file."""
    from ragstone.core.parsing import read_yaml
    from ragstone.core.spec import parse_spec
    from ragstone.experiment.sweeps import judge_variants

    path = Path(config)
    is_file = path.suffix in {".yaml", ".yml"} or path.is_file()
    document = read_yaml(path, "judge") if is_file else config
    written = document.get("judges", document) if isinstance(document, dict) else document
    specs = [parse_spec(one, where=config) for one in judge_variants(written)]
    return specs, path.parent if is_file else None


def judge_of_kind(spec: str, kind: type[J], does: str, example: str) -> J:
    """Return the judge of `--judge`; raise `ConfigError` with an example if it is another kind."""
    from ragstone.core.registry import create
    from ragstone.errors import ConfigError

    judge = create("judges", spec, where="--judge", folder=Path())
    if not isinstance(judge, kind):
        raise ConfigError(
            f"the command needs a judge that {does}, which {spec!r} is not; use one such as "
            f"--judge '{example}'",
            value=spec,
        )
    return judge


def _created(spec: Any, forced: Mapping[str, Any], where: str, folder: Path | None) -> Judge:
    from ragstone.core.registry import create, find

    legal = {field.name for field in fields(find("judges", spec.name, where=where, folder=folder))}
    more = {key: value for key, value in forced.items() if key in legal}
    changed = {"name": spec.name, **spec.parameters, **more}
    judge: Judge = create("judges", changed, where=where, folder=folder)
    return judge
