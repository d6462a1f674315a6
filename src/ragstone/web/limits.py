"""The bounds of pages and of browsers' requests; `ragstone.core.limits` has all others."""

from __future__ import annotations

from typing import Final

# Live pages

VIEW_ROWS: Final = 50
"""Rows of a list on a page: a longer list has further pages, so that each stays under 40 kB."""
VIEW_PARAMETER_CHARACTERS: Final = 2_000  # Characters of one value in the address of a page.
VIEW_POST_BYTES: Final = 2 * 2**20
"""Body of a request that changes something: an edited prompt with its passages fits."""
VIEW_HELD_BYTES: Final = 48 * 2**20
"""Tables of the experiments that the pages keep in memory, the last used ones, as Arrow bytes: with
short passages the objects made from them take eight times as much."""
VIEW_HELD_TABLES: Final = 12
"""Leaderboards that the pages keep in memory, the last used ones: 27 MB each with 6,000 systems."""
VIEW_CELL_CHARACTERS: Final = 100
"""A text in a list on a page; its plain data have the whole text."""

# Annotation

POSTED_EVENTS: Final = 1000  # Events of one request, such as those that a browser kept offline.
EVENT_VALUE_BYTES: Final = 100_000  # The value of an event: an answer that a person repaired fits.
EVENT_ID_CHARACTERS: Final = 500  # An id, a field or a part in an event.
LABEL_PLACE_BYTES: Final = 2_500
"""Item, person, field and part of a label together: a row of PostgreSQL's index has 2,704 bytes.
An event that no database keeps would be sent again for ever, with all others of its transaction."""
ASKED_CHARACTERS: Final = 10_000  # A query or a search that a person types for the agent.
RUNNING_ASKS: Final = 500
"""Asks of all people that the agent works on or that wait for it: each has a thread."""
SCHEME_OPTIONS: Final = 16  # Options of a question: each has a key, from 1 to 0 and from a to f.
CLAIM_MINUTES: Final = 10
"""An item that a person has open goes to others after this time without a label."""
CLAIMED_ITEMS: Final = 5
"""Next items of a person that others do not get: the browser may ask for some before their time."""
NUMBERS_SECONDS: Final = 2.0
"""Seconds for which the numbers of a project are kept at least, however many events there are."""
PERSON_NAME_CHARACTERS: Final = 100  # The name of a person, which is in exports and on pages.
SESSION_DAYS: Final = 30  # A session ends after this time; the person signs in again.
WRONG_TOKENS: Final = 10
"""Wrong tokens per minute from one address; then the sign-in page waits. A token has 192 bits."""
WRONG_TOKEN_SECONDS: Final = 0.3  # The answer to a wrong token takes at least this long.
WRONG_TOKEN_ADDRESSES: Final = 1000  # Addresses with wrong tokens before old ones are forgotten.
DIFF_WORDS: Final = 2_000
"""Words and spaces of an answer whose changes are shown word by word; longer texts are shown whole:
the comparison takes the square of the length."""
DIFF_PAIRS: Final = 100_000
"""Pairs of equal words of two answers whose changes are shown word by word: English texts of 2,000
words have about 50,000; 1,000 equal signs have a million, which would take a minute."""
GROUPED_EVENTS: Final = 1000
"""Waiting events that are kept in one transaction, and the rest of the last request among them."""
KNOWN_SESSIONS: Final = 10_000  # Sessions in memory, so that a click needs no query for its person.
SESSION_SECONDS: Final = 10.0
"""For how long a session is known without a query: a person whom another process removes can act
for so long."""
