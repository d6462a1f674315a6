"""The experiment file of a trained generator."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from ragstone.errors import ConfigError
from ragstone.experiment.trained_gains import (
    SETTINGS,
    GainsRequest,
    TrainedGenerator,
    gains_document,
)


def document(request: GainsRequest | None = None, **keys: Any) -> dict[str, Any]:
    """Return the experiment of a training in the folder `out`."""
    given: dict[str, Any] = {
        "name": "out",
        "folder": Path("out"),
        "digest": "0123456789abcdef",
        "base": "tiny",
        "learned": "sample",
        "data": "sample",
        "queries": Path("out/splits/test.txt"),
        **keys,
    }
    return gains_document(TrainedGenerator(**given), request or GainsRequest())


def test_both_systems_differ_in_the_adapter_alone() -> None:
    """Parameters of --with and of the training are those of both."""
    request = GainsRequest(generator="local(max_tokens=20)")
    systems = document(
        request, generator={"prompt": "short"}, system={"retriever": "bm25", "reranker": "maxsim"}
    )["systems"]

    base = {"name": "local", "prompt": "short", "max_tokens": 20, "model": "tiny"}
    parts = {"retriever": "bm25", "reranker": "maxsim"}
    assert systems["before"] == {**parts, "generator": base}
    after = {**base, "adapter": "out"}
    assert systems["after"] == {**parts, "generator": after, "trained_on": ["sample"]}


def test_a_model_of_with_takes_the_place_of_the_base() -> None:
    """A GGUF copy of the base is named by it; a whole model replaces it."""
    request = GainsRequest(generator="local(model=copy.gguf)")

    systems = document(request)["systems"]

    assert systems["before"]["generator"] == {"name": "local", "model": "copy.gguf"}
    assert systems["after"]["generator"] == {**systems["before"]["generator"], "adapter": "out"}
    assert document(request, is_whole=True)["systems"]["after"]["generator"]["model"] == "out"


def test_the_name_has_the_digest() -> None:
    """A training that is repeated in the same folder is another experiment."""
    assert document(folder=Path("runs/my model"))["name"] == "gains-my-model-01234567"


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ("sample", {"sample": {"path": "sample"}}),
        ("a/nq", {"nq": {"path": "a/nq"}}),
        ("mirage(a/m)", {"m": {"name": "mirage", "path": "a/m"}}),
        (
            {"path": "a/nq", "chunker": "words(60)"},
            {"nq": {"path": "a/nq", "chunker": "words(60)"}},
        ),
        ({"name": "squad", "path": "de.json"}, {"de": {"name": "squad", "path": "de.json"}}),
    ],
)
def test_any_data_set_is_restricted_to_the_test_queries(
    data: Any, expected: dict[str, dict[str, Any]]
) -> None:
    """The other keys of the training's data stay."""
    found = document(data=data, learned=data)["data"]

    ((name, keys),) = expected.items()
    assert found[name] == {**keys, "sample": {"queries": "out/splits/test.txt"}}


def test_settings_of_the_training_come_first() -> None:
    """A setting that is usual is named once; --setting replaces all."""
    assert document(settings=["retrieved(5)", "gold"])["settings"] == ["retrieved(5)", *SETTINGS]
    assert document(GainsRequest(settings=["gold"]), settings=["none"])["settings"] == ["gold"]


def test_without_any_query_there_is_no_experiment() -> None:
    """The message names the way out."""
    with pytest.raises(ConfigError, match=r"no test queries.*--data"):
        document(data=None)
