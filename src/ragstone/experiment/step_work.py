"""Computing single steps of an experiment, after those that they need."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ragstone.core.stored_table import StoredTable
from ragstone.experiment.step_blocks import compute, run_step
from ragstone.experiment.steps import Step

if TYPE_CHECKING:
    from arro3.core import Table

    from ragstone.core.store import Store
    from ragstone.protocols import Services


@dataclass
class StepWork:
    """Computes steps, each once.

    Args:
        services: what the components work with.
        store: where results are kept; if None, in memory alone.
    """

    services: Services
    store: Store | None = None
    _known: dict[Step, StoredTable] = field(default_factory=dict)

    def table(self, step: Step) -> Table:
        """Return the table of a step."""
        return self._stored(step).table

    def _stored(self, given: Step | StoredTable) -> StoredTable:
        if isinstance(given, StoredTable):
            return given
        if given not in self._known:
            inputs = {role: self._stored(source) for role, source in given.inputs.items()}
            if self.store is not None:
                done = run_step(given, inputs, self.store, self.services)
            else:
                tables = {role: one.table for role, one in inputs.items()}
                done = StoredTable.of_result(compute(given, tables, self.services).table)
            self._known[given] = done
        return self._known[given]
