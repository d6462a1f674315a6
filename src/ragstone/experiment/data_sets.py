"""The data sets of an experiment file: one, or several, each with keys of its own.

    data: sample                                     one data set
    data: [sample, my-set, {path: de.jsonl, language: de}]
    data: {nq: {path: ..., sample: {limit: 500}}, jp: {path: ..., language: ja}}
    data: {path: ..., language: {queries: ja, passages: en}}
    data: {path: docs-set, chunker: [sentences(110), sentences(330)]}   two data sets

A mapping is many data sets if it has none of the keys of a reader (`ONE`).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from ragstone.core.regular_files import exists
from ragstone.core.spec import parse_spec, short_name
from ragstone.data.languages import parse_languages
from ragstone.errors import ConfigError

ONE: Final = frozenset({"name", "path", "repo", "queries", "corpus"})
"""Keys of a reader: a mapping that has one of them is one data set."""
_OWN: Final = ("sample", "prompt", "priority")
"""Keys of a data set that are of its experiment, and not of its reader."""
_FACTORS: Final = "factors"
_AXIS: Final = re.compile(r"[A-Za-z][\w-]*")


@dataclass(frozen=True)
class NamedData:
    """One data set of an experiment file, and its own settings."""

    name: str
    reader: Any
    """As in a file with one data set."""
    factors: Mapping[str, str] = field(default_factory=dict)
    """Differences from other data sets: its language, its chunker, and factors of its own."""
    own: Mapping[str, Any] = field(default_factory=dict)
    """`sample`, `prompt` and `priority`, if it has them."""

    @property
    def key(self) -> str:
        """The name that follows `#` in `FILE.yaml#NAME`, and that of results in the store.

        >>> NamedData("docs", "docs", {"chunker": "sentences(110)"}).key
        'docs-sentences-110'
        """
        swept = [self.factors[name] for name in ("chunker",) if name in self.factors]
        return re.sub(r"[^A-Za-z0-9._-]+", "-", "-".join([self.name, *swept])).strip("-.") or "data"


def data_sets(written: Any, where: str) -> tuple[list[NamedData], bool]:
    """Return the data sets of the key `data`, and whether the file may have several.

    Raises:
        ConfigError: two data sets have one name, or there is none.
    """
    if isinstance(written, Mapping) and not ONE & written.keys() and "documents" not in written:
        entries = [(str(name), entry) for name, entry in written.items()]
    elif isinstance(written, list):
        entries = [(_name(entry), entry) for entry in written]
    else:
        swept = isinstance(written, Mapping) and isinstance(written.get("chunker"), list)
        found = list(_spread(_name(written), written))
        return _checked(found, where) if swept else found, swept
    if not entries:
        raise ConfigError(f"{where}: 'data' names no data set; for example data: sample")
    return _checked([one for entry in entries for one in _spread(*entry)], where), True


def _spread(name: str, written: Any) -> Iterator[NamedData]:
    """Yield one data set per chunker."""
    if not isinstance(written, Mapping):
        yield NamedData(name, written)
        return
    reader = dict(written)
    own = {key: reader.pop(key) for key in _OWN if key in reader}
    factors = _own_factors(name, reader.pop(_FACTORS, None))
    factors |= _language(reader)
    chunkers = reader.pop("chunker", None)
    for chunker in chunkers if isinstance(chunkers, list) else [chunkers]:
        cut = {} if chunker is None else {"chunker": chunker}
        named = {key: short_name(one) for key, one in cut.items()}
        yield NamedData(name, {**reader, **cut}, {**factors, **named}, own)


def _language(reader: Mapping[str, Any]) -> dict[str, str]:
    """Return the language of the queries as a factor, checked unless a reader may have its own.

    >>> _language({"path": "x", "language": {"queries": "Japanese", "passages": "en"}})
    {'language': 'ja'}
    """
    written = reader.get("language")
    if written is None:
        return {}
    stated = "" if "name" in reader else parse_languages(written).queries
    code = written if isinstance(written, str) else stated
    return {"language": code} if code else {}


def _own_factors(name: str, written: Any) -> dict[str, str]:
    """Return the factors that a data set declares: axis -> value; `ConfigError` for others."""
    if written is None:
        return {}
    pairs = written.items() if isinstance(written, Mapping) else [(written, None)]
    for axis, value in pairs:
        if not _AXIS.fullmatch(str(axis)) or not isinstance(value, str | int | float):
            raise ConfigError(
                f"data set {name}: 'factors' must be names with a text or a number each, such as "
                f"{{family: kilt, corpus: multi}}, found {written!r}",
                key=_FACTORS,
                value=written,
            )
    return {str(axis): str(value) for axis, value in pairs}


def _checked(found: list[NamedData], where: str) -> list[NamedData]:
    """Return the data sets; raise `ConfigError` if two have one name."""
    seen: dict[str, NamedData] = {}
    for one in found:
        other = seen.setdefault(one.key.lower(), one)
        if other is not one:
            names = " and ".join(dict.fromkeys(repr(name) for name in (other.name, one.name)))
            raise ConfigError(
                f"{where}: two data sets are called {names}; give each its own name: "
                f"data: {{first: ..., second: ...}}",
                key="data",
                value=one.name,
            )
    return found


def _name(written: Any) -> str:
    """Return the name of a data set: that of its file or folder, or else of its reader.

    >>> [_name(one) for one in ("sample", "sets/nq/", {"name": "squad", "path": "de.json"})]
    ['sample', 'nq', 'de']
    >>> _name("mirage(sets/m)"), _name("mirage(path=sets/m)"), _name("published()")
    ('m', 'm', 'published')
    """
    if isinstance(written, Mapping):
        path = written.get("path", written.get("queries"))
        named = path or written.get("repo") or written.get("name") or written.get("corpus")
        return _name(str(named or "data"))
    if isinstance(written, str):
        if re.fullmatch(r"[\w-]+\(.*\)", written, re.DOTALL) and not exists(written):
            spec = parse_spec(written, where="data")
            given = {key or "path": value for key, value in spec.parameters.items()}
            return _name({"name": spec.name, **given})
        return Path(written).name.split(".")[0] or "data"
    return str(getattr(written, "name", type(written).__name__))
