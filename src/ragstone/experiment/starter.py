"""The first experiment file of an own system, written from its name and its data."""

from __future__ import annotations

import dataclasses
import json
import re
import shlex
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Final

from ragstone.components.generators.recorded import systems_in
from ragstone.components.metrics.defaults import WITH_GOLD, usual_metrics
from ragstone.components.metrics.row_checks import check_metrics_of
from ragstone.core.atomic_files import write_document
from ragstone.core.parsing import parse_yaml
from ragstone.core.registry import find, known
from ragstone.core.screen_text import one_line, plain
from ragstone.data.documents.corpus import CHUNKER
from ragstone.data.load import load_dataset
from ragstone.data.readers.answer_rows import AnswerTable, read_answer_rows
from ragstone.errors import ConfigError
from ragstone.experiment.experiment import Experiment
from ragstone.experiment.load import load_experiment

if TYPE_CHECKING:
    from ragstone.types import Query

_URL: Final = re.compile(r"https?://", re.IGNORECASE)
_FILE: Final = """\
# {made_by}
# Run it again: ragstone run {path}
# All keys: ragstone config schema
name: {name}
data: {data}
{sample}systems:  # further systems: one line each
{systems}
settings: [{settings}]  # {note}
metrics: [{metrics}]  # ragstone components metrics lists all
"""


_RETRIEVED: Final = "retrieved(5)", "the first five passages; no model answers"
_READ: Final = "none, retrieved(5)", "without documents, and with the first five passages"
_KINDS: Final = (
    "write a function as my_rag.py:answer, the address of a service (http://...), or a file of "
    "recorded answers; with documents also a retriever such as bm25"
)
_FOUND: Final = ("answer-in-context",)


@dataclass(frozen=True)
class Starter:
    """An experiment of one own system, before its file is written."""

    system: str
    """`my_rag.py:answer`, an address, a file of recorded answers, or a generator."""
    data: str | None
    """Any data set; None for recorded answers whose rows have the questions."""
    path: Path
    """The file to write."""
    metrics: Sequence[str] = ()
    """Metrics; those of the kind of system if empty."""
    limit: int | None = None
    """Number of queries in a random sample; all if None."""
    made_by: str = ""
    """The command that writes the file, for its first line."""
    documents: str = ""
    """A folder, file or pattern of documents that answer the questions; "" without them."""

    @property
    def text(self) -> str:
        """The content of the file."""
        system = _system(self.system, documents=bool(self.documents))
        systems = "\n".join(
            f"  {_quoted(name)}: {{{parts}}}" for name, parts in system.systems.items()
        )
        sample = "" if self.limit is None else f"sample: {{limit: {self.limit}, seed: 0}}\n"
        return _FILE.format(
            made_by=one_line(self.made_by or "An own system on its questions."),
            path=one_line(shlex.quote(str(self.path))),
            name=json.dumps(_plain(self.path.stem)),
            data=self._data(),
            sample=sample,
            systems=systems,
            settings=system.settings,
            note=system.note,
            metrics=", ".join(map(json.dumps, self.metrics or self.usual_metrics)),
        )

    @property
    def usual_metrics(self) -> Sequence[str]:
        """The metrics if none is named: those of the kind of system, or for the queries."""
        system = _system(self.system, documents=bool(self.documents))
        if system.metrics:
            return system.metrics
        usual = usual_metrics(self._queries) if self._queries else WITH_GOLD
        return (*usual, *check_metrics_of(self._queries))

    @cached_property
    def _queries(self) -> Collection[Query]:
        """The queries, if they are in one file; of other data, none is read before the checks."""
        if own := self._own_answers:
            return [query for rows in own.systems.values() for query in rows.queries]
        if self.data and Path(self.data).is_file():
            return load_dataset(self.data).queries
        return ()

    @cached_property
    def _own_answers(self) -> AnswerTable | None:
        """The recorded answers that are the data set too; None if data are named."""
        if self.data is not None:
            return None
        if not Path(self.system).is_file():
            raise ConfigError(
                f"{self.system} needs a data set, such as a file of questions: name one after it; "
                "only a file of recorded answers may have the questions in its rows"
            )
        return read_answer_rows(Path(self.system))

    @property
    def _has_gold(self) -> bool:
        """Whether a column of the data may have gold answers."""
        own = self._own_answers
        return own is None or bool(own.columns.format) or "gold_answers" in own.columns.of

    def _data(self) -> str:
        """Return the line of the data, with the chunker of documents pinned.

        Recorded answers may be the data set too; those without gold answers are none themselves.
        """
        path, columns = _quoted(self.data or self.system), ""
        if not self._has_gold:
            columns = ", columns: {gold_answers: null}"
        if self.documents:
            found = f"path: {path}{columns}, documents: {_quoted(self.documents)}"
            return f"{{{found}, chunker: {_quoted(CHUNKER)}}}"
        note = "  # a file of questions, a folder, or sample"
        return f"{{path: {path}{columns}}}" if columns else f"{path}{note}"

    def checked(self) -> Experiment:
        """Return the experiment after all its checks; the data are read, nothing is asked."""
        try:
            document = parse_yaml(self.text.encode(errors="replace"))
        except ValueError as error:
            raise ConfigError(f"cannot write {self.path}: {error}") from error
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


@dataclass(frozen=True)
class _Systems:
    """Systems as an experiment file names them, with the settings and metrics that fit them."""

    systems: Mapping[str, str]
    """Name -> its parts in YAML."""
    settings: str = "system"
    note: str = "the context of an answer is the one that your system reports"
    metrics: Sequence[str] = ()
    """Those for the queries if empty."""

    @classmethod
    def own(cls, name: str, generator: str) -> _Systems:
        """Return a system that answers by itself."""
        return cls({name: f"generator: {generator}"})


def _recorded(path: Path, parts: str) -> _Systems:
    """Return each system in a file of answers."""
    names = systems_in(path)
    if len(names) == 1:
        return _Systems.own(path.name.removesuffix(".gz").rpartition(".")[0], f"{{{parts}}}")
    own = {name: f"generator: {{{parts}, system: {_quoted(name)}}}" for name in names}
    return _Systems(own)


def _system(written: str, *, documents: bool) -> _Systems:
    """Return the system for a name, an address or a component, or each one of a file of answers."""
    quoted = _quoted(written)
    if _URL.match(written):
        return _Systems.own("service", f"{{name: http, url: {quoted}}}")
    if Path(written).is_file() and written.endswith(".py"):
        raise ConfigError(
            f"{written} is a Python file; name its function too, as in {written}:answer",
            value=written,
        )
    if Path(written).is_file():
        return _recorded(Path(written), f"name: recorded, path: {quoted}")
    component = re.split(r"[(\s]", written)[0]
    if documents and component in known("retrievers"):
        parts = f"retriever: {quoted}, generator: gold"
        return _Systems({component: parts}, *_RETRIEVED, _FOUND)
    if re.match(r"[\w-]+", written) and component in known("generators"):
        if documents and not find("generators", component, where="SYSTEM").may_retrieve:
            return _Systems({component: f"retriever: bm25, generator: {quoted}"}, *_READ)
        return _Systems.own(component, quoted)
    module, colon, _ = written.rpartition(":")
    if Path(written).is_dir():
        raise ConfigError(f"{written!r} is a folder and not a system: {_KINDS}", value=written)
    if colon and module:
        name = Path(module).name.removesuffix(".py")
        return _Systems.own(name, f"{{name: callable, function: {quoted}}}")
    raise ConfigError(
        f"{written!r} is not a system: there is no such file; {_KINDS}", value=written
    )


def _quoted(text: str) -> str:
    """Return a text in YAML's quotes; controls are YAML's own codes."""
    return plain(json.dumps(text, ensure_ascii=False))


def _plain(stem: str) -> str:
    """Return a name that an experiment may have."""
    return re.sub(r"[^A-Za-z0-9._-]", "-", stem).lstrip("._-") or "experiment"
