"""Wordings of passages and queries that cannot be evaluated, in several languages.

Each function returns the place of the wording in the text, or -1.
"""

from __future__ import annotations

import re
from typing import Final

from ragstone.core import limits


def _any_of(*patterns: str) -> re.Pattern[str]:
    """Return one pattern of the alternatives of all languages."""
    return re.compile("|".join(patterns), re.IGNORECASE)


_PLACEHOLDER: Final = _any_of(
    # English
    r"lorem ipsum|page (?:was |is )?not found|not found \(?404|404 (?:error|not found|page)",
    r"error 404|no content(?: available)?\b|content (?:is )?(?:not |un)available",
    r"(?:text|content) goes here|insert (?:text|content) here|under construction|coming soon",
    r"access (?:is )?denied|enable javascript|placeholder text|to be (?:added|written|completed)",
    # Italian, French, German, Spanish
    r"pagina non trovata|nessun contenuto|contenuto non disponibile|in costruzione|da completare",
    r"page introuvable|aucun contenu|seite nicht gefunden|kein inhalt|página no encontrada",
    # Chinese
    r"页面不存在|页面未找到|找不到(?:该|此)?(?:页面|网页)|暂无(?:内容|数据)|没有内容|内容不存在",
    r"建设中|待补充|此处(?:填写|插入)",
    # Japanese
    r"ページ(?:が|は)(?:見つかりません|存在しません)|(?:内容|コンテンツ)がありません|工事中|準備中",
    # Arabic
    r"الصفحة غير موجودة|لم يتم العثور على الصفحة|لا يوجد محتوى|المحتوى غير متاح",
    r"قيد الإنشاء|سيضاف لاحقا",
)
_PLACEHOLDER_WHOLE: Final = _any_of(
    r"[\W_]*(?:todo|tbd|tba|fixme|xxx+|n/?a|null|nil|none|nan|undefined|unknown|empty|test|text"
    r"|placeholder|deleted|removed|待定|无|空|占位符?|测试|未定|なし|テスト|قريبا|اختبار|prova|vuoto)?[\W_]*",
    r"[\W_]*(?:todo|tbd|fixme)\b\W[^\n]{0,80}",
)
_LOREM: Final = re.compile(r"\W*lorem ipsum dolor", re.IGNORECASE)


def placeholder(text: str) -> int:
    """Find a text that replaces a content: "TODO", "page not found", "lorem ipsum".

    >>> placeholder("404 - Page not found"), placeholder("TODO"), placeholder("Who?")
    (6, 0, -1)
    """
    if _LOREM.match(text):
        return 0
    if len(text) > limits.PLACEHOLDER_CHARACTERS or not text.strip():
        return -1
    if _PLACEHOLDER_WHOLE.fullmatch(text):
        return 0
    found = _PLACEHOLDER.search(text)
    return found.start() if found else -1


_NOUN: Final = r"(?:passage|paragraph|text|article|excerpt|document|snippet|context|abstract)"
_ENDS: Final = r"(?=\W*$|[,،?؟])"
_POINTS: Final = _any_of(
    # English
    rf"\b(?:the|this) (?:\w+ )?{_NOUN}s? (?:\w+ )?(?:above|below)\b|\babove (?:\w+ )?{_NOUN}\b",
    rf"\b(?:according to|based on|as (?:stated|described|mentioned) in|(?:mentioned|described"
    rf"|stated|discussed|referred to|given|provided) (?:in|by)|from|in|of) (?:the|this)"
    rf" (?:given |provided |above |following )?{_NOUN}(?={_ENDS}"
    rf"| (?:what|which|who|how|when|where|why|is|are|does|did)\b)",
    r"\b(?:does|do|did) (?:the|this) (?:passage|paragraph|text|article|excerpt|snippet|author)\b",
    r"\b(?:this|the given|the provided) (?:passage|paragraph|excerpt|snippet)\b",
    # Chinese
    r"(?:上述|以上|上面的?|这段|这篇|该段|本段|下面的?|下列|给定的?)(?:的)?(?:文章|文字|文本|段落|短文|内容|材料|文中|话)",
    r"(?:根据|按照|依据)(?:本|上|该|此|这|短|原)?文(?!化|艺|献|物|明|件|学|字|森)",
    r"^(?:上文|文中|本文|文章中|短文中)|(?:上文|文中)(?:提到|所述|说)",
    # Japanese
    r"上記の?(?:文章|文|記事|段落|テキスト)?|この(?:文章|段落|記事|テキスト|本文)|下記の",
    r"本文(?:によると|では|に書かれ)",
    # Arabic
    r"(?:النص|المقطع|الفقرة|المقال|المقالة|القطعة) (?:أعلاه|السابقة?|التالية?|المذكورة?|أدناه)",
    r"(?:هذا|هذه) (?:النص|المقطع|الفقرة|المقال|المقالة|القطعة)",
    r"(?:وفقا|وفقًا|طبقا) (?:للنص|للمقطع|للفقرة|للمقال)",
    rf"(?:حسب|بحسب|في) ?(?:النص|المقطع|الفقرة|المقالة?){_ENDS}",
    # Italian
    r"(?:secondo|in base a|nel|nella|del|dal) ?(?:il |al |l')?(?:questo |suddetto )?(?:testo|brano"
    rf"|passaggio|paragrafo|passo|articolo)(?: (?:sopra|precedente|seguente|qui))?{_ENDS}",
    r"(?:testo|brano|passaggio|paragrafo) (?:sopra|precedente|riportato)",
    r"(?:questo|suddetto) (?:testo|brano|passaggio|paragrafo)",
    # French, German, Spanish
    r"(?:selon|d'après) (?:le|ce|cet) (?:texte|passage|article)",
    r"(?:laut|gemäß|nach) (?:dem|diesem) (?:text|abschnitt)",
    r"según (?:el|este) (?:texto|pasaje|artículo)",
)


def pointing(text: str) -> int:
    """Find a mention of a passage that a system does not see beside the query.

    >>> pointing("What is the main idea of the passage above?")
    25
    >>> pointing("Who wrote the passage to India?")
    -1
    """
    found = _POINTS.search(text)
    return found.start() if found else -1


_OPENING: Final = (
    r"^\W*(?:(?:and|but|so|also|then|what|when|where|why|who|whom|whose|which|how|much|many|long|far"
    r"|old|often|did|do|does|is|are|was|were|has|have|had|can|could|will|would|should|may|might|to"
    r"|for|from|in|on|at|of|with|by|about|else|kind|type|year|day|date|month|name|country|city|place"
    r"|time|reason|other|the|s)\W+)*?"
)
_NOT_REFERRED: Final = (
    r"(?!year|month|week|day|century|season|decade|time|world|country|be\b|is\b|are\b|was\b|were\b"
    r"|the\b|a\b|you\b|i\b|we\b|there\b)"
)
_THIS_ZH: Final = r"(?:他们?|她们?|它们?|该|此(?!外)|[这那](?:个|些|种|位|座|部|本|项))"
_OPENING_IT: Final = (
    r"^\W*(?:(?:e|ma|quando|dove|perché|chi|che|cosa|come|quanto|quanti|quale|è|era|ha|hanno|sono"
    r"|in|di|a)\W+)*"
)
_OPENING_AR: Final = (
    r"^\W*(?:(?:من|ما|ماذا|متى|أين|كيف|لماذا|هل|كم|أي|في|منذ|و|كان|كانت|تم|عن|إلى)\W+)*"
)
_UNRESOLVED: Final = _any_of(
    # English
    _OPENING + r"(?:(?P<who>he|she|him|them|her|his|their|its)\b(?!\W*s\b)"
    r"|(?:it(?!'s)|they)(?=\W*$|\W+(?:\w+\W+){1,2}$)|(?:this|that|these|those)(?=\W*$)"
    rf"|(?:this|these|those|that|such) {_NOT_REFERRED}\w+)",
    r"^\W*(?:what|how) about\b|^\W*(?:and|but) (?:what|who|when|where|why|how|which|in|for)\b",
    r"^\W*(?:why|why not|which one|which ones|when|where|how so|who else|what else)\W*$",
    r"^\W*(?:who|what|when|where|why|how)\W+\w+\W+(?:this|these|those)\W+\w+\W*$",
    r"^\W*who\W+\w+\W+that\W+\w+\W*$",
    # Chinese, if no kana follow
    r"^谁是(?:他|她|它)们?的",
    rf"^(?!.*[\u3040-\u30ff])(?:\W|什么时候|何时|为什么|为何|在哪里|哪里|谁|怎么|如何|请问|那么?)*{_THIS_ZH}",
    # Japanese
    r"^(?=.*[\u3040-\u30ff])(?:\W|いつ|なぜ|どこで|どうして|では|じゃあ)*(?:彼(?!岸)女?ら?|それ(?!ぞれ)|これ|あれ|その(?!他|女)|この|あの|同氏)",
    # Arabic
    _OPENING_AR + r"(?:هذا|هذه|ذلك|تلك|هؤلاء|أولئك)\b",
    r"^\W*(?:(?:متى|أين|كيف|لماذا|ماذا|هل)\W+)(?:\w+\W+)?(?:هو|هي|هم)\W*$",
    r"^\W*(?:من|ما|متى|أين|كيف|لماذا|كم)\W+\w+\W+(?:هذا|هذه|ذلك|تلك|هؤلاء)(?:\W+\w+)?\W*$",
    r"^\W*(?:من|ما) (?:هو|هي|هم)\W*$|^\W*(?:وماذا|ماذا) عن\b",
    # Italian
    _OPENING_IT
    + r"(?:egli|lui|lei|loro|esso|essa|essi|quest[oaie]|quell[oaie])\b(?! anno| secolo)",
    r"^\W*(?:quando|dove|come|perché)\W+(?:\w+\W+){1,3}(?:lui|lei|loro|esso|essa)\W*$",
    r"^\W*e (?:chi|quando|dove|perché|cosa|come)\b",
)


def unresolved(text: str) -> int:
    """Find a reference to something that a stand-alone query does not name.

    >>> unresolved("When was he born?"), unresolved("When was Bo born, and does he sing?")
    (9, -1)
    """
    found = _UNRESOLVED.search(text)
    if not found:
        return -1
    return found.start("who") if found["who"] else found.start()


_JUNK_WHOLE: Final = _any_of(
    r"[\W\d_]*",
    r"\W*(?:test(?:ing)?(?: ?(?:query|question|\d+|test))*|foo(?: ?bar)?|bla+h?(?: bla+h?)*|asdf\w*"
    r"|qwert\w*|xxx+|todo|tbd|n/?a|null|none|undefined|dummy|测试(?:问题|\d+)?|テスト|اختبار"
    r"|prova(?: prova)*|شسي\w*)\W*",
)
_ONE_AGAIN: Final = re.compile(r"(.)\1{4,}|\b(\w{2,})(?:\W+\2\b){2,}|(\w{2,4})\3{2,}")
_NO_VOWEL: Final = re.compile(r"[bcdfghjklmnpqrstvwxz]{6,}", re.IGNORECASE)
_ROWS: Final = ("qwertyuiop", "asdfghjkl", "zxcvbnm", "شسيبلاتنمك", "ضصثقفغعهخح")
_LEAST_MASHED: Final = 5


def junk(text: str) -> int:
    """Find a query that asks nothing: signs, a test, a repeated letter, keys side by side.

    >>> junk("???"), junk("asdfgh jkl"), junk("aaaaaaa"), junk("capital of Peru")
    (0, 0, 0, -1)
    """
    words = text.split()
    whole = _JUNK_WHOLE.fullmatch(text) or all(map(_is_mashed, words))
    again = _ONE_AGAIN.match(text.strip())
    return 0 if whole or (again and 2 * len(again.group()) > len(text.strip())) else -1


def _is_mashed(word: str) -> bool:
    """Return whether the letters of a word are side by side on a keyboard, or have no vowel."""
    plain = word.lower().strip(".,?!")
    if len(plain) < _LEAST_MASHED:
        return any(len(plain) > 2 and plain in row for row in _ROWS)  # noqa: PLR2004 - "we"
    pairs = [plain[place : place + 2] for place in range(len(plain) - 1)]
    beside = sum(any(p in row or p[::-1] in row for row in _ROWS) for p in pairs)
    return 4 * beside >= 3 * len(pairs) or bool(_NO_VOWEL.fullmatch(plain)) or len(set(plain)) == 1
