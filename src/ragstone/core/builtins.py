"""The built-in components: kind -> name -> module and class. None is imported until it is used.

Installed packages add to a kind through the entry-point group `ragstone.<kind>`; see
`ragstone.core.registry` for how a name is resolved. A ranking metric is named with its cutoff,
`nDCG@k`; an answer metric has none.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_FILES: Final[Mapping[str, Mapping[str, str]]] = {
    "readers": {
        "ragstone": "folder:FolderReader",
        "mirage": "mirage:MirageReader",
        "squad": "squad:SquadReader",
        "table": "table:TableReader",
        "mtrag": "mtrag:MtragReader",
        "parquet": "parquet:ParquetReader",
        "hub": "hub:HubReader",
        "documents": "documents:DocumentsReader",
        "encyclopedia": "encyclopedia:EncyclopediaReader",
        "published": "published:PublishedReader",
        "parallel": "parallel:ParallelReader",
    },
    "chunkers": {
        "sentences": "sentences:Sentences",
        "tokens": "tokens:TokenWindows",
        "words": "words:Words",
        "whole": "whole:Whole",
    },
    "query_formers": {
        "as-given": "as_given:AsGiven",
        "user-turns": "user_turns:UserTurns",
        "last-turns": "conversation:LastTurns",
        "conversation": "conversation:WholeConversation",
        "rewrite": "rewrite:Rewrite",
        "llm-rewrite": "llm_rewrite:LlmRewrite",
        "translate": "translation:Translation",
        "given": "given:GivenSearch",
    },
    "embedders": {
        "bge-m3": "bge_m3:BgeM3",
        "bge-m3-sparse": "bge_m3_sparse:BgeM3Sparse",
        "bge-m3-tokens": "bge_m3_tokens:BgeM3Tokens",
        "endpoint": "endpoint:EndpointEmbedder",
        "e5-small": "e5_small:E5Small",
        "minilm": "minilm:MiniLM",
        "minilm-tokens": "minilm_tokens:MiniLMTokens",
        "onnx": "onnx:OnnxDense",
        "sentence-transformers": "sentence_transformers:SentenceTransformers",
        "sentence-transformers-sparse": "sentence_transformers_sparse:SentenceTransformersSparse",
        "splade": "splade:Splade",
    },
    "retrievers": {
        "bm25": "bm25:BM25",
        "dense": "dense:Dense",
        "elasticsearch": "elasticsearch:Elasticsearch",
        "fusion": "fusion:Fusion",
        "late-interaction": "late_interaction:LateInteraction",
        "milvus": "milvus:Milvus",
        "oracle": "oracle:Oracle",
        "pgvector": "pgvector:Pgvector",
        "qdrant": "qdrant:Qdrant",
        "run-file": "run_file:RunFile",
        "sparse": "sparse:Sparse",
    },
    "rerankers": {
        "maxsim": "maxsim:MaxSim",
        "cross-encoder": "cross_encoder:CrossEncoder",
        "cross-encoder-onnx": "cross_encoder_onnx:CrossEncoderOnnx",
        "llm-pointwise": "llm_pointwise:LlmPointwise",
        "llm-listwise": "llm_listwise:LlmListwise",
    },
    "context_settings": {
        "none": "none:NoContext",
        "system": "system:OwnContext",
        "gold": "gold:Gold",
        "gold+noise": "gold_noise:GoldNoise",
        "noise": "noise:Noise",
        "retrieved": "retrieved:Retrieved",
        "gold+retrieved": "gold_retrieved:GoldRetrieved",
        "gold+injected": "gold_injected:GoldInjected",
        "documents": "documents:WholeDocuments",
        "given": "given:Given",
        "neighbours": "neighbours:Neighbours",
    },
    "processors": {
        "budget": "token_budget:TokenBudget",
        "pruning": "pruning:Pruning",
        "compression": "compression:Compression",
        "translate": "translated_context:TranslatedContext",
    },
    "generators": {
        "local": "local:Local",
        "chat": "chat:Chat",
        "hf": "transformers:Hf",
        "vllm": "vllm:Vllm",
        "recorded": "recorded:Recorded",
        "gold": "gold:GoldAnswer",
        "live": "live_conversation:Live",
        "http": "http:Http",
        "callable": "python_function:Function",
        "command": "command:Command",
    },
    "metrics": {
        "nDCG@k": "ndcg:NDCG",
        "R@k": "recall:RecallAt",
        "P@k": "precision:PrecisionAt",
        "F1@k": "f1:F1At",
        "hit@k": "hit:Hit",
        "success@k": "success:Success",
        "MRR@k": "mrr:MRR",
        "MAP@k": "average_precision:MAP",
        "Rprec": "rprec:RPrec",
        "judged@k": "judged:Judged",
        "same-language@k": "same_language:SameLanguage",
        "RBP@k": "rbp:RBP",
        "RBP-residual@k": "rbp:RBPResidual",
        "bpref": "bpref:Bpref",
        "infAP": "inf_ap:InfAP",
        "ERR@k": "err:ERR",
        "alpha-nDCG@k": "alpha_ndcg:AlphaNDCG",
        "Match": "match:Match",
        "EM": "exact_match:ExactMatch",
        "F1": "token_f1:TokenF1",
        "Precision": "token_precision:TokenPrecision",
        "Recall": "token_recall:TokenRecall",
        "ROUGE-1": "rouge_n:Rouge1",
        "ROUGE-2": "rouge_n:Rouge2",
        "ROUGE-L": "rouge_l:RougeL",
        "label": "label:Label",
        "numeric": "numeric:Numeric",
        "BLEU": "bleu:Bleu",
        "chrF": "chrf:Chrf",
        "char3-recall": "char3_recall:Char3Recall",
        "answer-in-context": "answer_in_context:AnswerInContext",
        "K-precision": "k_precision:KPrecision",
        "language-match": "language_match:LanguageMatch",
        "code-switching": "code_switching:CodeSwitching",
        "refusal": "refusal:Refusal",
        "answerability": "answerability:Answerability",
        "checks": "row_checks:RowChecks",
        "attack-success": "attack_success:AttackSuccess",
        "foreign-passages": "foreign_passages:ForeignPassages",
        "pass@k": "pass_at_k:PassAt",
        "consistency": "consistency:Consistency",
        "token-similarity": "token_similarity:TokenSimilarity",
        "token-K-precision": "token_k_precision:TokenKPrecision",
        "semantic-similarity": "semantic_similarity:SemanticSimilarity",
        "BEM": "bem:BEM",
        "BERTScore-P": "bert_score:BertScoreP",
        "BERTScore-R": "bert_score:BertScoreR",
        "BERTScore-F1": "bert_score:BertScoreF1",
        "Bert-K-Precision": "bert_score:BertKPrecision",
        "RB_agg": "rb_agg:RbAgg",
        "assigned-nuggets": "assigned_nuggets:AssignedNuggets",
    },
    "exporters": {
        "inspector": "inspector:Inspector",
        "mtrageval": "mtrageval:MtragEval",
        "ragas": "ragas:RagasRows",
        "scores": "scores:ScoreTable",
        "trec": "trec:Trec",
        "trec-rag": "trec_rag:TrecRag",
    },
    "judges": {
        "equivalence": "equivalence:Equivalence",
        "pairwise": "pairwise:Pairwise",
        "RB_llm": "rb_llm:RBLLM",
        "conversation-rating": "conversation_rating:ConversationRating",
        "idk": "idk:IDK",
        "RL_F": "faithfulness:Faithfulness",
        "RL_R": "answer_relevance:AnswerRelevance",
        "ragchecker": "ragchecker:RagChecker",
        "clarification": "clarification:Clarification",
        "support": "support:Support",
        "taxonomy": "taxonomy:Taxonomy",
        "critiques": "critiques:Critiques",
        "context-relevance": "context_relevance:ContextRelevance",
        "sufficient-context": "sufficient_context:SufficientContext",
        "nuggets": "nuggets:Nuggets",
        "citation-support": "citations:CitationSupport",
        "citation-precision": "citation_precision:CitationPrecision",
        "alce": "alce:Alce",
        "criterion": "criterion:Criterion",
        "choices": "choices:Choices",
        "umbrela": "umbrela:Umbrela",
        "conditioned": "conditioned:Conditioned",
        "trained": "trained:Trained",
        "translated": "translated:TranslatedAnswers",
    },
}

_FOLDERS: Final = {"readers": "data.readers", "exporters": "results.exporters"}
"""Folders of the kinds that are not in `components/` under their own name."""

BUILT_IN: Final[Mapping[str, Mapping[str, str]]] = {
    kind: {
        name: f"ragstone.{_FOLDERS.get(kind, f'components.{kind}')}.{place}"
        for name, place in files.items()
    }
    for kind, files in _FILES.items()
}
"""Kind -> name -> "module:Class"."""

_NAMES: Final[Mapping[str, str]] = {
    target: f"{kind}/{name}" for kind, table in BUILT_IN.items() for name, target in table.items()
}

PROTOCOLS: Final[Mapping[str, str]] = {
    "readers": "ragstone.data.readers.base:Reader",
    "chunkers": "ragstone.protocols:Chunker",
    "query_formers": "ragstone.protocols:QueryFormer",
    "embedders": "ragstone.protocols:Embedder",
    "retrievers": "ragstone.protocols:Retriever",
    "rerankers": "ragstone.protocols:Reranker",
    "context_settings": "ragstone.protocols:ContextSetting",
    "processors": "ragstone.protocols:Processor",
    "generators": "ragstone.protocols:Generator",
    "metrics": "ragstone.components.metrics.own:OwnMetric",
    "judges": "ragstone.protocols:Judge",
    "exporters": "ragstone.results.exporters.base:Exporter",
}
"""Kind -> "module:Class" of its protocol. Names, because this layer cannot import protocols."""

SYNONYMS: Final[Mapping[str, Mapping[str, str]]] = {
    "judges": {"faithfulness": "RL_F", "citation-recall": "citation-precision"},
    "query_formers": {"translation": "translate"},
}
"""Kind -> a usual or former name -> the name in the table of that component."""

NAMES_IN_KEYS: Final[Mapping[str, str]] = {"query_formers/translate": "query_formers/translation"}
"""`kind/name` of a renamed component -> its former one, which its cache keys keep."""
SHOWN_NAMES: Final = {former: name for name, former in NAMES_IN_KEYS.items()}
"""The same the other way round: what is shown for a name in a cache key."""

FORMER_KINDS: Final[Mapping[str, str]] = {
    "contexts": "context_settings",
    "datasets": "readers",
    "queries": "query_formers",
}
"""Names of kinds up to version 0.1, which commands and entry points may still use."""


def name_of(component: type) -> str:
    """Return `kind/name` of a built-in component's class, or "" for any other class.

    >>> from ragstone.components.retrievers.bm25 import BM25
    >>> name_of(BM25)
    'retrievers/bm25'
    """
    return _NAMES.get(f"{component.__module__}:{component.__qualname__}", "")
