"""Chinese as it is read aloud: every figure becomes characters, because not every voice knows how to read one.

The rules run in the order of :data:`_RULES`; the last but one takes what numbers are left.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from vanling.dialogue.spoken.hanzi import cardinal, digits
from vanling.dialogue.spoken.patterns import (
    CITATION,
    DOMAIN,
    FRACTIONS,
    LONG_DIGITS,
    MAIL,
    MINUS,
    NUMBER,
    PHONE,
    SIGNED,
    TIME,
    URL,
    VERSION,
    YEAR_FIRST,
    groups,
    is_date,
    is_phone,
    trailing,
)

_Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

_UNITS = {
    **{"km/h": "公里每小时", "km/s": "公里每秒", "m/s": "米每秒", "mph": "英里每小时", "Mbps": "兆比特每秒"},
    **{"km²": "平方公里", "m²": "平方米", "cm²": "平方厘米", "m³": "立方米", "cm³": "立方厘米"},
    **{"km": "公里", "cm": "厘米", "mm": "毫米", "nm": "纳米", "m": "米", "kg": "公斤", "mg": "毫克", "g": "克"},
    **{"ml": "毫升", "mL": "毫升", "L": "升", "l": "升", "ms": "毫秒", "s": "秒", "min": "分钟", "h": "小时"},
    **{"kWh": "千瓦时", "kW": "千瓦", "W": "瓦", "V": "伏", "mAh": "毫安时", "GHz": "吉赫兹", "MHz": "兆赫兹"},
    **{"kHz": "千赫兹", "Hz": "赫兹", "dB": "分贝", "hPa": "百帕", "KB": "千字节", "MB": "兆字节", "GB": "吉字节"},
    **{"TB": "太字节", "kcal": "千卡", "lb": "磅", "lbs": "磅", "oz": "盎司", "ft": "英尺", "mi": "英里"},
}
_MONEY = {
    **{"$": "美元", "US$": "美元", "€": "欧元", "£": "英镑", "¥": "元", "￥": "元", "₩": "韩元", "HK$": "港元"},
    **{"USD": "美元", "EUR": "欧元", "GBP": "英镑", "CNY": "元", "RMB": "元", "JPY": "日元"},
}
_TEMPERATURE = r"(°C|℃|ºC|°F|℉|ºF|°|摄氏度|华氏度|度)"
_TWO = "个位只次天本张块斤公斤周年月岁种条件份台辆场遍杯碗瓶双层家口头匹把项句页段步趟群对倍米元小时分钟点"
"""Measure words that take 两 for two."""


def chinese(text: str) -> str:
    """The sentence in characters; Latin words stay as they are."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return text.strip()


def _signs(text: str) -> str:
    for sign, word in {".": "点", "/": "斜杠", "-": "杠", "_": "下划线", "@": "艾特"}.items():
        text = text.replace(sign, word)
    return text


def _url(match: re.Match[str]) -> str:
    bare, marks = trailing(match[1] + match[2] + match[3])
    host, _, path = bare.split("?")[0].split("#")[0].partition("/")
    path = path.rstrip("/")
    return _signs(host.removeprefix("www.")) + ("斜杠" + _signs(path) if path and len(path) <= 30 else "") + marks


def _date(match: re.Match[str]) -> str:
    month, day = int(match[3]), int(match[4])
    if not is_date(month, day):
        return match[0]
    return f"{digits(match[1])}年{cardinal(str(month))}月{cardinal(str(day))}日"


def _year(match: re.Match[str]) -> str:
    return digits(match[1]) + match[2]


def _phone(match: re.Match[str]) -> str:
    if not is_phone(match):
        return match[0]
    plus = "加" if match[0].startswith("+") else ""
    return plus + "，".join(digits(group, one="幺") for group in groups(match[0]))


def _long_digits(match: re.Match[str]) -> str:
    number = match[1]
    if number.startswith("0") and len(number) < 7:
        return digits(number)
    return ("加" if number[0] == "+" else "") + digits(number.lstrip("+"), one="幺")


def _version(match: re.Match[str]) -> str:
    return "点".join(cardinal(part) for part in match[1].split("."))


def _time(match: re.Match[str]) -> str:
    hour, minute, second, half = int(match[1]), int(match[2]), match[3], match[4]
    if hour > 24 or minute > 59:
        return match[0].replace(":", "比")
    before = ""
    if half:
        before = "上午" if half in "aA" else "下午" if hour == 12 or hour < 6 else "晚上"
    spoken = _hour(hour)
    if minute or second:
        spoken += ("零" if 0 < minute < 10 else "") + cardinal(str(minute)) + "分"
    if second:
        spoken += cardinal(str(int(second))) + "秒"
    return before + spoken


def _hour(hour: int) -> str:
    return ("两" if hour == 2 else cardinal(str(hour))) + "点"


def _hour_half(match: re.Match[str]) -> str:
    hour = int(match[1])
    before = "上午" if match[2] in "aA" else "下午" if hour == 12 or hour < 6 else "晚上"
    return before + _hour(hour)


def _amount(number: str) -> str:
    """Of money: ``1,000.00`` is a round thousand."""
    whole, _, part = number.partition(".")
    return cardinal(number if part.strip("0") else whole)


def _money_before(match: re.Match[str]) -> str:
    scale = {"k": "千", "K": "千", "M": "百万", "B": "十亿"}.get(match[3] or "", match[3] or "")
    return _two(_amount(match[2]) + scale) + _MONEY[match[1]]


def _money_behind(match: re.Match[str]) -> str:
    return _two(_amount(match[1])) + _MONEY.get(match[2], match[2])


def _two(spoken: str) -> str:
    return "两" if spoken == "二" else spoken


def _percent(match: re.Match[str]) -> str:
    return ("负" if match[1] else "") + ("千" if match[3] == "‰" else "百") + "分之" + cardinal(match[2])


def _degrees(match: re.Match[str]) -> str:
    scale = (
        "摄氏度" if "C" in match[3] or match[3] == "℃" else "华氏度" if "F" in match[3] or match[3] == "℉" else match[3]
    )
    return ("零下" if match[1] else "") + cardinal(match[2]) + scale.replace("°", "度")


def _measured(match: re.Match[str]) -> str:
    return _two(cardinal(match[1])) + _UNITS[match[2]]


def _fraction(match: re.Match[str]) -> str:
    return f"{cardinal(match[2])}分之{cardinal(match[1])}"


def _vulgar(match: re.Match[str]) -> str:
    upper, lower = FRACTIONS[match[2]]
    whole = cardinal(match[1]) + "又" if match[1] else ""
    return f"{whole}{cardinal(str(lower))}分之{cardinal(str(upper))}"


def _number(match: re.Match[str]) -> str:
    spoken = cardinal(match[0])
    following = match.string[match.end() : match.end() + 3].lstrip()
    before = match.string[: match.start()].rstrip()[-1:]
    counted = following[:1] in _TWO and following[:1] and following[:2] not in {"月份"} and following[:1] != "月"
    return "两" if spoken == "二" and counted and before != "第" else spoken


_N = f"({NUMBER})"
_UNIT_NAMES = "|".join(re.escape(name) for name in sorted(_UNITS, key=len, reverse=True))
_SIGNS_BEFORE = "|".join(re.escape(sign) for sign in sorted(_MONEY, key=len, reverse=True) if not sign.isalpha())
_NAMES_BEHIND = "|".join(re.escape(sign) for sign in _MONEY if sign not in {"¥", "￥"})

_RULES: tuple[_Rule, ...] = (
    (CITATION, ""),
    (re.compile(r"^(\d{1,2})[.．] ?(?!\d)"), r"\1、"),
    (MAIL, lambda match: _signs(match[0])),
    (URL, _url),
    (DOMAIN, lambda match: _signs(match[1])),
    (YEAR_FIRST, _date),
    (re.compile(r"(?<!\d)(\d{4})(年(?!前|后|内|间|以))"), _year),
    (PHONE, _phone),
    (LONG_DIGITS, _long_digits),
    (re.compile(r"(?:版本 ?)?(?<![A-Za-z])[vV](?=\d)"), "版本"),
    (VERSION, _version),
    (TIME, _time),
    (re.compile(r"(?<!\d)(\d{1,2}) ?([AaPp])\.?[Mm]\b\.?"), _hour_half),
    (re.compile(r"(?<!\d)(\d{1,3})[:：](\d{1,3})(?!\d)"), r"\1比\2"),
    (re.compile(rf"(?:(?<![A-Za-z0-9)])({MINUS}) ?)?{_N} ?([%‰])"), _percent),
    (re.compile(rf"(?:(?<![A-Za-z0-9)])({MINUS}) ?)?{_N} ?{_TEMPERATURE}"), _degrees),
    (SIGNED, "负"),
    (re.compile(rf"({_SIGNS_BEFORE}) ?{_N} ?([kKMB]\b|[万亿千])?"), _money_before),
    (re.compile(rf"{_N} ?({_NAMES_BEHIND}|元|美元|欧元|英镑)(?![A-Za-z])"), _money_behind),
    (re.compile(r"(?<![\d/.])(\d{1,3})/(\d{1,3})(?![\d/]|\.\d)"), _fraction),
    (re.compile(rf"(?:(\d+) ?)?([{''.join(FRACTIONS)}])"), _vulgar),
    (re.compile(rf"(?<=\d) {MINUS} (?=\d+(?:\.\d+)? ?=)"), "减"),
    (
        re.compile(
            rf"(?<=[\d度一二三四五六七八九十百千万零]) ?(?:{MINUS}|~|～) ?(?=\d|百分之|零下|[一二三四五六七八九十百])"
        ),
        "到",
    ),
    (re.compile(rf"{_N} ?({_UNIT_NAMES})(?![A-Za-z²³/])"), _measured),
    (re.compile(r"(?<=\d) ?[×*xX] ?(?=\d)"), "乘"),
    (re.compile(r"(?<=\d) ?÷ ?(?=\d)"), "除以"),
    (re.compile(r"(?<=\d) ?\+ ?(?=\d)"), "加"),
    (re.compile(r"(?<=\w) ?= ?(?=\w)"), "等于"),
    (re.compile(r" ?± ?"), "正负"),
    (re.compile(r" ?≈ ?|(?<![\w~])~(?=\d)"), "约"),
    (re.compile(r" ?≥ ?"), "大于等于"),
    (re.compile(r" ?≤ ?"), "小于等于"),
    (re.compile(r"(?<=\w) ?< ?(?=\w)"), "小于"),
    (re.compile(r"(?<=\w) ?> ?(?=\w)"), "大于"),
    (re.compile(r"(?<![\w#])#(?=\d)"), "第"),
    (re.compile(r"\s*(?:→|⇒|->|=>)\s*"), "，"),
    (re.compile(r" ?& ?"), "和"),
    (re.compile(NUMBER), _number),
    (re.compile(r"[*_\\|^{}<>~`]+"), ""),
    (re.compile(r"(?<=[\u4e00-\u9fff]) (?=[\u4e00-\u9fff])"), ""),
)
