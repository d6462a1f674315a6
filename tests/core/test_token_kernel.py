"""The compiled kernel is optional, and its buffers are checked."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from tools.kernel import compile_kernel, compiler

from ragstone.core import token_kernel


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return the compiled kernel, which is where the package looks for it."""
    if compiler() is None:
        pytest.skip("no C compiler; install gcc or clang")
    made = tmp_path / "kernel.so"
    compile_kernel(made)
    monkeypatch.setattr(token_kernel, "LIBRARY", made)
    monkeypatch.delenv("RAGSTONE_KERNEL", raising=False)
    token_kernel.reload()
    yield made
    monkeypatch.undo()
    token_kernel.reload()


@pytest.mark.usefixtures("library")
def test_a_file_that_is_absent_or_broken_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Without a library that loads, the plain path is taken."""
    monkeypatch.setattr(token_kernel, "LIBRARY", tmp_path / "other.so")
    assert not token_kernel.reload()

    (tmp_path / "other.so").write_bytes(b"no library")
    assert not token_kernel.reload()


@pytest.mark.usefixtures("library")
def test_the_environment_switches_it_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """`RAGSTONE_KERNEL=off` leaves out a kernel that would be loaded."""
    assert token_kernel.is_loaded()

    monkeypatch.setenv("RAGSTONE_KERNEL", "off")
    assert not token_kernel.reload()


@pytest.mark.usefixtures("library")
def test_a_library_of_another_source_is_left_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """After an edit or an update, a library that was compiled before is not used."""
    edited = tmp_path / "edited.c"
    edited.write_bytes(token_kernel.SOURCE.read_bytes() + b"\n")
    monkeypatch.setattr(token_kernel, "SOURCE", edited)

    assert not token_kernel.reload()


@pytest.mark.usefixtures("library")
def test_lengths_that_do_not_fit_are_refused() -> None:
    """No call is made with buffers whose lengths contradict each other."""
    known = token_kernel.FunctionWords(1, 3, np.zeros(8, np.uint64), np.zeros(8, np.uint8))
    same, table = bytes(range(256)), np.zeros(0, np.uint32)
    codes, counts = np.ones(3, np.uint64), np.array([1, 2])
    for call in (
        lambda: token_kernel.fold(b"a\0b", 1, same, same, table),
        lambda: token_kernel.fold(b"a\0b\0", 1, same, same, table),
        lambda: token_kernel.fold(b"a\0", 1, same, same[:9], table),
        lambda: token_kernel.cut(b"a\0", same, known, np.zeros(2, np.uint8)),
        lambda: token_kernel.cut(b"a\0", same, known._replace(bits=4), np.zeros(1, np.uint8)),
        lambda: token_kernel.overlap(codes[1:], counts, codes, counts, np.array([0, 1])),
        lambda: token_kernel.overlap(codes, counts, codes, counts, np.array([1, 0])),
        lambda: token_kernel.overlap(codes, counts, codes, counts, np.array([0, 2])),
        lambda: token_kernel.overlap(codes, counts.astype(np.int32), codes, counts, counts - 1),
        lambda: token_kernel.overlap(codes, counts, codes[::-1], counts, np.array([0, 1])),
    ):
        with pytest.raises(ValueError, match="kernel"):
            call()
