"""Units and money in English: what stands behind (or before) a number, in words that agree with it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator

from vanling.dialogue.spoken.patterns import NUMBER

_Rule = tuple[re.Pattern[str], Callable[[re.Match[str]], str]]

_UNITS = {
    "°C": "degree Celsius",
    "℃": "degree Celsius",
    "ºC": "degree Celsius",
    "°F": "degree Fahrenheit",
    "℉": "degree Fahrenheit",
    "ºF": "degree Fahrenheit",
    "°": "degree",
    "%": "percent",
    "‰": "per mille",
    "km/h": "kilometer per hour",
    "kph": "kilometer per hour",
    "km/s": "kilometer per second",
    "m/s²": "meter per second squared",
    "m/s": "meter per second",
    "mph": "mile per hour",
    "Mbps": "megabit per second",
    "Gbps": "gigabit per second",
    "kbps": "kilobit per second",
    "MB/s": "megabyte per second",
    "g/L": "gram per liter",
    "mg/L": "milligram per liter",
    "g/cm³": "gram per cubic centimeter",
    "kg/m³": "kilogram per cubic meter",
    "km²": "square kilometer",
    "m²": "square meter",
    "cm²": "square centimeter",
    "m³": "cubic meter",
    "cm³": "cubic centimeter",
    "sq ft": "square foot",
    "km": "kilometer",
    "cm": "centimeter",
    "mm": "millimeter",
    "µm": "micrometer",
    "μm": "micrometer",
    "nm": "nanometer",
    "m": "meter",
    "mi": "mile",
    "ft": "foot",
    "yd": "yard",
    "kg": "kilogram",
    "mg": "milligram",
    "µg": "microgram",
    "μg": "microgram",
    "g": "gram",
    "lb": "pound",
    "lbs": "pound",
    "oz": "ounce",
    "ml": "milliliter",
    "mL": "milliliter",
    "l": "liter",
    "L": "liter",
    "ms": "millisecond",
    "s": "second",
    "sec": "second",
    "min": "minute",
    "mins": "minute",
    "h": "hour",
    "hr": "hour",
    "hrs": "hour",
    "kWh": "kilowatt hour",
    "Wh": "watt hour",
    "kW": "kilowatt",
    "MW": "megawatt",
    "W": "watt",
    "kV": "kilovolt",
    "V": "volt",
    "mAh": "milliamp hour",
    "mA": "milliamp",
    "GHz": "gigahertz",
    "MHz": "megahertz",
    "kHz": "kilohertz",
    "Hz": "hertz",
    "dB": "decibel",
    "hPa": "hectopascal",
    "kPa": "kilopascal",
    "KB": "kilobyte",
    "kB": "kilobyte",
    "MB": "megabyte",
    "GB": "gigabyte",
    "TB": "terabyte",
    "kcal": "kilocalorie",
    "cal": "calorie",
    "kJ": "kilojoule",
    "ppm": "part per million",
    "rpm": "revolution per minute",
    "K": "kelvin",
}
_UNCHANGED = frozenset(("percent", "per mille", "hertz", "gigahertz", "megahertz", "kilohertz"))
_MONEY = {
    "$": ("dollar", "cent"),
    "US$": ("dollar", "cent"),
    "€": ("euro", "cent"),
    "£": ("pound", "penny"),
    "¥": ("yen", ""),
    "￥": ("yuan", ""),
    "₹": ("rupee", ""),
    "₩": ("won", ""),
    "元": ("yuan", ""),
    "USD": ("dollar", "cent"),
    "EUR": ("euro", "cent"),
    "GBP": ("pound", "penny"),
    "CNY": ("yuan", ""),
    "RMB": ("yuan", ""),
    "JPY": ("yen", ""),
}
_SCALES = {
    "k": "thousand",
    "K": "thousand",
    "M": "million",
    "m": "million",
    "B": "billion",
    "bn": "billion",
    "T": "trillion",
}
_SAME = frozenset(("yen", "yuan", "won"))


def currency() -> Iterator[_Rule]:
    """``$3.50``, ``$1.5 million``, ``£2bn``, ``5 €``, ``100 USD``."""
    before = "|".join(re.escape(sign) for sign in sorted(_MONEY, key=len, reverse=True) if not sign.isalpha())
    scale = r"(?: ?(thousand|million|billion|trillion)\b|(bn|[kKMmBT])\b)?"
    yield re.compile(rf"({before}) ?({NUMBER}){scale}"), lambda match: _money(match[1], match[2], match[3] or match[4])
    behind = "|".join(re.escape(sign) for sign in _MONEY if sign != "US$")
    yield re.compile(rf"(?<![\w.])({NUMBER}) ?({behind})(?![\w])"), lambda match: _money(match[2], match[1], None)


def unit_rules() -> Iterator[_Rule]:
    names = "|".join(re.escape(name) for name in sorted(_UNITS, key=len, reverse=True))
    yield re.compile(rf"(?<![\w.])({NUMBER})(?: |-)?({names})(?![\w²³/])"), _measured
    yield re.compile(r"(?<!\w)(km/h|m/s|MB/s)(?!\w)|[°º][CF]\b|[℃℉]"), lambda match: _plural(_UNITS[match[0]])


def _measured(match: re.Match[str]) -> str:
    number, name = match[1], _UNITS[match[2]]
    if match[2] == "K" and "." not in number and len(number) < 3:
        return match[0]  # "5K" is a run or five thousand
    return f"{number} {name if number == '1' else _plural(name)}"


def _plural(name: str) -> str:
    if name in _UNCHANGED:
        return name
    head, per, tail = name.partition(" per ")
    for singular, plural in (("degree Celsius", "degrees Celsius"), ("degree Fahrenheit", "degrees Fahrenheit")):
        if head == singular:
            return plural
    head = head[:-4] + "feet" if head.endswith("foot") else head + "s"
    return head + per + tail


def _money(sign: str, number: str, scale: str | None) -> str:
    name, small = _MONEY[sign]
    many = name if name in _SAME else f"{name}s"
    if scale:
        return f"{number} {_SCALES.get(scale, scale)} {many}"
    whole, _, part = number.partition(".")
    if small and len(part) in {1, 2}:
        cents = int(part.ljust(2, "0"))
        coins = ("pence" if cents > 1 else "penny") if small == "penny" else f"{small}s" if cents > 1 else small
        money = f"{whole} {name if whole == '1' else many}"
        if not cents:
            return money
        return f"{cents} {coins}" if whole == "0" else f"{money} and {cents} {coins}"
    if part and not part.strip("0"):
        number = whole
    return f"{number} {name if number == '1' else many}"
