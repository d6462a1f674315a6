"""For tests of your own components and programs: a check per kind of component, and fake models.

A check runs a component as an experiment would and raises `AssertionError` with the first broken
rule. `FakeModelServer`, `FakeBatchServer` and `FakeElasticsearch` are real HTTP servers;
`ScriptedCalls` answers with a function instead. `FakeFaults` is an experiment with known mistakes,
`FakeGullibleJudge` a judge's model with known weaknesses, `FakeExpert` a model that knows the
judgements of a data set.

>>> from ragstone import retrievers, testing
>>> testing.check_retriever(retrievers.BM25)
"""

from typing import TYPE_CHECKING

from ragstone.core.lazy import attach

if TYPE_CHECKING:
    from ragstone.testing.contracts import check_chunker as check_chunker
    from ragstone.testing.contracts import check_context_setting as check_context_setting
    from ragstone.testing.contracts import check_embedder as check_embedder
    from ragstone.testing.contracts import check_exporter as check_exporter
    from ragstone.testing.contracts import check_generator as check_generator
    from ragstone.testing.contracts import check_judge as check_judge
    from ragstone.testing.contracts import check_metric as check_metric
    from ragstone.testing.contracts import check_processor as check_processor
    from ragstone.testing.contracts import check_query_former as check_query_former
    from ragstone.testing.contracts import check_reader as check_reader
    from ragstone.testing.contracts import check_reranker as check_reranker
    from ragstone.testing.contracts import check_retriever as check_retriever
    from ragstone.testing.fake_batch_server import FakeBatchServer as FakeBatchServer
    from ragstone.testing.fake_calls import ScriptedCalls as ScriptedCalls
    from ragstone.testing.fake_elasticsearch import FakeElasticsearch as FakeElasticsearch
    from ragstone.testing.fake_expert import FakeExpert as FakeExpert
    from ragstone.testing.fake_faults import FakeFaults as FakeFaults
    from ragstone.testing.fake_gullible_judge import FakeGullibleJudge as FakeGullibleJudge
    from ragstone.testing.fake_model_server import FAULTS as FAULTS
    from ragstone.testing.fake_model_server import FakeModelServer as FakeModelServer

_CHECKED = (
    "chunker", "context_setting", "embedder", "exporter", "generator", "judge", "metric",
    "processor", "query_former", "reader", "reranker", "retriever",
)  # fmt: skip

_load, __dir__, __all__ = attach(
    __name__,
    {
        "contracts": [f"check_{kind}" for kind in _CHECKED],
        "fake_batch_server": ["FakeBatchServer"],
        "fake_calls": ["ScriptedCalls"],
        "fake_elasticsearch": ["FakeElasticsearch"],
        "fake_expert": ["FakeExpert"],
        "fake_faults": ["FakeFaults"],
        "fake_gullible_judge": ["FakeGullibleJudge"],
        "fake_model_server": ["FAULTS", "FakeModelServer"],
    },
)

if not TYPE_CHECKING:
    # Type checkers that see this function accept every name.
    __getattr__ = _load
