"""The C engine of multilingual-e5-small: the same vectors in every call, and texts that harm it."""

from __future__ import annotations

import subprocess
import sys
import unicodedata
from pathlib import Path

import numpy as np
import pytest

from ragstone.errors import ModelFileError
from ragstone.models import e5_engine
from ragstone.models.bundled import MODELS
from ragstone.models.e5_engine import E5Engine, check_engine, engine_digest, load_engine

needs_model = pytest.mark.needs(model="e5-small")  # `make test` fetches it
TEXTS = ["Wer baute die Brücke?", "谁建造了这座桥?", "من بنى الجسر؟", "", "a " * 120, "gold"]


@pytest.fixture
def engine() -> E5Engine:
    """The bundled model."""
    return load_engine()


@needs_model
def test_a_vector_depends_on_no_neighbour_and_no_number_of_threads(engine: E5Engine) -> None:
    """Alone, in a batch, with one thread and with two: the same bits, of length 1."""
    together = engine.embed(TEXTS, queries=False, threads=2)

    alone = np.concatenate([engine.embed([t], queries=False, threads=1) for t in TEXTS])

    assert together.tobytes() == alone.tobytes()
    assert np.allclose(np.linalg.norm(together, axis=1), 1, atol=1e-5)
    assert engine.embed([], queries=True).shape == (0, 384)


@needs_model
def test_another_process_computes_the_same_bits(engine: E5Engine) -> None:
    """The vectors of a store can be extended by any later process."""
    code = (
        "import sys; from ragstone.models.e5_engine import load_engine; "
        "sys.stdout.buffer.write(load_engine().embed([sys.argv[1]], queries=True).tobytes())"
    )

    done = subprocess.run([sys.executable, "-c", code, TEXTS[0]], capture_output=True, check=True)

    assert done.stdout == engine.embed(TEXTS[:1], queries=True).tobytes()


@needs_model
def test_queries_and_passages_have_their_own_prefix(engine: E5Engine) -> None:
    """A text that is both has two vectors, and a translation is nearer than another sentence."""
    query, passage = (engine.embed(["gold"], queries=q)[0] for q in (True, False))
    assert np.abs(query - passage).max() > 0.001

    question, chinese, other = engine.embed([TEXTS[0], TEXTS[1], TEXTS[5]], queries=True)

    assert question @ chinese > question @ other


@needs_model
def test_characters_that_would_end_a_text_or_overflow_it_are_replaced(engine: E5Engine) -> None:
    """A NUL, half of a surrogate pair, and the ligature that is 18 characters in normal form."""
    ligature = "\ufdfa" * 40
    spelt = unicodedata.normalize("NFKC", ligature)

    found = engine.embed(["go\0ld", "gold\ud800", ligature, spelt], queries=False)

    expected = engine.embed(["gold", "gold?"], queries=False)
    assert found[:2].tobytes() == expected.tobytes()
    assert found[2].tobytes() == found[3].tobytes()
    assert engine.tokens("go\0ld", query=True) == engine.tokens("gold", query=True)


@needs_model
def test_a_long_text_is_read_in_windows(engine: E5Engine) -> None:
    """The end of a text beyond 512 tokens changes its vector."""
    long = "stone " * 512
    assert engine.tokens(long, query=False) > e5_engine.WINDOW

    one, other = engine.embed([long, f"{long} a river in Portugal"], queries=False)

    assert np.abs(one - other).max() > 1e-4


def test_the_digest_is_known_before_the_download() -> None:
    """It covers the engine too, and no default fetch takes the model."""
    assert len(engine_digest()) == 64
    assert not MODELS["e5-small"].default


@pytest.mark.parametrize(
    ("machine", "flags", "problem"),
    [("arm64", "avx2", "Linux arm64"), ("x86_64", "sse4_2 avx", "a CPU without AVX2")],
)
def test_another_machine_is_an_error_with_another_way(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, machine: str, flags: str, problem: str
) -> None:
    """The instructions that a CPU lacks would end the process without a message."""
    (tmp_path / "cpuinfo").write_text(f"flags\t: {flags}\n")
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: machine)
    monkeypatch.setattr(e5_engine, "_CPU_FLAGS", tmp_path / "cpuinfo")

    with pytest.raises(ModelFileError, match=f"this machine has {problem}"):
        check_engine()


def test_a_model_that_is_not_fetched_is_an_error_with_the_command(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Before a run spends anything."""
    monkeypatch.setenv("RAGSTONE_MODELS", str(tmp_path))
    (tmp_path / "cpuinfo").write_text("flags\t: avx2\n")
    monkeypatch.setattr("platform.system", lambda: "Linux")
    monkeypatch.setattr("platform.machine", lambda: "x86_64")
    monkeypatch.setattr(e5_engine, "_CPU_FLAGS", tmp_path / "cpuinfo")

    with pytest.raises(ModelFileError, match="ragstone models fetch e5-small"):
        check_engine()
