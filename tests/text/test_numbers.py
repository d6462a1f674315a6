# ruff: noqa: RUF001 - digits and signs of many scripts
"""Numbers, digits, signs of names, vowel marks and echoes in many scripts."""

from __future__ import annotations

import random
import string

import pytest
from tests.support import answer_value

from ragstone.components.metrics.answer_batch import AnswerBatch
from ragstone.components.metrics.k_precision import KPrecision
from ragstone.text import numbers as numbers_module
from ragstone.types import Context, ContextPassage

SAME = [
    # thousands marks, by shape and by language
    ("1,000", "1000", ""),
    ("1,234,567.5", "1234567.5", ""),
    ("1.234.567,5", "1234567.5", ""),
    ("1.234.567", "1234567", ""),
    ("1,00,000", "100000", "hi"),
    ("1'000", "1000", "de-CH"),
    ("1’000’000", "1000000", ""),
    ("1.000", "1000", "de"),
    ("1.000", "1000", "German"),
    ("1.500 Menschen", "1500 Menschen", "de"),
    ("12.500", "12500", "it"),
    ("1\u00a0000\u00a0000", "1000000", "fr"),
    ("1\u202f000", "1000", ""),
    ("1 000 km", "1000 km", "ru"),
    ("1,5", "1.5", "fr"),
    ("1,5", "1.5", ""),
    ("3,14159", "3.14159", "es"),
    (".5", "0.5", ""),
    # signs
    ("\u22125", "-5", ""),
    ("\u20135 °C", "-5 °C", ""),
    ("\u2212$5", "-$5", ""),
    ("+5", "5", ""),
    # percent, currency, units
    ("15 %", "15%", ""),
    ("15 percent", "15%", ""),
    ("15 Prozent", "15%", "de"),
    ("%15", "15%", "tr"),
    ("5 €", "€5", ""),
    ("1.5 million dollars", "$1.5 million", ""),
    ("US$5", "$5", ""),
    ("20 °C", "20°C", ""),
    ("20℃", "20 °C", ""),
    ("5km", "5 km", ""),
    ("3 m²", "3 m2", ""),
    # fractions and powers
    ("½", "1/2", ""),
    ("½", "0.5", ""),
    ("3½", "3.5", ""),
    ("3 1/2", "3.5", ""),
    ("⅓", "1/3", ""),
    ("2⅓", "2 1/3", ""),
    ("10²", "10^2", ""),
    ("10⁻³", "10^-3", ""),
    # decimal digits of Unicode
    ("٣٫٥", "3.5", "ar"),
    ("١٬٠٠٠", "1000", "ar"),
    ("١٥٪", "15%", "ar"),
    ("۱۲۳", "123", "fa"),
    ("१२३", "123", "hi"),
    ("১২৩", "123", "bn"),
    ("੧੨੩", "123", "pa"),
    ("૧૨૩", "123", "gu"),
    ("୧୨୩", "123", "or"),
    ("௧௨௩", "123", "ta"),
    ("౧౨౩", "123", "te"),
    ("೧೨೩", "123", "kn"),
    ("൧൨൩", "123", "ml"),
    ("๑๒๓", "123", "th"),
    ("໑໒໓", "123", "lo"),
    ("༡༢༣", "123", "bo"),
    ("၁၂၃", "123", "my"),
    ("១២៣", "123", "km"),
    ("᠑᠒᠓", "123", "mn"),
    ("１２３．５％", "123.5%", "ja"),
    ("𝟏𝟐𝟑", "123", ""),
    # optional vowel marks
    ("كِتَابٌ", "كتاب", "ar"),
    ("كـتـاب", "كتاب", "ar"),
    ("שָׁלוֹם", "שלום", "he"),
    # names
    ("F♯", "F#", ""),
    ("The C++ language.", "c++ language", ""),
]
DIFFERENT = [
    ("15 million", "1.5 million", ""),
    ("15", "1.5", ""),
    ("1.000", "1000", "en"),
    ("1,000", "1000", "de"),
    ("-5", "5", ""),
    ("5%", "5", ""),
    ("5%", "5‰", ""),
    ("$5", "€5", ""),
    ("$5", "5", ""),
    ("20 °C", "20 °F", ""),
    ("5 km", "5 m", ""),
    ("½", "12", ""),
    ("1½", "112", ""),
    ("1/2", "12", ""),
    ("10²", "102", ""),
    ("2-1", "21", ""),
    ("10:30", "1030", ""),
    ("1.2.3", "123", ""),
    ("C++", "C", ""),
    ("C#", "C", ""),
    ("C++", "C#", ""),
    ("A+", "A", ""),
    ("B♭", "B", ""),
    ("١٫٥ مليون", "١٥ مليون", "ar"),
    ("१.५ करोड़", "१५ करोड़", "hi"),
    ("๑.๕ ล้าน", "๑๕ ล้าน", "th"),
    ("１．５億", "１５億", "ja"),
    ("1.5万", "15万", "zh"),
    ("1,5 миллиона", "15 миллиона", "ru"),
    ("1,5 εκατ.", "15 εκατ.", "el"),
    ("1.5억", "15억", "ko"),
    ("1.5 მილიონი", "15 მილიონი", "ka"),
    ("1,5 միլիոն", "15 միլիոն", "hy"),
    ("1.5 מיליון", "15 מיליון", "he"),
]
CONTAINED = [
    ("It is 15% of all.", "15", 1.0),
    ("It is 1.5% of all.", "5%", 0.0),
    ("It is 1.5 million.", "5 million", 0.0),
    ("It cost 1,500 dollars.", "$1,500", 1.0),
    ("between 10-20 people", "20", 1.0),
    ("on 12.05.2020", "2020", 1.0),
    ("on 2020/1/2", "2020", 1.0),
    ("Covid-19 in 2020", "Covid", 1.0),
    ("It fell to -5.", "5", 0.0),
    ("It is written in C++.", "C", 0.0),
    ("It is written in C++17.", "C++17", 1.0),
    ("它有1.5万人", "5万", 0.0),
    ("它有15万人", "15万", 1.0),
    ("มี ๑๕ คน", "15", 1.0),
]
ECHOES = [
    # answer, query, gold answer, value
    ("Is it red or blue? Blue.", "Is it red or blue?", "red", 0.0),
    ("Is it red or blue? Red.", "Is it red or blue?", "red", 1.0),
    ("Well. Is it red or blue? Blue.", "Is it red or blue?", "red", 0.0),
    ("Q:\nIs it red or blue?\nBlue.", "Is it red or blue?", "red", 0.0),
    ("How the West Was Won", "How the West Was Won", "How the West Was Won", 1.0),
    ("the West Was Won.", "the West Was Won", "The West was won", 1.0),
    ("The film the king of France shows a king", "the king of France", "France", 1.0),
    ("the king of France is Louis", "the king of France", "France", 0.0),
    ("the king of Frances", "the king of France", "the king of Frances", 1.0),
    ("Кто открыл красную планету? Галилей.", "Кто открыл красную планету?", "планету", 0.0),
    ("من هو ملك فرنسا؟ لويس", "من هو ملك فرنسا؟", "فرنسا", 0.0),
    ("फ्रांस का राजा कौन है? लुई", "फ्रांस का राजा कौन है?", "फ्रांस", 0.0),
    ("答え： 赤 か 青 か？青。", "赤 か 青 か？", "赤", 1.0),
    ("赤 か 青 か？青。", "赤 か 青 か？", "赤", 0.0),
    ("はい。赤 か 青 か？青。", "赤 か 青 か？", "赤", 0.0),
    ("赤いですか、青いですか？青いです。", "赤いですか、青いですか？", "赤", 0.0),
    ("是红色还是蓝色？蓝色。", "是红色还是蓝色？", "红色", 0.0),
    ("是红色还是蓝色？蓝色。", "是红色还是蓝色？", "蓝色", 1.0),
    ("北京是首都。", "北京", "北京", 1.0),  # too short for an echo
    ("是红还是蓝？蓝。", "是红还是蓝？", "红", 0.0),  # six characters
    ("红还是蓝？蓝。", "红还是蓝？", "红", 1.0),
    ("Is it red? Blue.", "Is it red?", "red", 0.0),  # three words
    ("Red now? Blue.", "Red now?", "red", 1.0),
    ("เป็นสีแดงหรือสีน้ำเงิน สีน้ำเงิน", "เป็นสีแดงหรือสีน้ำเงิน", "สีแดง", 0.0),
    (
        "빨간색 인가요 아니면 파란색 인가요? 파란색",
        "빨간색 인가요 아니면 파란색 인가요?",
        "빨간색",
        0.0,
    ),
    ("האם זה אדום או כחול? כחול", "האם זה אדום או כחול?", "אדום", 0.0),
    ("Είναι κόκκινο ή μπλε; Μπλε.", "Είναι κόκκινο ή μπλε;", "κόκκινο", 0.0),
    ("এটা কি লাল না নীল? নীল", "এটা কি লাল না নীল?", "লাল", 0.0),
    ("ეს წითელია თუ ლურჯი? ლურჯი", "ეს წითელია თუ ლურჯი?", "წითელია", 0.0),
    ("Դա կարմիր է թե կապույտ։ Կապույտ", "Դա կարմիր է թե կապույտ։", "կարմիր", 0.0),
    ("அது சிவப்பு அல்லது நீலம்? நீலம்", "அது சிவப்பு அல்லது நீலம்?", "சிவப்பு", 0.0),
]


@pytest.mark.parametrize(("left", "right", "language"), SAME)
def test_spellings_of_one_number_are_equal(left: str, right: str, language: str) -> None:
    """Equal for EM, Match and F1, in both directions."""
    for answer, gold in ((left, right), (right, left)):
        found = [answer_value(m, answer, [gold], language=language) for m in ("EM", "Match", "F1")]
        assert found == [1.0, 1.0, 1.0]


@pytest.mark.parametrize(("left", "right", "language"), DIFFERENT)
def test_other_numbers_and_names_differ(left: str, right: str, language: str) -> None:
    """Neither equal nor of F1 1, in both directions."""
    for answer, gold in ((left, right), (right, left)):
        assert answer_value("EM", answer, [gold], language=language) == 0.0
        assert answer_value("F1", answer, [gold], language=language) < 1.0


@pytest.mark.parametrize(("answer", "gold", "value"), CONTAINED)
def test_a_number_is_found_whole(answer: str, gold: str, value: float) -> None:
    """A part of a number is not the number."""
    assert answer_value("Match", answer, [gold]) == value


@pytest.mark.parametrize(("answer", "query", "gold", "value"), ECHOES)
def test_echoes(answer: str, query: str, gold: str, value: float) -> None:
    """A leading or whole-sentence echo is cut, unless the answer equals a gold answer."""
    assert answer_value("Match", answer, [gold], query) == value


@pytest.mark.parametrize(
    ("answer", "passage", "value"),
    [
        ("Paris is big", "The city of Paris is old.", 2 / 3),
        ("1.5 million", "15 million people", 1 / 2),
        ("ताज महल दिल्ली", "ताज महल आगरा में है।", 2 / 3),
        ("कमल", "काम", 0.0),
        ("กรุง", "กรุงเทพ", 1.0),
        ("北京", "答案是北京市", 1.0),
        ("東京", "東の都", 1 / 2),
        ("서울", "서울은 수도다", 1.0),
        ("كِتَاب", "هذا كتاب", 1.0),
        ("МОСКВА!", "город москва", 1.0),
        ("१५", "15 लोग", 1.0),
    ],
)
def test_k_precision_reads_every_script(answer: str, passage: str, value: float) -> None:
    """The tokens are those of the other metrics: vowel signs belong to their word."""
    context = Context("q", "gold", (ContextPassage("p", passage, "gold"),))
    pairs = AnswerBatch([answer], [()], [""], [context], [""])

    assert KPrecision().values(pairs).tolist() == pytest.approx([value])


def test_k_precision_has_reasons() -> None:
    """No context, one without passages, and an answer of signs have no value; "" has 0."""
    shown = Context("q", "gold", (ContextPassage("p", "Paris.", "gold"),))
    cases = [
        ("Paris, Paris", shown),
        ("", shown),
        ("...", shown),
        ("x", Context("q", "none")),
        ("x", None),
    ]
    answers, contexts = zip(*cases, strict=True)
    pairs = AnswerBatch(answers, [()] * 5, [""] * 5, contexts, [""] * 5)

    found = KPrecision().inapplicable(pairs)

    absent = "no context was shown, or it is not known"
    assert found == {2: "the answer contains no word", 3: absent, 4: absent}
    assert KPrecision().values(pairs).tolist() == [1.0, 0.0, 0.0, 0.0, 0.0]


@pytest.mark.parametrize("language", ["", "de"])
def test_long_texts_are_as_short_ones(language: str) -> None:
    """The numbers of a long text are found by arrays; all neighbours of digits occur in it."""
    draw = random.Random(5)  # noqa: S311 - any texts
    signs = [*string.printable, "12", "1/2", " % ", " percent", " million dollars", "us$", "c++"]
    text = "".join(draw.choices([*signs, *string.digits * 5, *".,$% -" * 3], k=20_000)).lower()
    assert len(text) > numbers_module._LONG

    found = numbers_module.numbers(text, language)

    assert found == plain_numbers(text, language)


def plain_numbers(text: str, language: str) -> str:
    """Return the text with its numbers in one spelling, found by a search alone."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(numbers_module, "_LONG", len(text) + 1)
        return numbers_module.numbers(text, language)
