"""Every bound of the package: on input, model calls, memory, left-over files and printed text.

A bound is a limit that a user can reach, or one that protects memory, time or the screen. Constants
that tune an algorithm are beside the algorithm, and the defaults of a component's own parameters
(`top_k`, `max_tokens`) are in the component. Code reads a bound as `limits.NAME` at the moment it
applies, so that a test can lower it.
"""

from __future__ import annotations

from typing import Final

# Model calls: number and time

MAX_CONCURRENT_CALLS: Final = 64
"""Calls at once to one endpoint; more rarely gain throughput, and each holds a connection."""
INITIAL_CONCURRENT_CALLS: Final = 8
"""Calls at once before the server's latency is known; few enough for a small server."""
MAX_ATTEMPTS: Final = 6
"""Attempts per call: with doubling waits they bridge a restart of the server."""
ATTEMPT_TIMEOUT_SECONDS: Final = 120.0
"""One attempt at a remote server; longer than any usual reply of a few hundred tokens."""
CALL_DEADLINE_SECONDS: Final = 900.0
"""One call with all attempts and waits: a server that does not recover must not stop a night."""
FIRST_RETRY_SECONDS: Final = 0.5
"""Wait before the second attempt; a brief fault costs little time."""
MAX_RETRY_SECONDS: Final = 30.0
"""Wait between two attempts; a recovered server is noticed within half a minute."""
MAX_CONSECUTIVE_FAILURES: Final = 25
"""Failed calls in a row that stop a run: the rest would fail too, and may cost money."""
MAX_DOUBLINGS: Final = 30
"""Doublings of a wait; 2**30 exceeds every maximum, and a larger power could overflow."""
SERVER_REST_SECONDS: Final = 5.0
"""Time for which other servers of a pool are preferred after a first failure."""
MAX_SERVER_REST_SECONDS: Final = 300.0
"""The same after repeated failures; a repaired server gets calls again within five minutes."""
CONNECT_TIMEOUT_SECONDS: Final = 30.0
"""Opening a connection; a reachable server accepts within seconds."""
CHECK_TIMEOUT_SECONDS: Final = 10.0
"""Opening the connection that checks an endpoint before a run; the user waits for it."""
DNS_CACHE_SECONDS: Final = 300
"""Age of a cached address; a server that moves is found again within five minutes."""
STALLED_LOOP_SECONDS: Final = 300.0
"""Silence of the event loop that counts as a hang; its heartbeat comes every second."""
CLOSE_TIMEOUT_SECONDS: Final = 30.0
"""Waiting for open connections at the end; the program must end even if a server hangs."""

# Model calls: size and storage

MAX_RESPONSE_BYTES: Final = 32 * 2**20
"""A response body; a server that sends without end must not fill the memory."""
REPLY_TOKENS: Final = 512
"""Tokens of a reply if the caller sets no maximum; a looping model would otherwise never stop."""
ANTHROPIC_REPLY_TOKENS: Final = 1024
"""The same for Anthropic's protocol, which requires a maximum."""
MAX_UNCOMMITTED_REPLIES: Final = 4096
"""Replies that wait for the disk; beyond, no call starts, so that a crash loses little."""
LOG_LOCK_SECONDS: Final = 60.0
"""Waiting for another process that writes the same call log; a commit takes milliseconds."""
MAX_KEYS_PER_QUERY: Final = 500
"""Keys in one SQL statement; older versions of SQLite allow 999 values."""
MAX_SAMPLED_REPLIES: Final = 200
"""Replies of other experiments behind an estimate; more do not make it better."""
MAX_SAMPLED_ROWS: Final = 20_000
"""Latest rows of the call log that are searched for them; a whole log could take seconds."""

# Error messages

MAX_SERVER_ERROR_CHARACTERS: Final = 500
"""A server's own error text; some return a whole HTML page."""
MAX_EXCERPT_CHARACTERS: Final = 120
"""The start of a response that is not a reply; enough to recognise a login page."""
