"""The experiments of a file: one, or one per data set.

`FILE.yaml#NAME` is the experiment of one data set of a file that has several.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ragstone.core import limits
from ragstone.core.likely_secrets import likely_secrets
from ragstone.core.parsing import read_yaml
from ragstone.core.redaction import remember
from ragstone.core.registry import find
from ragstone.core.regular_files import open_regular
from ragstone.core.spec import parse_spec
from ragstone.errors import ConfigError, RagstoneError, did_you_mean
from ragstone.examples import find_example
from ragstone.experiment.config import ExperimentFile, filled_document, parse_filled
from ragstone.experiment.data_sets import NamedData, data_sets


@dataclass(frozen=True)
class Member:
    """The place of an experiment among those of its file."""

    campaign: str = ""
    """The name of a file with several data sets; "" for a file with one."""
    data: str = ""
    """The name of its data set; "" for the name that the reader gives."""
    factors: Mapping[str, str] = field(default_factory=dict)
    """Differences from other data sets: its language, its chunker."""
    priority: int = 0
    """Steps of a higher priority run first."""
    counterfactual: Mapping[str, Any] = field(default_factory=dict)
    """The change of a counterfactual of the experiment; {} for the experiment itself."""


@dataclass(frozen=True)
class MemberFile:
    """The checked form of one experiment of a file."""

    file: ExperimentFile
    member: Member
    key: str = ""
    """The name that follows `#`."""


def split_member(path: Path) -> tuple[Path, str]:
    """Return a file and the data set that follows `#`, or "".

    >>> split_member(Path("study.yaml#nq"))
    (PosixPath('study.yaml'), 'nq')
    """
    if path.exists() or "#" not in path.name:
        return path, ""
    name, _, key = path.name.partition("#")
    return path.with_name(name), key


def _read(file: Path) -> Any:
    try:
        return read_yaml(file, "experiment file")
    except ConfigError:
        # The message may show the line with a secret.
        with suppress(OSError), open_regular(file) as opened:
            text = opened.read(limits.MAX_YAML_BYTES).decode("utf-8", "replace")
            remember(one.value for one in likely_secrets(text))
        raise


def read_members(path: Path, overrides: Sequence[str] = ()) -> tuple[list[MemberFile], Path]:
    """Return the experiments of a YAML file after `key=value` overrides, and its folder.

    The name of a shipped example, such as `demo`, selects its file.

    Raises:
        ConfigError: the message has the file, the key, the value and the nearest legal one.
    """
    written, key = split_member(path)
    file = find_example(written)
    document = _read(file)
    if not isinstance(document, dict):
        raise ConfigError(
            f"{file}: expected keys such as data, systems and metrics, found {document!r}",
            path=file,
        )
    found = parse_members(document, str(file), default_name=file.stem, overrides=overrides)
    return chosen_members(found, key, file), file.parent


def parse_members(
    document: Mapping[str, Any],
    where: str,
    *,
    default_name: str = "experiment",
    overrides: Sequence[str] = (),
) -> list[MemberFile]:
    """Return the experiments of a file that is given as plain data, one per data set."""
    filled = filled_document(document, where, default_name, overrides)
    if "data" not in filled:
        return [MemberFile(parse_filled(filled, where), Member())]
    found, are_many = data_sets(filled["data"], where)
    campaign = str(filled["name"]) if are_many else ""
    replaced = {key.strip() for key, _, _ in (one.partition("=") for one in overrides)}
    return [_member(filled, one, campaign, where, replaced) for one in found]


def _member(
    filled: Mapping[str, Any], one: NamedData, campaign: str, where: str, replaced: Collection[str]
) -> MemberFile:
    changes: dict[str, Any] = {"data": one.reader}
    if campaign:
        changes["name"] = f"{campaign}.{one.key}"
    if "sample" in one.own:
        # The command's options apply to all data sets.
        own = {k: v for k, v in one.own["sample"].items() if f"sample.{k}" not in replaced}
        changes["sample"] = {**(filled.get("sample") or {}), **own}
    if "prompt" in one.own:
        changes["systems"] = list(_prompted(filled.get("systems"), one.own["prompt"]))
    priority = one.own.get("priority", 0)
    if not isinstance(priority, int):
        raise ConfigError(f"{where}: 'priority' must be a whole number, found {priority!r}")
    data = one.name if campaign else ""
    member = Member(campaign, data, one.factors, priority)
    return MemberFile(
        parse_filled({**filled, **changes}, where), member, one.key if campaign else ""
    )


def _prompted(systems: Any, prompt: Any) -> Iterator[dict[str, Any]]:
    """Yield the systems with the prompt of a data set, if their generators have prompts."""
    named = systems.items() if isinstance(systems, Mapping) else enumerate(systems or ())
    for name, entry in named:
        made = dict(entry) if isinstance(systems, list) else {"name": str(name), **entry}
        written = made.get("generator")
        if isinstance(written, list):
            made["generator"] = [_with_prompt(one, prompt) for one in written]
        elif written is not None:
            made["generator"] = _with_prompt(written, prompt)
        yield made


def _with_prompt(written: Any, prompt: Any) -> Any:
    """Return a generator with a prompt, if it is one of Ragstone's that has prompts."""
    if not isinstance(written, str | Mapping):
        return written
    spec = parse_spec(written, where="generator")
    try:
        kind = find("generators", spec.name, where="generator", folder=None)
    except RagstoneError:
        # The name is checked, with its place in the file, when the component is made.
        return written
    if "prompt" not in {field.name for field in dataclasses.fields(kind)}:
        return written
    return {"name": spec.name, **spec.parameters, "prompt": prompt}


def chosen_members(found: Sequence[MemberFile], key: str, file: str | Path) -> list[MemberFile]:
    """Return the experiment of a data set, or all if `key` is empty; `ConfigError` if unknown."""
    known = [one.key for one in found if one.member.campaign]
    if not key:
        return list(found)
    chosen = [one for one in found if one.member.campaign and one.key == key]
    if not chosen:
        raise ConfigError(f"{file} has no data set {key!r}{did_you_mean(key, known)}", value=key)
    return chosen


def only_member(found: Sequence[MemberFile], file: str | Path) -> MemberFile:
    """Return the only experiment of a file; `ConfigError` if it has several."""
    if len(found) > 1:
        names = [f"{file}#{one.key}" for one in found]
        raise ConfigError(
            f"{file} has {len(found)} data sets; choose one: {', '.join(names)}", key="data"
        )
    return found[0]


def read_experiment_file(path: Path, overrides: Sequence[str] = ()) -> ExperimentFile:
    """Return the checked form of a file with one data set, or of `FILE.yaml#NAME`."""
    found, _ = read_members(path, overrides)
    return only_member(found, path).file
