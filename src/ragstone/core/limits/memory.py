"""Memory and files left behind."""

from __future__ import annotations

from typing import Final

# Memory

TABLE_BATCH_ROWS: Final = 20_000
"""Rows held as Python objects before they become Arrow; 20,000 passages take about 30 MB."""
TABLE_BATCH_CHARACTERS: Final = 2**26
"""Text held as Python objects before it becomes Arrow; a row may be a whole book."""
TABLE_PIECE_BYTES: Final = 2**28
"""A piece of an Arrow table; a column has at most 2 GB of text, and joining copies a piece."""
BLOCK_QUERIES: Final = 1000  # Queries that a step holds as objects at a time.
MODEL_BLOCK_QUERIES: Final = 8000  # The same if each is a model call: a block waits for its last.
ROW_GROUP_ROWS: Final = 2**17  # Rows of a Parquet file written together, if a block has as many.
WHOLE_DIGEST_ROWS: Final = 2**17  # Rows of a result that is hashed whole; a longer one in blocks.
WHOLE_DIGEST_CHARACTERS: Final = 2**24  # The same for the characters of its texts.
SCORED_CHARACTERS: Final = 2**20  # Characters of answers scored at once; longer ones go alone.
CUT_BLOCK_CHARACTERS: Final = 500_000  # Characters of the documents that a worker cuts at a time.
CACHED_CUTS: Final = 4096  # Short texts cut into words, which several metrics of a batch share.
PARQUET_BATCH_ROWS: Final = 8192  # Rows of a Parquet file in memory at a time.
CACHED_INDEXES: Final = 2  # Indexes of one kind in memory; rankings of one corpus share one.
CACHED_SCORES: Final = 65_536
"""Pairs of texts whose BERTScore is cached: P, R and F1 share one run of the model."""
ENCODER_BATCH_TOKENS: Final = 4096  # Tokens, padding included, in one pass of BERTScore's model.
ENCODED_TEXTS: Final = 64  # Texts encoded at a time: 134 MB for 512 tokens of 1,024 numbers.
HELD_STATES: Final = 2**25  # Numbers of token vectors kept for later pairs: 134 MB.
KNN_SCORES: Final = 2**22
"""Scores per matrix product of an exact search: 16 MB, which may fit into a processor's cache."""
APPROXIMATE_FROM: Final = 50_000  # Passages from which `ann` has an index; fewer need none.
MEASURED_QUERIES: Final = 500  # Queries searched exactly as well, to measure the recall of `ann`.
MAXSIM_SCORES: Final = 64_000_000  # Scores in memory during late interaction: 256 MB.
MAXSIM_TOKEN_PRODUCTS: Final = 16_000_000  # Products of tokens in memory there: 64 MB.
INDEX_PART_PASSAGES: Final = 16_384  # Sparse vectors that are inverted together: 200 MB.
FREQUENT_TERM_BYTES: Final = 64_000_000  # Weights of frequent terms, one per document, for speed.
RESAMPLED_COUNTS: Final = 4_000_000  # Counts of a bootstrap in memory: 32 MB.
CACHED_CHARACTERS: Final = 65_536  # Characters whose properties are cached: all in common use.
CACHED_GOLD_BLOCKS: Final = 16  # Blocks of gold answers whose tokens are kept, about 1 MB each.
MAX_BUCKET_TEXTS: Final = 60
"""Texts of a MinHash bucket compared pairwise; the number of pairs grows with the square."""

# Files left behind

ABANDONED_STEP_SECONDS: Final = 24 * 3600
"""Age of an unfinished step that is removed; no process writes that long without a change."""
KEPT_ORPHAN_DAYS: Final = 1.0
"""Age up to which `store prune` leaves a step that no record names: its run may still go on."""
MAX_EARLIER_RECORDS: Final = 400
"""Earlier records of an experiment that a store keeps, such as one a day for a year."""
FETCH_WAIT_SECONDS: Final = 3600
"""Time for which a fetch of a model waits for that of another process."""
LOW_DISK_BYTES: Final = 2 * 2**30
"""Free disk space below which `ragstone doctor` warns: embeddings and models may not fit."""
