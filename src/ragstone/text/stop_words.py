"""Stop words: the most frequent words of a language, which a lexical search may ignore."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

_LISTS: Final = {
    # The 33 stop words of Lucene's English analyser, which Anserini uses.
    "english": """a an and are as at be but by for if in into is it no not of on or such that the
        their then there these they this to was will with""",
    # Articles, pronouns, prepositions, conjunctions and forms of "to be"; our own lists.
    "french": """à au aux avec ce ces cette dans de des du elle elles en est et eux il ils je la le
        les leur leurs lui ma mais me mes mon ne nos notre nous ont ou où par pas pour qu que qui sa
        se ses son sont sur ta te tes ton tu un une vos votre vous c d j l m n s t""",
    "german": """als am an auf aus bei bin bis das dass dem den der des die du durch ein eine einem
        einen einer eines er es für hat ich ihr im in ist ja mit nach nicht noch nur oder sich sie
        sind so über um und uns unter vom von vor war wie wir wird wo zu zum zur""",
    "italian": """a ad ai al alla alle anche che chi con da dai dal dalla dalle dei del della delle
        di e ed è gli ha hanno i il in io la le lo loro ma mi ne nei nel nella nelle noi non o per
        più se si sono su sua sue sui sul sulla suo tra tu un una uno voi c d l""",
    "portuguese": """a à ao aos as às até com como da das de dela dele do dos e é ela elas ele eles
        em entre era essa esse esta este eu foi há isso já lhe mais mas na não nas nem no nos nós o
        os ou para pela pelas pelo pelos por que quem são se sem ser seu seus só sua suas também te
        um uma""",
    "spanish": """a al como con cuando de del desde donde e el él ella ellas ellos en entre era es
        esta este esto fue ha han la las le les lo los más me mi muy ni no nos o para pero por que
        se ser si sin sobre son su sus también te tu u un una uno y ya yo""",
}

STOP_WORDS: Final[Mapping[str, frozenset[str]]] = {
    language: frozenset(text.split()) for language, text in _LISTS.items()
}
"""English name of a language -> stop words in lower case."""
