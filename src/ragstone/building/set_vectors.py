"""The spread of a data set's queries in the vector space of an embedder."""

from __future__ import annotations

import numpy as np

from ragstone.building.set_properties import Facts
from ragstone.components.embedders.nested import nested_embedder
from ragstone.core.component import run_component
from ragstone.errors import ConfigError
from ragstone.protocols import Services
from ragstone.statistics.diversity import spread
from ragstone.statistics.summary import Summary, cluster_numbers


def vector_spread(facts: Facts, embedder: str, seed: int = 0) -> Summary:
    """Return the mean cosine distance of two queries of different conversations.

    Args:
        facts: the data set.
        embedder: spec of a dense embedder, such as `minilm`.
        seed: seed of the interval's resamples.

    Raises:
        ConfigError: the embedder is unknown or not dense, or a query could not be embedded.
        MissingDependency: its package is not installed.
    """
    found = nested_embedder(embedder, "dense", where="--embedder")
    services = Services()
    found.check(services)
    texts = [query.text for query in facts.queries]
    # Without texts, no model is loaded.
    outcomes = run_component(found, services, texts, role="query") if texts else []
    failed = next((one for one in outcomes if one.value is None), None)
    if failed is not None:
        raise ConfigError(f"--embedder {embedder}: a query could not be embedded: {failed.reason}")
    if not outcomes:
        return Summary(None, 0)
    vectors = np.array([one.value for one in outcomes], dtype=np.float64)
    vectors /= np.maximum(np.linalg.norm(vectors, axis=1, keepdims=True), 1e-12)
    return spread(vectors, cluster_numbers(facts.clusters), seed=seed)
