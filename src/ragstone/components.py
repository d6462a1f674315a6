"""The built-in components: kind -> name -> "module:Class". None is imported until it is asked for.

Installed packages add to a kind through the entry-point group `ragstone.<kind>`; see
`ragstone.registry` for how a name is resolved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

BUILT_IN: Final[Mapping[str, Mapping[str, str]]] = {
    "datasets": {
        "ragstone": "ragstone.datasets.folder:FolderReader",
        "mirage": "ragstone.datasets.mirage:MirageReader",
        "squad": "ragstone.datasets.squad:SquadReader",
        "mtrag": "ragstone.datasets.mtrag:MtragReader",
        "parquet": "ragstone.datasets.parquet:ParquetReader",
        "hub": "ragstone.datasets.hub:HubReader",
    },
    "chunkers": {
        "sentences": "ragstone.chunking.sentences:Sentences",
        "tokens": "ragstone.chunking.tokens:Tokens",
        "words": "ragstone.chunking.words:Words",
        "whole": "ragstone.chunking.whole:Whole",
    },
    "queries": {
        "as-given": "ragstone.queries.as_given:AsGiven",
        "user-turns": "ragstone.queries.user_turns:UserTurns",
        "last-turns": "ragstone.queries.conversation:LastTurns",
        "conversation": "ragstone.queries.conversation:Conversation",
        "rewrite": "ragstone.queries.rewrite:Rewrite",
        "llm-rewrite": "ragstone.queries.llm_rewrite:LlmRewrite",
        "translation": "ragstone.queries.translation:Translation",
    },
    "embedders": {
        "endpoint": "ragstone.embedders.endpoint:EndpointEmbedder",
        "minilm": "ragstone.embedders.minilm:MiniLM",
        "minilm-tokens": "ragstone.embedders.minilm_tokens:MiniLMTokens",
        "sentence-transformers": "ragstone.embedders.st_dense:SentenceTransformers",
        "sentence-transformers-sparse": "ragstone.embedders.st_sparse:SentenceTransformersSparse",
        "splade": "ragstone.embedders.splade:Splade",
    },
    "retrievers": {
        "bm25": "ragstone.retrievers.bm25:BM25",
        "dense": "ragstone.retrievers.dense:Dense",
        "fusion": "ragstone.retrievers.fusion:Fusion",
        "late-interaction": "ragstone.retrievers.late_interaction:LateInteraction",
        "milvus": "ragstone.retrievers.milvus:Milvus",
        "oracle": "ragstone.retrievers.oracle:Oracle",
        "run-file": "ragstone.retrievers.run_file:RunFile",
        "sparse": "ragstone.retrievers.sparse:Sparse",
    },
    "rerankers": {
        "maxsim": "ragstone.rerankers.maxsim:MaxSim",
        "cross-encoder": "ragstone.rerankers.cross_encoder:CrossEncoder",
        "cross-encoder-onnx": "ragstone.rerankers.cross_encoder_onnx:CrossEncoderOnnx",
        "llm-pointwise": "ragstone.rerankers.llm_pointwise:LlmPointwise",
        "llm-listwise": "ragstone.rerankers.llm_listwise:LlmListwise",
    },
    "contexts": {
        "none": "ragstone.contexts.none:NoContext",
        "gold": "ragstone.contexts.gold:Gold",
        "gold+noise": "ragstone.contexts.gold_noise:GoldNoise",
        "retrieved": "ragstone.contexts.retrieved:Retrieved",
        "gold+retrieved": "ragstone.contexts.gold_retrieved:GoldRetrieved",
    },
    "processors": {
        "budget": "ragstone.processors.budget:TokenBudget",
        "pruning": "ragstone.processors.pruning:Pruning",
        "compression": "ragstone.processors.compression:Compression",
    },
    "generators": {
        "local": "ragstone.generators.local:Local",
        "chat": "ragstone.generators.chat:Chat",
        "hf": "ragstone.generators.hf:Hf",
        "vllm": "ragstone.generators.vllm:Vllm",
        "recorded": "ragstone.generators.recorded:Recorded",
        "gold": "ragstone.generators.gold:Gold",
        "live": "ragstone.generators.live:Live",
        "http": "ragstone.generators.http:Http",
        "callable": "ragstone.generators.function:Function",
        "command": "ragstone.generators.command:Command",
    },
    "judges": {
        "equivalence": "ragstone.judges.equivalence:Equivalence",
        "pairwise": "ragstone.judges.pairwise:Pairwise",
        "RB_llm": "ragstone.judges.rb_llm:RBLLM",
        "conversation-rating": "ragstone.judges.conversation_rating:ConversationRating",
        "idk": "ragstone.judges.idk:IDK",
        "RL_F": "ragstone.judges.faithfulness:Faithfulness",
        "support": "ragstone.judges.support:Support",
        "taxonomy": "ragstone.judges.taxonomy:Taxonomy",
        "critiques": "ragstone.judges.critiques:Critiques",
        "context-relevance": "ragstone.judges.context_relevance:ContextRelevance",
        "nuggets": "ragstone.judges.nuggets:Nuggets",
        "citation-support": "ragstone.judges.citations:CitationSupport",
        "conditioned": "ragstone.judges.conditioned:Conditioned",
    },
}
