"""Loading the experiments of a file."""

from __future__ import annotations

import shlex
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from ragstone.experiment.campaign import Campaign
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.members import (
    MemberFile,
    only_member,
    parse_members,
    read_members,
    split_member,
)


def load_experiment(
    source: str | Path | Mapping[str, Any], overrides: Sequence[str] = ()
) -> Experiment:
    """Return the experiment of a YAML file or of a mapping with the same keys.

    Args:
        source: the path of the file, or the mapping; components may be instances in a mapping. For
            a file with several data sets, `FILE.yaml#NAME`.
        overrides: `key=value` as on the command line, such as `sample.limit=20`.

    >>> load_experiment({"data": "sample", "systems": [{"retriever": "bm25"}], "metrics": ["R@5"]})
    Experiment('experiment', 1 systems x 0 settings)
    """
    found, folder = _members(source, overrides)
    what = "the experiment" if isinstance(source, Mapping) else source
    return _experiment(only_member(found, what), source, folder, overrides)


def load_campaign(
    source: str | Path | Mapping[str, Any], overrides: Sequence[str] = ()
) -> Campaign:
    """Return the experiments of a YAML file or of a mapping: one per data set.

    Args:
        source: as in `load_experiment`; a file with one data set is a campaign of one experiment.
        overrides: as in `load_experiment`.

    >>> systems = [{"retriever": "bm25"}]
    >>> data = {"a": "sample", "b": {"path": "sample", "sample": {"limit": 8}}}
    >>> load_campaign({"data": data, "systems": systems, "metrics": ["R@5"]})
    Campaign('experiment', a, b)
    """
    found, folder = _members(source, overrides)
    return Campaign(tuple(_experiment(one, source, folder, overrides) for one in found))


def _members(
    source: str | Path | Mapping[str, Any], overrides: Sequence[str]
) -> tuple[list[MemberFile], Path]:
    if isinstance(source, Mapping):
        return parse_members(source, "experiment", overrides=overrides), Path()
    return read_members(Path(source), overrides)


def _experiment(
    one: MemberFile,
    source: str | Path | Mapping[str, Any],
    folder: Path,
    overrides: Sequence[str],
) -> Experiment:
    written: list[str] = []
    if not isinstance(source, Mapping):
        path, _ = split_member(Path(source))
        # Results do not depend on the executor, so a record does not name it.
        given = [text for text in overrides if not text.startswith("executor=")]
        written = ["ragstone", "run", f"{path}#{one.key}" if one.key else str(path), *given]
    return Experiment(one.file, folder=folder, command=shlex.join(written), member=one.member)
