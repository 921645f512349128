"""English as it is read aloud. Plain numbers stay digits: every English voice reads ``1,000``, ``3.14`` and ``1st``.

The rules run in the order of :data:`_RULES`; what an earlier one has put into words no later one matches.
"""

from __future__ import annotations

import re
from collections.abc import Callable

from vanling.dialogue.spoken.english_units import currency, unit_rules
from vanling.dialogue.spoken.patterns import (
    CITATION,
    DOMAIN,
    FRACTIONS,
    LONG_DIGITS,
    MAIL,
    MINUS,
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

_MONTHS = (
    *("January", "February", "March", "April", "May", "June"),
    *("July", "August", "September", "October", "November", "December"),
)
_SHORT_MONTHS = {name[:3]: name for name in _MONTHS} | {"Sept": "September"}
_DECADES = dict(
    zip("123456789", "tens twenties thirties forties fifties sixties seventies eighties nineties".split(), strict=True)  # noqa: SIM905
)
_PARTS = {2: "half", 3: "third", 4: "quarter", 5: "fifth", 6: "sixth", 7: "seventh", 8: "eighth", 9: "ninth"}
_ROMAN = dict(zip("II III IV V VI VII VIII IX X XI XII XIII XIV XV XVI".split(), range(2, 17), strict=True))  # noqa: SIM905
_ADDRESS_SIGNS = {".": " dot ", "/": " slash ", "-": " dash ", "_": " underscore ", "+": " plus ", "@": " at "}


def english(text: str) -> str:
    """The sentence in words and plain numbers."""
    for pattern, replacement in _RULES:
        text = pattern.sub(replacement, text)
    return " ".join(text.split())


# --- addresses, phones, versions --------------------------------------------------------------------------------------


def _signs(text: str) -> str:
    return "".join(_ADDRESS_SIGNS.get(char, char) for char in text)


def _mail(match: re.Match[str]) -> str:
    return f" {_signs(match[1])} at {_signs(match[2])} "


def _url(match: re.Match[str]) -> str:
    """The host and a short path: nobody can follow more by ear."""
    bare, marks = trailing(match[1] + match[2] + match[3])
    host, _, path = bare.split("?")[0].split("#")[0].partition("/")
    path = path.rstrip("/")
    spoken = _signs(host.removeprefix("www."))
    return spoken + (" slash " + _signs(path) if path and len(path) <= 30 else "") + marks


def _domain(match: re.Match[str]) -> str:
    return match[1].replace(".", " dot ")


def _digits(number: str) -> str:
    return " ".join(number)


def _phone(match: re.Match[str]) -> str:
    if not is_phone(match):
        return match[0]
    return ("plus " if match[0].startswith("+") else "") + ", ".join(_digits(group) for group in groups(match[0]))


def _long_digits(match: re.Match[str]) -> str:
    number = match[1]
    if len(number) == 1:
        return number
    return ("plus " if number[0] == "+" else "") + _digits(number.lstrip("+"))


def _version(match: re.Match[str]) -> str:
    parts = match[1].split(".")
    ip = len(parts) == 4 and all(int(part) <= 255 for part in parts)
    head = "version " if match[0][0] in "vV" else ""
    return head + (" dot " if ip else " point ").join(parts)


# --- dates and times --------------------------------------------------------------------------------------------------


def _nth(day: int) -> str:
    ending = "th" if 10 <= day % 100 <= 20 else {1: "st", 2: "nd", 3: "rd"}.get(day % 10, "th")
    return f"{day}{ending}"


def _iso_date(match: re.Match[str]) -> str:
    month, day = int(match[3]), int(match[4])
    if not is_date(month, day):
        return match[0]
    after = " at " if match[0].endswith("T") else ""
    return f"{_MONTHS[month - 1]} {_nth(day)}, {match[1]}{after}"


def _us_date(match: re.Match[str]) -> str:
    """Month first, as in the United States; day first where it can be nothing else."""
    month, day = int(match[1]), int(match[2])
    if month > 12:
        month, day = day, month
    return f"{_MONTHS[month - 1]} {_nth(day)}, {match[3]}" if is_date(month, day) else match[0]


def _month_day(match: re.Match[str]) -> str:
    month = _SHORT_MONTHS.get(match[1], match[1])
    return f"{month} {_nth(int(match[2]))}" if 1 <= int(match[2]) <= 31 else f"{month} {match[2]}"


def _time(match: re.Match[str]) -> str:
    hour, minute, half = match[1], match[2], match[4]
    if int(hour) > 24 or int(minute) > 59:
        return match[0].replace(":", " to ")
    if match[3] is not None:
        return " ".join(str(int(part)) for part in (hour, minute, match[3]))
    hour = str(int(hour))
    words = hour if minute == "00" else f"{hour} oh {minute[1]}" if minute[0] == "0" else f"{hour} {minute}"
    if half:
        return f"{words} {half.lower()}.m."
    return f"{words} o'clock" if minute == "00" else words


def _hour(match: re.Match[str]) -> str:
    return f"{match[1]} {match[2].lower()}.m."


def _decade(match: re.Match[str]) -> str:
    century, decade = match[1], match[2]
    if decade == "0":
        return f"{century} hundreds" if century != "20" else "two thousands"
    return f"{century} {_DECADES[decade]}".strip()


# --- fractions and numerals -------------------------------------------------------------------------------------------


def _part(upper: int, lower: int) -> str:
    if lower not in _PARTS or not 0 < upper < lower:
        return f"{upper} out of {lower}" if lower in {10, 100} and upper <= lower else f"{upper} over {lower}"
    name = "halves" if lower == 2 and upper > 1 else _PARTS[lower] + ("s" if upper > 1 else "")
    return f"{'one' if upper == 1 else upper} {name}"


def _fraction(match: re.Match[str]) -> str:
    if match[0] in {"24/7", "9/11"}:
        return match[0].replace("/", " ")
    return _part(int(match[1]), int(match[2]))


def _vulgar(match: re.Match[str]) -> str:
    words = _part(*FRACTIONS[match[2]])
    if match[1]:
        return f"{match[1]} and {words.replace('one', 'a', 1)} "
    return f"{words} "


def _numbered(match: re.Match[str]) -> str:
    return f"{match[1]} {_ROMAN[match[2]]}"


def _ruler(match: re.Match[str]) -> str:
    return f"{match[1]} the {_nth(_ROMAN[match[2]])}"


_ROMANS = "|".join(sorted(_ROMAN, key=len, reverse=True))
_THINGS = "War|Chapter|Part|Volume|Book|Section|Phase|Level|Act|Type|Stage|Episode|Class|Bowl|Fantasy|Article|Grade"
_RULERS = (
    r"(?:King|Queen|Pope|Emperor|Empress|Tsar|Prince|Saint|Sultan) \w+|Elizabeth|Henry|Louis|Charles|John Paul|Benedict"
)

_RULES: tuple[_Rule, ...] = (
    (CITATION, ""),
    (MAIL, _mail),
    (URL, _url),
    (DOMAIN, _domain),
    (YEAR_FIRST, _iso_date),
    (re.compile(r"(?<![\d/.-])(\d{1,2})/(\d{1,2})/(\d{4})(?![\d/])"), _us_date),
    (re.compile(rf"\b({'|'.join([*_MONTHS, *_SHORT_MONTHS])})\.? (\d{{1,2}})\b(?![:.,]\d|%)"), _month_day),
    (PHONE, _phone),
    (LONG_DIGITS, _long_digits),
    (VERSION, _version),
    (re.compile(r"\b[vV](?=\d)"), "version "),
    (re.compile(r"(?<![\d:.])(\d{1,2}) ?([AaPp])\.?[Mm]\b(?:\.(?=\s+[a-z]))?"), _hour),
    (TIME, _time),
    (re.compile(r"(?<![\d:])(\d{1,3}):(\d{1,3})(?![\d:])"), r"\1 to \2"),
    (re.compile(r"(?<![\d.,])'?(\d{0,2})(\d)0s\b"), _decade),
    (re.compile(r"(\d+)'\s?(\d{1,2})(?:\"|'')"), r"\1 foot \2"),
    (SIGNED, "minus "),
    *currency(),
    (re.compile(r"(?<![\d/.])(\d{1,3})/(\d{1,3})(?![\d/]|\.\d)"), _fraction),
    (re.compile(rf"(?:(\d+) ?)?([{''.join(FRACTIONS)}])"), _vulgar),
    # "5 - 3" is a sum, "5-10" a range
    (re.compile(rf"(?<=\d) {MINUS} (?=\d+(?:\.\d+)? ?=)"), " minus "),
    (re.compile(rf"(?:(?<=[\d%°])|(?<=°[CF])) ?(?:{MINUS}|~|～) ?(?=[$€£]?\d)"), " to "),
    *unit_rules(),
    (re.compile(rf"\b({_THINGS}) ({_ROMANS})\b"), _numbered),
    (re.compile(rf"\b({_RULERS}) ({_ROMANS})\b"), _ruler),
    (re.compile(r"(?<![\w#])(?:#|№ ?|Nos?\. )(?=\d)"), "number "),
    (re.compile(r"\be\.g\.,?", re.IGNORECASE), "for example"),
    (re.compile(r"\bi\.e\.,?", re.IGNORECASE), "that is"),
    (re.compile(r"\betc\.(?=$|\s[A-Z])"), "et cetera."),
    (re.compile(r"\betc\b\.?"), "et cetera"),
    (re.compile(r"\bvs\b\.?"), "versus"),
    (re.compile(r"\bapprox\.", re.IGNORECASE), "approximately"),
    (re.compile(r"\bMr\b\.?"), "Mister"),
    (re.compile(r"\bMrs\b\.?"), "Missus"),
    (re.compile(r"\bDr\.? (?=[A-Z])"), "Doctor "),
    (re.compile(r"\bProf\. "), "Professor "),
    (re.compile(r"\band/or\b"), "and or"),
    (re.compile(r"(?<=[a-z])/(?=[a-z])"), " or "),
    (re.compile(r"(?<=\w) ?/ ?(?=\w)"), " "),
    (re.compile(r"²"), " squared"),
    (re.compile(r"³"), " cubed"),
    (re.compile(r" ?& ?"), " and "),
    (re.compile(r"(?<=\d)\*\*(?=\d)"), " to the power of "),
    (re.compile(r"(?<=\d) ?[×*] ?(?=\d)"), " times "),
    (re.compile(r"(?<=\d)[×x](?=$|[\s.,!?])"), " times"),
    (re.compile(r"(?<=\d)[×x](?=\d)"), " by "),
    (re.compile(r" ?÷ ?"), " divided by "),
    (re.compile(r" ?± ?"), " plus or minus "),
    (re.compile(r"(?<=\d) ?\+ ?(?=\d)|(?<=\w) \+ (?=\w)"), " plus "),
    (re.compile(r"(?<![\w+])\+(?=\d)"), "plus "),
    (re.compile(r"(?<=\d)\+(?=\W|$)"), " plus"),
    (re.compile(r"(?<=\w) ?= ?(?=[\w$])"), " equals "),
    (re.compile(r" ?≈ ?|(?<![\w~])~ ?(?=[$€£]?\d)"), " about "),
    (re.compile(r" ?≥ ?"), " at least "),
    (re.compile(r" ?≤ ?"), " at most "),
    (re.compile(r"(?<=\w) < (?=\w)"), " less than "),
    (re.compile(r"(?<=\w) > (?=\w)"), " greater than "),
    (re.compile(r"\s*(?:→|⇒|->|=>)\s*"), ", "),
    (re.compile(r"[*_\\|^{}<>~`]+"), " "),
    (re.compile(r" +(?=[,.!?;:](?:\s|$))"), ""),
    (re.compile(r"(?<=\b[ap]\.m\.)\.+"), ""),
)
