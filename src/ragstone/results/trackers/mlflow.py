"""MLflow: runs on its server, or in a file of this folder."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final

from ragstone.core import limits
from ragstone.core.environment import require, resolved
from ragstone.core.likely_secrets import likely_secrets
from ragstone.core.redaction import remember
from ragstone.errors import ConfigError
from ragstone.results.trackers.tracked_run import TrackedRun

_LOCAL: Final = "sqlite:///mlflow.db"
_KEY: Final = "ragstone.results"
_WAY_OUT: Final = ". The results are in the store: the same command keeps them without new calls"
_QUIET: Final = {"MLFLOW_DISABLE_TELEMETRY": "true", "MLFLOW_HTTP_REQUEST_MAX_RETRIES": "1"}


class MLflow:
    """The tracking server of `MLFLOW_TRACKING_URI`, by default the file `mlflow.db`.

    MLflow's own telemetry is off.

    Raises:
        MissingDependency: MLflow is not installed.
        ConfigError: the server cannot be reached.
    """

    def __init__(self) -> None:
        os.environ.update({key: os.environ.get(key, value) for key, value in _QUIET.items()})
        require("--track mlflow", "mlflow", "mlflow", "sqlalchemy")
        from mlflow import MlflowClient

        written = os.environ.get("MLFLOW_TRACKING_URI") or _LOCAL
        address: str = resolved(written, "MLFLOW_TRACKING_URI")
        remember(one.value for one in likely_secrets(address))
        self.address = _without_password(address)
        with self._errors("cannot be reached"):
            self.client = MlflowClient(tracking_uri=address)
            self.client.search_experiments(max_results=1)

    @contextmanager
    def _errors(self, problem: str, way_out: str = "") -> Iterator[None]:
        """Raise `ConfigError` without the password for an error of MLflow or of its database."""
        from mlflow.exceptions import MlflowException
        from sqlalchemy.exc import SQLAlchemyError

        try:
            yield
        # An address may name a driver that is missing, or be none.
        except (MlflowException, SQLAlchemyError, ImportError, ValueError, OSError) as error:
            missing = f" ({error})" if isinstance(error, ImportError) else ""
            raise ConfigError(
                f"MLflow {problem} at {self.address}{missing}; check MLFLOW_TRACKING_URI{way_out}",
                value=self.address,
            ) from None

    def log(self, run: TrackedRun) -> str:
        """Keep a run in the experiment of its name; a run of equal results is written again.

        Raises:
            ConfigError: MLflow refuses a part of it, or can no longer be reached.
        """
        with self._errors("kept no whole run", _WAY_OUT):
            return self._log(run)

    def _log(self, run: TrackedRun) -> str:
        from mlflow.entities import Metric, Param

        experiment = self._experiment(run.experiment)
        run_id = self._run(experiment, run)
        now = int(time.time() * 1000)
        parameters = [Param(key, value) for key, value in run.parameters.items()]
        numbers = [Metric(name, value, now, 0) for name, value in run.numbers.items()]
        most = limits.TRACKED_BATCH
        for start in range(0, len(parameters), most):
            self.client.log_batch(run_id, params=parameters[start : start + most])
        for start in range(0, len(numbers), most):
            self.client.log_batch(run_id, metrics=numbers[start : start + most])
        for path in run.files:
            self.client.log_artifact(run_id, str(path))
        self.client.set_terminated(run_id)
        return f"MLflow run {run_id} of experiment {run.experiment!r} in {self.address}"

    def _experiment(self, name: str) -> str:
        found = self.client.get_experiment_by_name(name)
        created: str = found.experiment_id if found else self.client.create_experiment(name)
        return created

    def _run(self, experiment: str, run: TrackedRun) -> str:
        """Return the id of the run of equal results, or of a new one."""
        same: Any = self.client.search_runs([experiment], f"tags.`{_KEY}` = '{run.key}'")
        if not same:
            same = [self.client.create_run(experiment, tags={_KEY: run.key}, run_name=run.name)]
        run_id: str = same[0].info.run_id
        return run_id


def _without_password(address: str) -> str:
    """Return an address without the name and the password in it.

    >>> _without_password("https://me:secret@tracker.example/mlflow")
    'https://tracker.example/mlflow'
    """
    return re.sub("//[^/]*@", "//", address, count=1)
