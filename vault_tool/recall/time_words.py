"""The words by which texts name times, in four languages, and the patterns made of them."""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache

_MONTHS = (
    "january jan januar janner enero janvier", "february feb februar febrero fevrier", "march mar marz marzo mars",
    "april apr abril avril", "may mai mayo", "june jun juni junio juin", "july jul juli julio juillet",
    "august aug agosto aout", "september sep sept septiembre setiembre septembre", "october oct oktober okt octubre octobre",
    "november nov noviembre novembre", "december dec dezember dez diciembre decembre",
)  # fmt: skip
_DAYS = (
    "monday montag lunes lundi", "tuesday dienstag martes mardi", "wednesday mittwoch miercoles mercredi",
    "thursday donnerstag jueves jeudi", "friday freitag viernes vendredi", "saturday samstag sonnabend sabado samedi",
    "sunday sonntag domingo dimanche",
)  # fmt: skip
_SEASONS = {
    3: "spring fruhling fruhjahr primavera printemps", 6: "summer sommer verano ete", 9: "autumn fall herbst otono automne",
    12: "winter invierno hiver",
}  # fmt: skip
_UNITS = {
    "day": "day days tag tage tagen dia dias jour jours",
    "week": "week weeks woche wochen semana semanas semaine semaines",
    "month": "month months monat monate monaten mes meses mois",
    "year": "year years jahr jahre jahren ano anos an ans annee annees",
    "weekend": "weekend wochenende",
    "quarter": "quarter quartal",
}
_COUNTS = (
    "a an one ein eine einem einen einer un una une", "two zwei dos deux couple", "three drei tres trois few",
    "four vier cuatro quatre", "five funf cinco cinq", "six sechs seis", "seven sieben siete sept", "eight acht ocho huit",
    "nine neun nueve neuf", "ten zehn diez dix", "eleven elf once onze", "twelve zwolf doce douze",
)  # fmt: skip
_AGO = {
    0: "today|tonight|this morning|this evening|heute|hoy|aujourd'hui|今天|今日",
    1: "yesterday|last night|gestern|ayer|昨天|昨日",
    2: "the day before yesterday|vorgestern|anteayer|avant-hier|前天",
}
LENGTHS = {"day": 1, "week": 7, "weekend": 7, "month": 30, "quarter": 91, "year": 365}


def _numbered(several: Iterable[str], start: int) -> dict[str, int]:
    return {word: number for number, words in enumerate(several, start) for word in words.split()}


MONTH_OF, DAY_OF, COUNT_OF = _numbered(_MONTHS, 1), _numbered(_DAYS, 0), _numbered(_COUNTS, 1)
SEASON_OF = {word: month for month, words in _SEASONS.items() for word in words.split()}
UNIT_OF = {word: unit for unit, words in _UNITS.items() for word in words.split()}
AGO_OF = {word: days for days, words in _AGO.items() for word in words.split("|")}

# Months that alone are another word or a name; those of few letters always need a day or a year.
ALSO_WORDS = frozenset("march mars marzo april may mai mayo june august".split())  # noqa: SIM905
_NO_MONTH = r"may(?= (?:be|i|we|you|he|she|it|they|not|have|also|only)\b)"

LAST = "last|past|previous|letzte[nrsm]?|vergangene[nrsm]?|vorige[nrsm]?"
THIS = "this|current|diese[nrsm]?|esta|este|cette|cet|ce"
NEXT = "next|coming|nachste[nrsm]?|kommende[nrsm]?"
_IN = "in|im|en|during|since|until|till|of|de|du|au|seit|bis|early|mid|late|anfang|mitte|ende|fin|through|throughout"
IN_THE = r"\b(?:in|im|en|during|since|until|till|over|before|after|au|seit|bis)(?: the| der| dem| l')? ?$"
_YEARS_AFTER = (
    "in|of|during|since|until|till|by|before|after|from|to|and|year|around|early|mid|late|seit|vor|nach|bis|jahr|jahre|en|de|"
    "desde|depuis|on"
)
UPTO = ("as of", "as at", "up to", "by", "until", "till", "stand", "bis", "hasta")
BACK = ("before", "prior to", "vor", "avant", "antes de")
SINCE = ("after", "since", "nach", "seit", "desde", "depuis")
LATER = ("after", "following", "nach")
NTH = {"first": 0, "second": 1, "third": 2, "fourth": 3}
PARTS = ("early", "mid", "late", "beginning", "start", "first half", "second half", "end", "anfang", "mitte", "ende")
_LATER = "pasad[oa]|dernier|derniere|passee?"


def _any(words: Iterable[str]) -> str:
    return "|".join(sorted(words, key=len, reverse=True))


_AROUND = ".,;:!?()[]{}…'’“”‘\""
_DIGITS = re.compile(r"(?:19|20)\d\d|\d[./]\d|[天日前周]")
# A word of each form that has no year; an accent hides none (`März`).
_FURTHER = (
    "märz frühling frühjahr nächste miércoles sábado février août décembre été año años année années avant-hier aujourd'hui "
    "heute gestern vorgestern hoy ayer anteayer ago hace today tonight yesterday morning evening night"
)
_MARKS = frozenset((*MONTH_OF, *DAY_OF, *SEASON_OF, *UNIT_OF, *_FURTHER.split()))


def names_some(text: str) -> bool:
    """Whether a text may name a time: a look at its words, before anything is read."""
    return any(word.strip(_AROUND).casefold() in _MARKS for word in text.split()) or bool(_DIGITS.search(text))


@cache
def pattern() -> re.Pattern[str]:
    """Every form of a time, by the names of its parts."""
    months, units, counts = _any(MONTH_OF), _any(UNIT_OF), rf"\d{{1,3}}|{_any(COUNT_OF)}"
    year, days = r"(?:19|20)\d\d", _any(DAY_OF)
    named = rf"(?:{months})\b\.?"
    ago = sorted((re.escape(word) for word in AGO_OF), key=len, reverse=True)
    nth = r"st|nd|rd|th|er|\."
    to = r" ?(?:-|–|to|and|bis|y|al?|et|au) ?"
    parts = (
        r"(?P<iso>\b(?:19|20)\d\d[-/](?:0[1-9]|1[0-2])[-/](?:0[1-9]|[12]\d|3[01])(?![\d-]))",
        r"(?P<isomonth>\b(?:19|20)\d\d-(?:0[1-9]|1[0-2])(?![\d-]))",
        r"(?P<dots>\b\d{1,2}\.\d{1,2}\.(?:19|20)\d\d\b)",
        r"(?P<slashes>\b\d{1,2}/\d{1,2}/(?:19|20)\d\d\b)",
        r"(?P<signs>(?:19|20)\d\d年(?:\d{1,2}月(?:\d{1,2}日)?)?)",
        (
            rf"\b(?P<day>\d{{1,2}})(?:{nth})?(?:{to}(?P<day2>\d{{1,2}})(?:{nth})?)? (?:of |de )?(?P<month>(?!{_NO_MONTH}){named})"
            rf"(?: (?:de |of )?(?P<year>{year}))?(?!\w)"
        ),
        rf"\b(?P<mmonth>{named}) (?P<mday>\d{{1,2}})(?:{nth})?(?:{to}(?P<mday2>\d{{1,2}})\b)?(?: ?(?P<mmyear>{year}))?(?![\w:])",
        rf"\b(?:(?P<part>{_any(PARTS)})[ -](?:of |in |de )?)?(?P<monthly>{named}) (?:of |de )?(?P<myear>{year})\b",
        (
            rf"\b(?:(?P<sthis>{LAST}|{THIS}|{NEXT}) )?(?P<season>{_any(SEASON_OF)})\b"
            rf"(?: (?:of |de )?(?P<syear>{year}))?(?: (?P<slast>{_LATER}))?"
        ),
        rf"\bq(?P<quarter>[1-4])(?: (?:of )?| ?/ ?)(?P<qyear>{year})\b",
        rf"(?P<named_ago>{'|'.join(rf'(?<![a-z]){word}(?![a-z])' for word in ago)})",
        rf"\b(?:the )?(?P<over>{LAST}) (?P<overcount>{counts}) (?:of )?(?P<overunit>{units})\b",
        rf"\b(?P<agocount>{counts}) (?:of )?(?P<agounit>{units}) ago\b",
        rf"\b(?:vor|hace|il y a) (?P<vorcount>{counts}) (?P<vorunit>{units})\b",
        rf"\b(?P<which>{LAST}|{THIS}|{NEXT}) (?P<unit>{units})\b(?! (?:of|before|after) )",
        rf"\b(?P<lunit>{units}) (?P<llast>{_LATER})\b",
        rf"\b(?:(?P<wwhich>{LAST}|{THIS}|{NEXT}) )?(?P<weekday>{days})\b(?! (?:before|after) )(?: (?P<wlast>{_LATER}))?",
        rf"\b(?:(?P<mwhich>{LAST}|{THIS}|{NEXT}|{_IN}) )?(?P<bare>(?!{_NO_MONTH})(?:{months}))\b(?! \d)(?: (?P<mlast>{_LATER}))?",
        rf"(?:\b(?:{_YEARS_AFTER}) )(?P<only>{year})\b(?![-:./]\d)",
    )
    return re.compile("|".join(parts))


@cache
def before() -> re.Pattern[str]:
    """The pattern of words before a time that make it another: `the week before`, `two weeks before`, `the last week of`."""
    counts = f"{_any(COUNT_OF)}|{_any(NTH)}|last"
    return re.compile(
        rf"\b(?:the )?(?:(?P<count>\d{{1,2}}|{counts}) )?(?P<unit>{_any(UNIT_OF)}|{_any(DAY_OF)})"
        r"(?: right| just)? (?P<way>before|after|following|prior to|of|in|vor|nach)(?: the)? ?$"
    )


BOUND = rf"\b(?P<way>{_any((*UPTO, *BACK, *SINCE))})(?: the)? ?$"
OPENED = r"\b(?:between|zwischen|entre|on|in|im|am|at|during|of|from|the|for|around|en|el|le|la|de|du) ?$"
RANGE = r"\b(?:between|from|zwischen|von|vom|entre|desde|du|de)(?: the)? ?$"
TO = ("to", "-", "–", "until", "till", "bis", "through", "hasta", "au")
AND = ("and", "und", "y", "et", "a")
