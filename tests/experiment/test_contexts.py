"""The contexts of an experiment without its answers."""

from __future__ import annotations

from pathlib import Path

from ragstone import load_dataset
from ragstone.experiment.contexts import tasks_under
from ragstone.experiment.load import load_experiment


def test_each_setting_has_the_context_that_a_run_would_show(tmp_path: Path) -> None:
    """Of the given queries alone; a setting leaves out those that it does not apply to."""
    dataset = load_dataset("sample")
    made = load_experiment(
        {
            "data": "sample",
            "store": str(tmp_path),
            "systems": [{"retriever": "bm25", "generator": "gold"}],
            "settings": ["gold", "retrieved(3)", "none"],
            "metrics": ["Match"],
        }
    )
    query_ids = [query.query_id for query in dataset.queries][:6]

    found = {one.setting: tasks_under(made, one.setting, query_ids) for one in made.settings}

    assert set(found) == {"gold", "retrieved(3)", "none"}
    assert set(found["none"]) == set(query_ids)
    assert all(len(task.context.passages) == 3 for task in found["retrieved(3)"].values())
    judged = {query_id for query_id in query_ids if dataset.qrels.get(query_id)}
    assert set(found["gold"]) == judged
    for query_id, task in found["gold"].items():
        shown = {passage.passage_id for passage in task.context.passages}
        assert shown <= set(dataset.qrels[query_id])
    assert tasks_under(made, "gold", query_ids) == found["gold"]
    assert set(tasks_under(made, "none", query_ids[:2])) == set(query_ids[:2])
