"""The first experiment file of an own system, written from its name and its data."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from ragstone.core.atomic_files import write_document
from ragstone.core.parsing import parse_yaml
from ragstone.core.registry import known
from ragstone.errors import ConfigError
from ragstone.experiment.evaluate import METRICS
from ragstone.experiment.experiment import Experiment, load_experiment

_URL: Final = re.compile(r"https?://", re.IGNORECASE)
_FILE: Final = """\
# {made_by}
# Run it again: ragstone run {path}
# All keys: ragstone config schema
name: {name}
data: {data}  # a file of questions, a folder, or sample
{sample}systems:
  {system}: {{generator: {generator}}}  # further systems: one line each
settings: [system]  # the context of an answer is the one that your system reports
metrics: [{metrics}]  # ragstone components metrics lists all
"""


@dataclass(frozen=True)
class Starter:
    """An experiment of one own system, before its file is written."""

    system: str
    """`my_rag.py:answer`, an address, a file of recorded answers, or a generator."""
    data: str
    path: Path
    """The file to write."""
    metrics: Sequence[str] = METRICS
    limit: int | None = None
    """Number of queries in a random sample; all if None."""
    made_by: str = ""
    """The command that writes the file, for its first line."""

    @property
    def text(self) -> str:
        """The content of the file."""
        name, generator = _generator(self.system)
        sample = "" if self.limit is None else f"sample: {{limit: {self.limit}, seed: 0}}\n"
        return _FILE.format(
            made_by=self.made_by or "An own system on its questions.",
            path=shlex.quote(str(self.path)),
            name=json.dumps(_plain(self.path.stem)),
            data=json.dumps(self.data, ensure_ascii=False),
            sample=sample,
            system=json.dumps(name, ensure_ascii=False),
            generator=generator,
            metrics=", ".join(json.dumps(metric) for metric in self.metrics),
        )

    def checked(self) -> Experiment:
        """Return the experiment after all its checks; the data are read, nothing is asked."""
        document = parse_yaml(self.text.encode())
        made = load_experiment(document)
        command = shlex.join(["ragstone", "run", str(self.path)])
        found = dataclasses.replace(made, command=command)
        found.check()
        return found

    def require_free_path(self) -> None:
        """Raise `ConfigError` if another file would be overwritten; one of this text is kept."""
        if self.path.exists() and self.path.read_text("utf-8", "replace") != self.text:
            raise ConfigError(
                f"{self.path} exists; name another file with -o, or overwrite it with --force"
            )

    def write(self) -> Path:
        """Write the file and return its path."""
        return write_document(self.path, self.text.encode(), "experiment file")


def _generator(written: str) -> tuple[str, str]:
    """Return a name for a system and its generator in YAML."""
    quoted = json.dumps(written, ensure_ascii=False)
    if _URL.match(written):
        return "service", f"{{name: http, url: {quoted}}}"
    if Path(written).is_file():
        return Path(written).name.partition(".")[0], f"{{name: recorded, path: {quoted}}}"
    if re.match(r"[\w-]+", written) and re.split(r"[(\s]", written)[0] in known("generators"):
        return written.partition("(")[0], quoted
    module, colon, _ = written.rpartition(":")
    if colon and module:
        return Path(module).name.removesuffix(".py"), f"{{name: callable, function: {quoted}}}"
    raise ConfigError(
        f"{written!r} is not a system: there is no such file; write a function as "
        "my_rag.py:answer, the address of a service (http://...), or a file of recorded answers "
        "(JSON lines)",
        value=written,
    )


def _plain(stem: str) -> str:
    """Return a name that an experiment may have."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", stem).lstrip("._-") or "experiment"
