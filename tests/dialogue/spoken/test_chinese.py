"""Chinese read aloud (pains P33, P34, P36): no figure is left to a voice that may not know it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vanling.dialogue.spoken.form import spoken_form
from vanling.dialogue.spoken.hanzi import cardinal, digits

READ = [
    ("今天气温-1.2 °C。", "今天气温零下一点二摄氏度。"),
    ("今天40.0度，10℃", "今天四十点零度，十摄氏度"),
    ("价格1,000.00元", "价格一千元"),
    ("$500，$3.50，¥100，€5", "五百美元，三点五零美元，一百元，五欧元"),
    ("涨了25%，跌了-5%", "涨了百分之二十五，跌了负百分之五"),
    ("身高1.23米", "身高一点二三米"),
    ("时速100km/h，重5 kg", "时速一百公里每小时，重五公斤"),
    ("2025/01/01和2025-12-31", "二零二五年一月一日和二零二五年十二月三十一日"),
    ("2025年1月2日", "二零二五年一月二日"),
    ("20年前，1980年代", "二十年前，一九八零年代"),
    ("10:30am，14:30，10:05，2:00", "上午十点三十分，十四点三十分，十点零五分，两点"),
    ("1/3和½", "三分之一和二分之一"),
    ("电话13800138000", "电话幺三八零零幺三八零零零"),
    ("电话010-1234-5678", "电话零幺零，幺二三四，五六七八"),
    ("版本v1.2.3", "版本一点二点三"),
    ("192.168.1.1", "一百九十二点一百六十八点一点一"),
    ("网址https://example.com/a。", "网址example点com斜杠a。"),
    ("邮箱me@foo.org", "邮箱me艾特foo点org"),
    ("2个苹果，第2个，12个，2 小时", "两个苹果，第二个，十二个，两小时"),
    ("5-10个，3:2，5×3=15", "五到十个，三比二，五乘三等于十五"),
    ("1. 打开", "一、打开"),
    ("房间007", "房间零零七"),
    ("Windows 11很好", "Windows 十一很好"),
    ("没有数字。", "没有数字。"),
]


@pytest.mark.parametrize(("text", "spoken"), READ)
def test_reading(text: str, spoken: str) -> None:
    assert spoken_form(text, "zh") == spoken_form(text, "zh-CN") == spoken


def test_a_chinese_voice_reads_an_english_sentence_in_english() -> None:
    assert spoken_form("It is about 5 km.", "zh") == "It is about 5 kilometers."


@pytest.mark.parametrize(
    ("number", "spoken"),
    [
        *(("0", "零"), ("10", "十"), ("11", "十一"), ("20", "二十"), ("105", "一百零五"), ("110", "一百一十")),
        *(("1005", "一千零五"), ("1050", "一千零五十"), ("2000", "两千"), ("10010", "一万零一十"), ("20000", "两万")),
        *(("100010", "十万零一十"), ("1000000", "一百万"), ("100000000", "一亿"), ("100000001", "一亿零一")),
        *(("1,234.50", "一千二百三十四点五零"), ("007", "零零七"), ("1" * 17, "一" * 17)),
    ],
)
def test_numbers(number: str, spoken: str) -> None:
    assert cardinal(number) == spoken


@given(st.integers(0, 10**16 - 1))
def test_numbers_read_back(number: int) -> None:
    assert _value(cardinal(str(number))) == number


@given(st.text(alphabet="0123456789.,:/-+$%°两年月日点元个你", max_size=60))
def test_no_figure_is_left(text: str) -> None:
    assert not any("0" <= char <= "9" for char in spoken_form("好" + text, "zh"))


def test_digits_one_by_one() -> None:
    assert digits("2025") == "二零二五"
    assert digits("110", one="幺") == "幺幺零"


def _value(spoken: str) -> int:
    """The number that a listener understands."""
    total = section = digit = 0
    for char in spoken:
        if char in "十百千":
            section += (digit or 1) * {"十": 10, "百": 100, "千": 1_000}[char]
            digit = 0
        elif char == "万":
            section, digit = (section + digit) * 10_000, 0
            total, section = total + section, 0
        elif char == "亿":
            total, section, digit = (total + section + digit) * 10**8, 0, 0
        else:
            digit = 2 if char == "两" else "零一二三四五六七八九".index(char)
    return total + section + digit
