"""The passages of a corpus that a test set can use."""

from __future__ import annotations

import pytest
from tests.conftest import SharedData

from ragstone.building.passages import is_table_or_code, usable
from ragstone.data.load import load_dataset

THAI = (
    "กรุงเทพมหานครเป็นเมืองหลวงของประเทศไทย ก่อตั้งเมื่อ พ.ศ. 2325 "
    "มีประชากรประมาณ 5,494,932 คน ในปี พ.ศ. 2565 และเป็นเมืองที่ใหญ่ที่สุด"
)
CHINESE = "该镇在1850年有3200人。十年之后有4100人。到1900年又有6000人居住在这里。"


@pytest.mark.parametrize("text", [THAI, CHINESE])
def test_prose_without_spaces_is_not_a_table(text: str) -> None:
    """Numbers and short lines are counted against characters in scripts without spaces."""
    assert not is_table_or_code(text)


@pytest.mark.parametrize(
    "text",
    [
        "年份\n2001\n2002\n2003\n人口\n32",
        "for (i = 0; i < n; i++) { 合计 += x[i]; }",
        "Year\n2001\n2002\n2003\nTotal",
    ],
)
def test_tables_and_code_are_refused(text: str) -> None:
    """Cells on lines of their own and code are found in any script."""
    assert is_table_or_code(text)


@pytest.mark.parametrize("name", ["jsquad/jsquad-valid-v1.3.json.gz", "xquad/xquad.zh.json.gz"])
def test_published_paragraphs_are_usable(name: str, shared_data: SharedData) -> None:
    """Paragraphs of JSQuAD and of XQuAD in Chinese are prose."""
    corpus = load_dataset(shared_data(name)).corpus
    assert usable(corpus, in_language="any").refused == {}
