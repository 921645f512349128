"""Numbers in Chinese characters, as mainland speakers say them."""

from __future__ import annotations

DIGITS = "零一二三四五六七八九"
_PLACES = ("", "十", "百", "千")
LONGEST = 16
"""Digits of the largest number that is read as one; longer ones are read digit by digit."""


def cardinal(number: str) -> str:
    """``1,005.20`` → 一千零五点二零. Zeros in front, and more than 16 digits, are read one by one."""
    whole, _, part = number.replace(",", "").partition(".")
    spoken = digits(whole) if len(whole) > LONGEST or (len(whole) > 1 and whole[0] == "0") else _whole(int(whole))
    return spoken + ("点" + digits(part) if part else "")


def digits(number: str, *, one: str = "一") -> str:
    """Each digit by itself; in phone numbers one is 幺."""
    return "".join(one if digit == "1" else DIGITS[int(digit)] for digit in number)


def _whole(number: int) -> str:
    if number == 0:
        return DIGITS[0]
    spoken = _scaled(number)
    if spoken.startswith("一十"):
        return spoken[1:]
    return "两" + spoken[1:] if spoken[:2] in {"二千", "二万", "二亿"} else spoken


def _scaled(number: int) -> str:
    for scale, name in ((10**8, "亿"), (10**4, "万")):
        if number >= scale:
            high, low = divmod(number, scale)
            gap = "零" if low and low < scale // 10 else ""
            return _scaled(high) + name + gap + (_scaled(low) if low else "")
    return _below_ten_thousand(number)


def _below_ten_thousand(number: int) -> str:
    spoken, gap = "", False
    for place in (3, 2, 1, 0):
        digit = number // 10**place % 10
        if digit:
            spoken += ("零" if gap and spoken else "") + DIGITS[digit] + _PLACES[place]
            gap = False
        else:
            gap = True
    return spoken
