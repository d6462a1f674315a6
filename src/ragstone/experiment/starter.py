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

from ragstone.components.generators.recorded import systems_in
from ragstone.core.atomic_files import write_document
from ragstone.core.parsing import parse_yaml
from ragstone.core.registry import known
from ragstone.data.readers.answer_rows import read_answer_rows
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
{sample}systems:  # further systems: one line each
{systems}
settings: [system]  # the context of an answer is the one that your system reports
metrics: [{metrics}]  # ragstone components metrics lists all
"""


@dataclass(frozen=True)
class Starter:
    """An experiment of one own system, before its file is written."""

    system: str
    """`my_rag.py:answer`, an address, a file of recorded answers, or a generator."""
    data: str | None
    """Any data set; None for recorded answers whose rows have the questions."""
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
        systems = "\n".join(
            f"  {_quoted(name)}: {{generator: {generator}}}"
            for name, generator in _generators(self.system).items()
        )
        sample = "" if self.limit is None else f"sample: {{limit: {self.limit}, seed: 0}}\n"
        return _FILE.format(
            made_by=self.made_by or "An own system on its questions.",
            path=shlex.quote(str(self.path)),
            name=json.dumps(_plain(self.path.stem)),
            data=self._data,
            sample=sample,
            systems=systems,
            metrics=", ".join(json.dumps(metric) for metric in self.metrics),
        )

    @property
    def _data(self) -> str:
        """The data set in YAML; answers without gold answers are none themselves."""
        if self.data is not None:
            return _quoted(self.data)
        if not Path(self.system).is_file():
            raise ConfigError(
                f"{self.system} needs a data set, such as a file of questions: name one after it; "
                "only a file of recorded answers may have the questions in its rows"
            )
        columns = read_answer_rows(Path(self.system)).columns
        if "gold_answers" in columns.of or columns.format:
            return _quoted(self.system)
        return f"{{path: {_quoted(self.system)}, columns: {{gold_answers: null}}}}"

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


def _generators(written: str) -> dict[str, str]:
    """Return name -> generator in YAML: one per system of a file of answers, else one."""
    quoted = _quoted(written)
    if _URL.match(written):
        return {"service": f"{{name: http, url: {quoted}}}"}
    if Path(written).is_file():
        recorded, systems = f"name: recorded, path: {quoted}", systems_in(Path(written))
        if len(systems) > 1:
            return {name: f"{{{recorded}, system: {_quoted(name)}}}" for name in systems}
        return {Path(written).name.partition(".")[0]: f"{{{recorded}}}"}
    if re.match(r"[\w-]+", written) and re.split(r"[(\s]", written)[0] in known("generators"):
        return {written.partition("(")[0]: quoted}
    module, colon, _ = written.rpartition(":")
    if colon and module:
        name = Path(module).name.removesuffix(".py")
        return {name: f"{{name: callable, function: {quoted}}}"}
    raise ConfigError(
        f"{written!r} is not a system: there is no such file; write a function as "
        "my_rag.py:answer, the address of a service (http://...), or a file of recorded answers",
        value=written,
    )


def _quoted(text: str) -> str:
    return json.dumps(text, ensure_ascii=False)


def _plain(stem: str) -> str:
    """Return a name that an experiment may have."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", stem).lstrip("._-") or "experiment"
