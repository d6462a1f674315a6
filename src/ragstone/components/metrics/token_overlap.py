"""The tokens that many answers share with their gold answers: counts, order, sequences.

Each gold answer has an index. Only those tokens of an answer count that occur in its gold answers;
a table of bits and a search find them, and all further steps work on these few.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Final

import numpy as np

from ragstone.components.metrics.arrays import positions, within
from ragstone.components.metrics.precision_recall import lcs_length
from ragstone.text.normalise import contains

if TYPE_CHECKING:
    from ragstone.components.metrics.arrays import Codes, Flags, Ints
    from ragstone.components.metrics.fast_tokens import Tokens

_BITS: Final = 16
_SPREAD: Final = np.uint64(0xD1342543DE82EF95)
_PAIR: Final = np.uint64(0x9E3779B97F4A7C15)
WIDTH: Final = 64
"""Maximum tokens of a gold answer for the bit-parallel search; longer ones go to rapidfuzz."""

_FIRST: Final = 0xE000
"""The first character that stands for a token: all from it on may occur in a text."""
_CHARACTERS: Final = sys.maxunicode - _FIRST


@dataclass(frozen=True)
class Hits:
    """Tokens of answers that occur in a gold answer, by its index, in the answer's order."""

    gold_index: Ints
    place: Ints
    """Position of the token in the answer."""
    mask: Codes
    """Bit i is set if the token is the gold answer's i-th (the first `WIDTH` only)."""


@dataclass(frozen=True)
class Groups:
    """The different tokens of each gold answer, sorted by identity."""

    identity: Ints
    gold_index: Ints
    times: Ints
    mask: Codes
    """Bit i is set if the token is the gold answer's i-th."""


@dataclass(frozen=True)
class GoldTokens:
    """The tokens of gold answers, and what is computed from them alone."""

    tokens: Tokens
    pair: Ints
    """The pair of each gold answer."""

    @cached_property
    def keys(self) -> tuple[Codes, Ints]:
        """The different tokens of each pair's gold answers, and the index of each gold token."""
        known, identity = np.unique(_keys(self.tokens, self.pair), return_inverse=True)
        return known, identity

    @cached_property
    def groups(self) -> Groups:
        """Gold tokens by identity and gold index."""
        place = np.minimum(self.tokens.places(np.arange(len(self.tokens.code))), WIDTH - 1)
        return _grouped(self.keys[1], self.tokens.owner, len(self.pair), place)

    @cached_property
    def bigrams(self) -> tuple[Ints, Groups]:
        """The different pairs of neighbouring tokens, and these by identity and gold index."""
        known, gold = self.keys
        owner = self.tokens.owner
        first = np.flatnonzero(owner[1:] == owner[:-1])
        bigrams, which = np.unique(gold[first] * len(known) + gold[first + 1], return_inverse=True)
        return bigrams, _grouped(which, owner[first], len(self.pair), first * 0)


@dataclass(frozen=True)
class TokenOverlap:
    """The overlap of answers with their gold answers."""

    answers: Tokens
    wanted: GoldTokens

    @property
    def gold(self) -> Tokens:
        """The tokens of the gold answers."""
        return self.wanted.tokens

    @property
    def gold_pair(self) -> Ints:
        """The pair of each gold answer."""
        return self.wanted.pair

    @cached_property
    def _found(self) -> tuple[Ints, Ints]:
        """Position and identity of the answers' tokens that occur in gold answers."""
        return _look_up(_keys(self.answers, np.arange(len(self.answers.counts))), self._known)

    @property
    def _known(self) -> Codes:
        return self.wanted.keys[0]

    @property
    def _groups(self) -> Groups:
        return self.wanted.groups

    @cached_property
    def shared(self) -> Ints:
        """Number of tokens per gold index in answer and gold answer, each as often as in both."""
        return _overlap(self._groups, self._found[1], self._gold_count)

    @cached_property
    def shared_bigrams(self) -> Ints:
        """The same for pairs of neighbouring tokens."""
        position, identity = self._found
        owner = self.answers.owner[position]
        near = np.flatnonzero((np.diff(position) == 1) & (owner[1:] == owner[:-1]))
        bigrams, groups = self.wanted.bigrams
        bigram = identity[near] * len(self._known) + identity[near + 1]
        found = np.minimum(np.searchsorted(bigrams, bigram), max(len(bigrams) - 1, 0))
        found = found[bigrams[found] == bigram] if len(bigrams) else found[:0]
        return _overlap(groups, found, self._gold_count)

    @property
    def _gold_count(self) -> int:
        return len(self.gold_pair)

    def hits(self, wanted: Flags) -> Hits:
        """Return the answers' tokens that occur in some gold answers."""
        position, identities = self._found
        chosen = np.flatnonzero(wanted[self._groups.gold_index])
        identity, gold_index = self._groups.identity[chosen], self._groups.gold_index[chosen]
        size = np.bincount(identity, minlength=len(self._known))
        times = size[identities]
        token = np.repeat(np.arange(len(identities)), times)
        which = (np.cumsum(size) - size)[identities][token] + within(token, times)
        order = _stable_order(gold_index[which], self._gold_count)
        place = self.answers.places(position)[token[order]]
        return Hits(gold_index[which[order]], place, self._groups.mask[chosen][which[order]])

    @cached_property
    def longest_common(self) -> Ints:
        """Length of the longest common subsequence, per gold index."""
        length = np.minimum(self.shared, 1)
        several = (self.shared > 1) & (self.gold.counts <= WIDTH)
        open_ = np.full(self._gold_count, ~np.uint64(0))
        for gold_index, _, mask in _steps(self.hits(several), self._gold_count):
            hit = open_[gold_index] & mask
            open_[gold_index] = (open_[gold_index] + hit) | (open_[gold_index] - hit)
        length[several] = np.bitwise_count(~open_[several])
        if long := positions((self.shared > 1) & ~several):
            length[long] = self._long_common(long)
        return length

    def _long_common(self, chosen: Sequence[int]) -> list[int]:
        """Return the length of the longest common subsequence of some long gold answers."""
        identities, (position, found) = self.wanted.keys[1], self._found
        if len(self._known) > _CHARACTERS:
            return [lcs_length(*self._codes_of(long)) for long in chosen]
        from rapidfuzz.distance import LCSseq

        counts = np.bincount(self.answers.owner[position], minlength=len(self.answers.counts))
        answers, gold = _as_texts(found, counts), _as_texts(identities, self.gold.counts)
        pairs = self.gold_pair.tolist()
        return [int(LCSseq.similarity(gold[i], answers[pairs[i]])) for i in chosen]

    def _codes_of(self, gold_index: int) -> tuple[list[int], list[int]]:
        """Return the codes of a gold answer and of its answer."""
        return self.answers.of(int(self.gold_pair[gold_index])), self.gold.of(gold_index)

    @cached_property
    def contained(self) -> Flags:
        """Whether the answer contains the gold answer without a gap, per gold index."""
        whole = (self.shared == self.gold.counts) & (self.gold.counts > 0)
        found: Flags = whole & (self.gold.counts == 1)
        several = whole & (self.gold.counts > 1) & (self.gold.counts <= WIDTH)
        last = np.uint64(1) << np.minimum(self.gold.counts - 1, WIDTH - 1).astype(np.uint64)
        run, before = np.zeros(self._gold_count, np.uint64), np.full(self._gold_count, -2)
        for gold_index, place, mask in _steps(self.hits(several), self._gold_count):
            next_to = np.where(place == before[gold_index] + 1, run[gold_index], np.uint64(0))
            run[gold_index] = ((next_to << np.uint64(1)) | np.uint64(1)) & mask
            before[gold_index] = place
            found[gold_index] |= (run[gold_index] & last[gold_index]) != 0
        for long in positions(whole & (self.gold.counts > WIDTH)):
            answer, gold = ([str(code) for code in codes] for codes in self._codes_of(long))
            found[long] = contains(answer, gold)
        return found

    @cached_property
    def equal(self) -> Flags:
        """Whether answer and gold answer have the same tokens in the same order, per gold index."""
        same: Flags = self.gold.counts == self.answers.counts[self.gold_pair]
        return self.contained & same


def _as_texts(identities: Ints, counts: Ints) -> list[str]:
    """Return the tokens of each text as a text, one character per token."""
    whole = (identities + _FIRST).astype("<u4").tobytes().decode("utf-32-le")
    stops = np.cumsum(counts)
    bounds = zip((stops - counts).tolist(), stops.tolist(), strict=True)
    return [whole[start:stop] for start, stop in bounds]


def _keys(tokens: Tokens, pair: Ints) -> Codes:
    """Return one key per token and pair, spread so that its upper bits can index a table."""
    salt = np.repeat(pair.astype(np.uint64) * _PAIR, tokens.counts)
    salt ^= tokens.code
    salt *= _SPREAD
    return salt


def _look_up(keys: Codes, known: Codes) -> tuple[Ints, Ints]:
    """Return the positions of the keys that are known, and the index of the known key of each.

    A table over the upper bits of a key contains the known key that it may be. Known keys with the
    same place as another one go into a table over other bits, until each key has had a place.
    """
    positions, identities = [np.arange(0)], [np.arange(0)]
    at, wanted = np.arange(0), keys
    left, held = np.arange(len(known)), known
    while len(left):
        table = np.full(1 << _BITS, -1, np.int32)
        table[_slots(held)] = left
        maybe = table[_slots(wanted)]
        likely = np.flatnonzero(maybe >= 0)
        which = maybe[likely].astype(np.int64)
        at = at[likely] if len(positions) > 1 else likely
        sure = known[which] == keys[at]
        positions.append(at[sure])
        identities.append(which[sure])
        at = at[~sure]
        left = left[table[_slots(held)] != left]
        wanted, held = _mixed(keys[at], len(positions)), _mixed(known[left], len(positions))
    order = np.argsort(found := np.concatenate(positions), kind="stable")
    return found[order], np.concatenate(identities)[order]


def _slots(keys: Codes) -> Ints:
    found: Ints = (keys >> np.uint64(64 - _BITS)).view(np.int64)
    return found


def _mixed(keys: Codes, times: int) -> Codes:
    """Return keys with new upper bits for each number of times, which depend on all bits."""
    for _ in range(times):
        keys = (keys ^ (keys >> np.uint64(32))) * _SPREAD
    return keys


def _grouped(identity: Ints, gold_index: Ints, gold_count: int, place: Ints) -> Groups:
    """Return the different (identity, gold index), sorted, with counts and positions."""
    key = identity * gold_count + gold_index
    order = np.argsort(key)
    key = key[order]
    new = np.ones(len(key), np.bool_)
    new[1:] = key[1:] != key[:-1]
    starts = np.flatnonzero(new)
    bit = np.uint64(1) << place[order].astype(np.uint64)
    mask = np.bitwise_or.reduceat(bit, starts) if len(starts) else bit
    times = np.diff(np.append(starts, len(key)))
    return Groups(key[starts] // max(gold_count, 1), key[starts] % max(gold_count, 1), times, mask)


def _overlap(groups: Groups, answered: Ints, gold_count: int) -> Ints:
    """Return the sum per gold index, over different tokens, of the smaller of the two counts."""
    counts = np.bincount(answered, minlength=int(groups.identity.max(initial=0)) + 1)
    both = np.minimum(groups.times, counts[groups.identity])
    return np.bincount(groups.gold_index, weights=both, minlength=gold_count).astype(np.int64)


def _stable_order(values: Ints, above: int) -> Ints:
    """Return the stable order of the values; numpy sorts 16-bit numbers by radix."""
    narrow = values.astype(np.uint16) if above <= 1 << 16 else values
    return np.argsort(narrow, kind="stable")


def _steps(hits: Hits, gold_count: int) -> Iterator[tuple[Ints, Ints, Codes]]:
    """Yield (gold index, place, mask) of all first hits, then of all second hits, and so on."""
    step = within(hits.gold_index, np.bincount(hits.gold_index, minlength=gold_count))
    sizes = np.bincount(step)
    order = _stable_order(step, len(sizes))
    gold_index, place, mask = hits.gold_index[order], hits.place[order], hits.mask[order]
    stop = 0
    for size in sizes.tolist():
        start, stop = stop, stop + size
        yield gold_index[start:stop], place[start:stop], mask[start:stop]
