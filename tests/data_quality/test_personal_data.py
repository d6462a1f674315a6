"""Personal data are found if their check digits are right, and masked."""

from __future__ import annotations

import pytest

from ragstone.data_quality.personal_data import all_masked, masked


@pytest.mark.parametrize(
    ("kind", "text"),
    [
        ("email", "Write to ann.lee+x@mail.example.co.uk, please"),
        ("phone", "+49 30 1234 5678"),
        ("phone", "(212) 555-0123"),
        ("phone", "电话13812345678。"),
        ("phone", "03-1234-5678"),
        ("phone", "+\u0669\u0666\u0666 \u0661\u0662 \u0661\u0662\u0663 \u0664\u0666\u0666\u0667"),
        ("card", "4111 1111 1111 1111"),
        ("card", "378282246310005"),
        ("identity", "123-45-6789"),
        ("identity", "身份证号11010519491231002X。"),
        ("identity", "RSSMRA85T10A562S"),
        ("identity", "DE89 3704 0044 0532 0130 00"),
        ("identity", "12345678Z"),
    ],
)
def test_personal_data_are_masked(kind: str, text: str) -> None:
    """In several countries and scripts; a second run finds nothing."""
    found = masked(text, kind)

    assert f"[{kind}]" in found
    assert all_masked(found) == found


@pytest.mark.parametrize(
    "text",
    [
        "4111 1111 1111 1112",
        "from 1914-1918 to 2020-01-05",
        "ISBN 978-3-16-148410-0",
        "11010519491231002Y",
        "000-12-3456",
        "price 1,234,567.89",
        "3500 3500 3500",
        "version 1.2.3.4 on 192.168.100.200",
    ],
)
def test_other_numbers_stay(text: str) -> None:
    """Wrong check digits, dates, book numbers and addresses of computers."""
    assert all_masked(text) == text
