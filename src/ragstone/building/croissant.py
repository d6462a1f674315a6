"""MLCommons Croissant: a description of a data set that machines read (JSON-LD).

The format is version 1.0: https://docs.mlcommons.org/croissant/docs/croissant-spec.html. Croissant
requires a licence, a creator, a URL and a date; facts that nobody states are left out, except the
licence, which is "unknown".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from ragstone.building.card_facts import UNKNOWN, CardFacts, Statements
from ragstone.data.data_files import DataFile, FieldFacts
from ragstone.data.readers.rows import json_document

FILE: Final = "croissant.json"
CONFORMS_TO: Final = "http://mlcommons.org/croissant/1.0"
_KIND: Final = "A benchmark of retrieval-augmented generation:"
_TYPES: Final = {
    "text": "sc:Text",
    "integer": "sc:Integer",
    "number": "sc:Float",
    "boolean": "sc:Boolean",
}
_FORMATS: Final = {
    ".jsonl": "application/jsonlines",
    ".json": "application/json",
    ".tsv": "text/tab-separated-values",
    ".txt": "text/plain",
    ".parquet": "application/x-parquet",
}
_CR: Final = (
    *("citeAs", "column", "extract", "field", "fileProperty", "fileObject", "fileSet", "format"),
    *("includes", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet"),
    *("references", "regex", "repeated", "replace", "samplingRate", "separator", "source"),
    *("subField", "transform", "equivalentProperty"),
)
_CONTEXT: Final = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "sc": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    **{name: f"cr:{name}" for name in _CR},
}
_STATED: Final = {
    "licence": "license",
    "url": "url",
    "date": "datePublished",
    "version": "version",
    "citation": "citeAs",
}
"""Statement -> its property."""


def summary_text(facts: CardFacts) -> str:
    """Return the description that the user gave, or else a sentence with the counts."""
    found = facts.about
    counts = f"{found.queries:,} queries, {found.passages:,} passages, {found.qrels:,} judgements"
    return facts.statements.description or f"{_KIND} {counts}."


def croissant(facts: CardFacts) -> dict[str, Any]:
    """Return the description as plain data."""
    given = facts.statements
    stated = {name: getattr(given, key) for key, name in _STATED.items()}
    creator = {"@type": "sc:Organization", "name": given.creator} if given.creator else None
    sources = [one["source"] for one in facts.sources if one.get("source")]
    optional = {**stated, "creator": creator, "isBasedOn": sources}
    return {
        "@context": _CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": CONFORMS_TO,
        "name": given.title or facts.name,
        "description": summary_text(facts),
        "license": UNKNOWN,
        **{name: value for name, value in optional.items() if value},
        "distribution": [_file_object(one) for one in facts.files],
        "recordSet": list(_record_sets(facts.files)),
    }


def earlier_statements(folder: Path) -> Statements:
    """Return the user's statements from the description in a folder.

    Raises:
        DatasetError: the file is not JSON.
    """
    path = folder / FILE
    found = json_document(path) if path.is_file() else {}
    if not isinstance(found, Mapping):
        return Statements()
    creator = found.get("creator")
    known = {key: str(found.get(name) or "") for key, name in _STATED.items()}
    known["creator"] = str(creator.get("name") or "") if isinstance(creator, Mapping) else ""
    known["title"] = str(found.get("name") or "")
    text = str(found.get("description") or "")
    known["description"] = "" if text.startswith(_KIND) else text
    return Statements(**{key: "" if value == UNKNOWN else value for key, value in known.items()})


def _file_object(file: DataFile) -> dict[str, Any]:
    plain = file.name.removesuffix(".gz")
    form = next((form for end, form in _FORMATS.items() if plain.endswith(end)), "text/plain")
    return {
        "@type": "cr:FileObject",
        "@id": file.name,
        "name": file.name,
        "contentUrl": file.name,
        "contentSize": f"{file.size} B",
        "encodingFormat": "application/gzip" if plain != file.name else form,
        "sha256": file.sha256,
    }


def _record_sets(files: tuple[DataFile, ...]) -> Iterator[dict[str, Any]]:
    """Yield the tables of queries, passages and qrels with their fields."""
    keys = {file.kind: f"{_set_name(file)}/_id" for file in files if "_id" in file.fields}
    for file in files:
        if file.kind == "other" or not file.fields:
            continue
        name = _set_name(file)
        one: dict[str, Any] = {"@type": "cr:RecordSet", "@id": name, "name": name}
        if "_id" in file.fields:
            one["key"] = {"@id": f"{name}/_id"}
        one["field"] = [_field(file, name, key, of) for key, of in file.fields.items()]
        if file.kind == "qrels":
            for field, kind in zip(one["field"], ("queries", "passages"), strict=False):
                if kind in keys:
                    field["references"] = {"field": {"@id": keys[kind]}}
        yield one


def _set_name(file: DataFile) -> str:
    """Return the name of a table: its kind, with the split of a file of several qrels."""
    split = file.name.removeprefix("qrels/").partition(".")[0]
    return f"qrels-{split}" if "/" in file.name else file.kind


def _field(file: DataFile, table: str, name: str, of: FieldFacts) -> dict[str, Any]:
    source = {"fileObject": {"@id": file.name}, "extract": {"column": name}}
    found: dict[str, Any] = {"@type": "cr:Field", "@id": f"{table}/{name}", "name": name}
    if of.is_list:
        found["repeated"] = True
    if of.type != "object":
        return {**found, "dataType": _TYPES[of.type], "source": source}
    found["subField"] = [
        {
            "@type": "cr:Field",
            "@id": f"{table}/{name}/{key}",
            "name": key,
            "dataType": "sc:Text",
            "source": {**source, "transform": {"jsonPath": f"[*].{key}" if of.is_list else key}},
        }
        for key in of.inner
    ]
    return found
