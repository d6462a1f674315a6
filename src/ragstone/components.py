"""The built-in components: kind -> name -> "module:Class". None is imported until it is asked for.

Installed packages add to a kind through the entry-point group `ragstone.<kind>`; see
`ragstone.registry` for how a name is resolved. A ranking metric is named with its cutoff, `nDCG@k`;
an answer metric has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

BUILT_IN: Final[Mapping[str, Mapping[str, str]]] = {
    "readers": {
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
    "query_formers": {
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
    "context_settings": {
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
    "metrics": {
        "nDCG@k": "ragstone.metrics.ndcg:NDCG",
        "R@k": "ragstone.metrics.recall:RecallAt",
        "P@k": "ragstone.metrics.precision:PrecisionAt",
        "F1@k": "ragstone.metrics.f1:F1At",
        "hit@k": "ragstone.metrics.hit:Hit",
        "success@k": "ragstone.metrics.success:Success",
        "MRR@k": "ragstone.metrics.mrr:MRR",
        "MAP@k": "ragstone.metrics.average_precision:MAP",
        "Rprec@k": "ragstone.metrics.rprec:RPrec",
        "judged@k": "ragstone.metrics.judged:Judged",
        "Match": "ragstone.metrics.match:Match",
        "EM": "ragstone.metrics.exact_match:ExactMatch",
        "F1": "ragstone.metrics.token_f1:TokenF1",
        "Precision": "ragstone.metrics.token_precision:TokenPrecision",
        "Recall": "ragstone.metrics.token_recall:TokenRecall",
        "ROUGE-1": "ragstone.metrics.rouge_n:Rouge1",
        "ROUGE-2": "ragstone.metrics.rouge_n:Rouge2",
        "ROUGE-L": "ragstone.metrics.rouge_l:RougeL",
        "char3-recall": "ragstone.metrics.char3_recall:Char3Recall",
        "answer-in-context": "ragstone.metrics.answer_in_context:AnswerInContext",
        "K-precision": "ragstone.metrics.k_precision:KPrecision",
        "language-match": "ragstone.metrics.language_match:LanguageMatch",
        "refusal": "ragstone.metrics.refusal:Refusal",
        "answerability": "ragstone.metrics.answerability:Answerability",
        "token-similarity": "ragstone.metrics.token_similarity:TokenSimilarity",
        "token-K-precision": "ragstone.metrics.token_k_precision:TokenKPrecision",
        "semantic-similarity": "ragstone.metrics.semantic_similarity:SemanticSimilarity",
        "BERTScore-P": "ragstone.metrics.bert_score:BertScoreP",
        "BERTScore-R": "ragstone.metrics.bert_score:BertScoreR",
        "BERTScore-F1": "ragstone.metrics.bert_score:BertScoreF1",
        "Bert-K-Precision": "ragstone.metrics.bert_k_precision:BertKPrecision",
        "RB_agg": "ragstone.metrics.rb_agg_score:RbAgg",
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

FORMER_KINDS: Final[Mapping[str, str]] = {
    "contexts": "context_settings",
    "datasets": "readers",
    "queries": "query_formers",
}
"""Names of kinds up to version 0.1, which commands and entry points may still use."""


def name_of(component: type) -> str:
    """Return `kind/name` of a built-in component's class, or "" for any other class.

    >>> from ragstone.retrievers.bm25 import BM25
    >>> name_of(BM25)
    'retrievers/bm25'
    """
    return _names().get(f"{component.__module__}:{component.__qualname__}", "")


@cache
def _names() -> Mapping[str, str]:
    return {
        target: f"{kind}/{name}"
        for kind, table in BUILT_IN.items()
        for name, target in table.items()
    }
