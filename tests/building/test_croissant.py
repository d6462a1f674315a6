"""The description of a data set as MLCommons Croissant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from ragstone.building.card_facts import Statements, card_facts
from ragstone.building.croissant import croissant, earlier_statements
from ragstone.data.load import load_dataset
from ragstone.data.writers.folder import write_dataset

REQUIRED = ("@context", "@type", "conformsTo", "name", "description", "license", "distribution")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the sample."""
    made = tmp_path_factory.mktemp("sample")
    write_dataset(load_dataset("sample"), made)
    return made


def document(folder: Path, **said: str) -> dict[str, Any]:
    """Return the description of the sample."""
    facts = card_facts(load_dataset(folder), folder, folder, Statements(**said), ())
    found: dict[str, Any] = json.loads(json.dumps(croissant(facts)))
    return found


def test_the_properties_that_the_format_requires(folder: Path) -> None:
    """Version 1.0; an unknown licence is called unknown, and other unknown things are left out."""
    found = document(folder)
    assert all(found[name] for name in REQUIRED)
    assert found["@type"] == "sc:Dataset"
    assert found["conformsTo"] == "http://mlcommons.org/croissant/1.0"
    assert found["@context"]["conformsTo"] == "dct:conformsTo"
    assert found["license"] == "unknown"
    assert not {"creator", "url", "datePublished"} & found.keys()
    stated = document(folder, licence="MIT", creator="Us", url="https://x.y", date="2026-11-26")
    assert (stated["license"], stated["url"], stated["datePublished"]) == (
        "MIT",
        "https://x.y",
        "2026-11-26",
    )
    assert stated["creator"] == {"@type": "sc:Organization", "name": "Us"}


def test_every_file_has_a_digest(folder: Path) -> None:
    """Ids are unique, and each content is beside the description."""
    files = document(folder)["distribution"]
    assert {one["@id"] for one in files} == {"queries.jsonl", "corpus.jsonl", "qrels.tsv"}
    for one in files:
        assert one["@type"] == "cr:FileObject"
        assert len(one["sha256"]) == 64
        assert (folder / one["contentUrl"]).stat().st_size == int(one["contentSize"].split()[0])
    assert {one["encodingFormat"] for one in files} == {
        "application/jsonlines",
        "text/tab-separated-values",
    }


def test_fields_have_types_sources_and_references(folder: Path) -> None:
    """Every source is a file of the distribution, and every reference a field."""
    found = document(folder)
    tables = {one["@id"]: one for one in found["recordSet"]}
    assert set(tables) == {"queries", "passages", "qrels"}
    files = {one["@id"] for one in found["distribution"]}
    fields = {field["@id"]: field for one in tables.values() for field in one["field"]}
    assert tables["queries"]["key"] == {"@id": "queries/_id"}
    for field in fields.values():
        for leaf in field.get("subField", [field]):
            assert leaf["@type"] == "cr:Field"
            assert leaf["dataType"].startswith("sc:")
            assert leaf["source"]["fileObject"]["@id"] in files
            assert leaf["source"]["extract"]["column"]
    assert fields["queries/answers"]["repeated"] is True
    assert fields["queries/turn"]["dataType"] == "sc:Integer"
    assert fields["qrels/query-id"]["references"]["field"]["@id"] in fields
    assert fields["qrels/corpus-id"]["references"]["field"]["@id"] == "passages/_id"
    assert fields["qrels/score"]["dataType"] == "sc:Integer"
    (transform,) = {
        leaf["source"]["transform"]["jsonPath"]
        for leaf in fields["queries/history"]["subField"]
        if leaf["name"] == "role"
    }
    assert transform == "[*].role"


def test_statements_are_read_back(folder: Path) -> None:
    """A sentence with counts, and the word unknown, are no statements."""
    said = {"title": "Größe", "description": "About towns.", "licence": "MIT", "creator": "Us"}
    for given in (said, {}):
        (folder / "croissant.json").write_text(json.dumps(document(folder, **given)))
        found = earlier_statements(folder)
        assert (found.licence, found.creator) == (
            given.get("licence", ""),
            given.get("creator", ""),
        )
        assert found.description == given.get("description", "")
    assert earlier_statements(folder / "absent") == Statements()
