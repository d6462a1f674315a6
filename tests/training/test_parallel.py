"""Several processes that train one model end where one process does, up to rounding."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
import yaml
from tests.fakes.tiny_chat_model import tiny_chat_model

from ragstone.training.parallel import Processes, hide_other_gpus


def test_a_process_without_others_has_all() -> None:
    """Nothing is sent."""
    alone = Processes.joined("cpu")
    assert alone == Processes()
    assert alone.first
    assert alone.own([1, 2, 3]) == [1, 2, 3]
    assert (alone.total(2.5, "cpu"), alone.least(3, "cpu")) == (2.5, 3)
    alone.sum_gradients([])
    alone.wait()


def test_the_parts_of_all_processes_are_the_whole() -> None:
    """Also if there are fewer examples than processes."""
    for count in (2, 3, 5):
        parts = [Processes(rank, count).own("abcd") for rank in range(count)]
        assert sorted(one for part in parts for one in part) == list("abcd")


def test_each_process_sees_its_own_gpu_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Among those that the process was given; without a launcher nothing changes."""
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "4,6")
    monkeypatch.delenv("LOCAL_RANK", raising=False)
    hide_other_gpus()
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "4,6"
    monkeypatch.setenv("LOCAL_RANK", "1")
    hide_other_gpus()
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "6"
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    hide_other_gpus()
    assert os.environ["CUDA_VISIBLE_DEVICES"] == "1"


@pytest.mark.needs("torch", "transformers", "peft")
def test_two_processes_end_where_one_does(tmp_path: Path) -> None:
    """The launcher of torch, on two processes of this machine, without dropout."""
    tiny_chat_model(tmp_path / "base")
    document = {
        "base": "base",
        "data": "sample",
        "setting": "gold",
        "adapter": {"r": 2, "alpha": 4, "dropout": 0},
        "optim": {"steps": 3, "batch": 3, "lr": 0.01, "validations": 1},
        "max_tokens": 1500,
    }
    launcher = ["-m", "torch.distributed.run", "--nproc-per-node", "2", "--standalone"]
    script = str(Path(sys.executable).with_name("ragstone"))
    printed = {}
    for name, start in (("one", []), ("two", launcher)):
        path = tmp_path / f"{name}.yaml"
        path.write_text(yaml.safe_dump({**document, "output": name}), encoding="utf-8")
        command = [sys.executable, *start, script, "train", "generator", str(path)]
        done = subprocess.run(
            [*command, "--json"],
            cwd=tmp_path,
            env={**os.environ, "OMP_NUM_THREADS": "1"},
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        printed[name] = json.loads(done.stdout)
    assert printed["two"]["loss"] == pytest.approx(printed["one"]["loss"], rel=1e-4)
    last = [printed[name]["validation"][-1]["loss"] for name in ("one", "two")]
    assert last[1] == pytest.approx(last[0], rel=1e-4)
    assert (tmp_path / "two" / "adapter_model.safetensors").is_file()
