"""The words by which supposed updates are recognised: in English, and the most common ones in German and Spanish."""

from __future__ import annotations

import re


def _set(words: str) -> frozenset[str]:
    return frozenset(words.split())


NUMBERS = {
    word: str(number)
    for words in (
        "zero one two three four five six seven eight nine ten eleven twelve",
        "null eins zwei drei vier fünf sechs sieben acht neun zehn elf zwölf",
        "cero uno dos tres cuatro cinco seis siete ocho nueve diez once doce",
    )
    for number, word in enumerate(words.split())
}
UNITS = {
    "second": ("1", "second"), "sec": ("1", "second"), "s": ("1", "second"), "minute": ("60", "second"),
    "min": ("60", "second"), "hour": ("3600", "second"), "h": ("3600", "second"),
    "kilobyte": ("1", "kb"), "megabyte": ("1", "mb"), "gigabyte": ("1", "gb"),
    "kilo": ("1", "kg"), "kilometre": ("1", "km"), "kilometer": ("1", "km"), "percent": ("1", "%"),
}  # fmt: skip

# Units of one row measure one thing.
TIMES = _set("second ms millisecond day week month year sekunde minuten stunden tage día hora minuto")
DIMENSIONS = (
    TIMES,
    _set("kb mb gb tb byte kib mib gib"),
    _set("eur euro € usd dollar $ gbp pound cent chf franc"),
    _set("km m metre meter mile cm mm"),
    _set("kg g gram ton lb"),
)
SECONDS = {name: int(times) for name, (times, unit) in UNITS.items() if unit == "second"} | {"day": 86400, "week": 604800}
# Pairs of verbs that are both true of one thing: a shop that opens also closes.
OPPOSED = frozenset(
    frozenset(pair.split("/"))
    for pair in _set(
        "open/close start/end begin/end start/finish start/stop arrive/leave arrive/depart buy/sell send/receive read/write "
        "import/export borrow/lend öffnet/schließt beginnt/endet abre/cierra"
    )
)

# Words that carry no value: articles, prepositions, auxiliaries, pronouns.
FUNCTION = _set(
    "a an the this that these those of in on at to for by with from into as and or is are was were be been being am "
    "it its do does did has have had will would can could my our your his her their i we you he she they me us them "
    "about per there so up out if which who whom where what der die das den dem des ein eine einen einem einer ist "
    "sind war im in am an auf zu zum zur von vom mit für und oder es mein meine unser unsere ich wir er sie hat haben "
    "bei um läuft el la los las un una unos unas es son está están era en de del al a por para con y o mi mis nuestro "
    "nuestra su sus lo se yo ha han"
)
DETERMINERS = _set(
    "a an the this that my our your his her their its der die das den dem mein meine unser unsere el la mi mis nuestro nuestra su"
)
COPULAS = _set("is are was were am be has have can ist sind hat haben kann es son está están tiene tienen")
PREPOSITIONS = _set(
    "of in on at to for by with from into as about per near until till since after before during over under via through without "
    "im an auf zu zum zur von vom mit für bei um nach vor bis über unter en de del al por para con desde hasta sobre sin"
)
# The prepositions of one row mean the same before a name, or before a day.
PLACED = tuple(
    map(_set, ("in on at near to into with for im auf bei um en", "by with via through mit por con", "by on until till"))
)
# Verbs of a state: the words after one are a value, the words before it name the thing that has it.
VERBS = _set(
    "live work run use listen cost hold go meet prefer want take expire end leave answer stand weigh maintain study "
    "play sell allow get need own expect contain keep store write send deploy pin eat close open start begin stay sit "
    "belong support serve point return last pay charge earn drive ride sleep park call name review cover mean begin "
    "like love speak know drink wear read weigh average stand swim lock limit require stop block plan wohnt arbeitet "
    "kostet beträgt heißt nutzt vive trabaja cuesta usa llama prefiere"
)
# Verbs that can be true of several things at once: liking cherries changes nothing about liking strawberries.
MANY = _set(
    "like love speak know support read visit been buy see watch include contain mean cover offer need play accept own can "
    "kann puede allergic intolerant afraid interested fluent friend fond allergisch befreundet alérgico alérgica spricht habla"
)
# Things that are numbered: the number is a name, not a value.
NUMBERED = _set(
    "section chapter ticket invoice issue page part step error train bus item task question row kapitel rechnung bug room "
    "door floor flat apartment gate platform table seat locker sprint deploy deployment build worker server node host sensor "
    "episode season lesson exercise figure line week day lap round order parcel case rule option batch lot machine shard "
    "replica channel lane level number no zimmer raum gleis folge woche bestellung habitación factura capítulo pedido"
)
# Words whose number is one value, so that another number is an update; numbers before other words may count other things.
MEASURES = _set("day week month year people person time gb mb kb tb ms eur euro dollar usd tag woche monat jahr día mes año")
# A denial of a name after the value that holds: `spaces, not tabs`.
NOT_THAT = re.compile(r"^(?:and\s+)?(?:not|nicht|no)\s+[^\s.!?]+(?:\s[^\s.!?]+)?[.!?]?$", re.IGNORECASE)
# Words that say that something was different before, and that are no values themselves.
NEWS = _set(
    "now currently nowadays recently anymore already meanwhile meantime still new newly again finally update quick "
    "jetzt nun inzwischen neu neuerdings mehr ahora ya nuevo nueva actualmente about around only just roughly usually "
    "average alway immer siempre"
)
# Verbs that say that a value has changed; verbs that only say how it grew are in `MOVED` alone.
_MOVED = (
    r"moved|changed|switched|raised|upgraded|downgraded|increased|decreased|dropped|lowered|postponed|rescheduled|shifted|migrated|"
    r"(?:went|gone)\s+(?:up|down)|extended|renamed|replaced|cut|umgezogen|geändert|verschoben|cambió|subió|bajó|mudó"
)
_NOW = r"now|currently|instead|these\s+days|nowadays|jetzt|ahora|any\s?more|no\s+longer"
MOVED = re.compile(
    r"\b(?:(?:has|have|had|was|were|is|are|been|got|i've|we've|i'm|it's)\s+)*"
    rf"(?:{_MOVED}|reached|grown|grew|improved|gestiegen|gesunken)\b"
    r"(?:\s+(?:up|down|over|back))?(?:\s+(?:to|by|from|into|auf|nach|a|en)\b)?",
    re.IGNORECASE,
)
# Verbs whose new value is a place; after the other verbs it may be anything.
PLACES = re.compile(r"moved|shifted|migrated|umgezogen|mudó", re.IGNORECASE)
QUANTIFIERS = _set("all every each both since todo toda todos todas alle jede")
INSTEAD = re.compile(
    r"[,;]?\s*\b(?:instead of|rather than|replacing|in place of|no longer in|statt|anstelle von|en vez de|en lugar de)\b"
    r"[^.;!?]*?(?=\s(?:for|in|on|at|when|für|para)\s|[.;!?]|$)",
    re.IGNORECASE,
)
SINCE = re.compile(r"\s\b(?:since|as of|from)\s+(?:the|last|this|now|today|then|yesterday|monday|next)\b[^.;!?]*", re.IGNORECASE)
STOPPED = re.compile(r"\b(?:has |have )?(?:stopped|quit|gave up|given up|ceased)\b", re.IGNORECASE)
NO_LONGER = re.compile(r"\b(?:no longer|not? [^.;]*\bany ?more|nicht mehr|kein[en]* [^.;]*mehr|ya no)\b", re.IGNORECASE)
SAID_NOW = re.compile(rf"\b(?:{_NOW}|new)\b", re.IGNORECASE)
FILLER = re.compile(
    r"\b(?:from now on|these days|so far|at the moment|at present|quick update|quick thing|hey|any more|no longer)\b",
    re.IGNORECASE,
)
ALSO = re.compile(
    r"\b(?:also|too|additionally|another|second|as well|besides|after that one|auch|außerdem|zusätzlich|también|además|"
    r"(?<!nur )noch ein\w*|one of (?:the|my|our|his|her|their)|un[oa]? de (?:l[ao]s|mis|sus)|ein\w* (?:der|meiner|unserer))\b",
    re.IGNORECASE,
)
LISTED = re.compile(
    r"^\W*(?:to-?do|idea|buy|book(?! club)|packing list|note|question|bought|list|see|read|watch|idee|kaufen|comprar)\b",
    re.IGNORECASE,
)
THEN = re.compile(
    r"^\W*(?:in|im|en) (?:1[89]|20)\d\d\b|\b(?:back in|back then|as a (?:child|student|kid)|used to|formerly|in those days|"
    r"before the|years ago|damals|früher|antes)\b",
    re.IGNORECASE,
)
ONCE = re.compile(
    r"\b(?:today|tonight|yesterday|this (?:morning|afternoon|evening|week|weekend)|last (?:night|week|month|year|monday|tuesday|"
    r"wednesday|thursday|friday|saturday|sunday)|heute|gestern|vorgestern|hoy|ayer|anoche)\b",
    re.IGNORECASE,
)
PAST = _set(
    "went ran had paid met took slept bought lost sent saw ate came gave told said made wrote drove flew rode found "
    "felt got sold spent won broke fell forgot heard left brought caught drank swam began chose cooked swum thought "
    "was were did"
)
# Past forms that settle something, or that describe a state since then.
SETTLED = _set("decided agreed chose settled named called based used supposed need speed indeed feed seed bed red weed")
IS = _set("is are am be been has have 's i've we've they've gets get was were being")
OPPOSITES = frozenset(
    frozenset(pair.split("/"))
    for pair in _set(
        "on!/off! enabled/disabled open/closed always/never optional/mandatory optional/required allowed/forbidden "
        "public/private broken/works yes/no true/false enable/disable allow/forbid active/inactive free/taken an/aus "
        "valid/expired ja/nein sí/no immer/nie siempre/nunca erlaubt/verboten"
    )
)
DAYS = _set(
    "monday tuesday wednesday thursday friday saturday sunday january february march april may june july august "
    "september october november december mon tue wed thu fri sat sun jan feb mar apr jun jul aug sep oct nov dec "
    "montag dienstag mittwoch donnerstag freitag samstag sonntag januar februar märz mai juni juli oktober dezember "
    "lune marte miércole jueve vierne sábado domingo enero febrero marzo abril mayo junio julio agosto septiembre "
    "octubre noviembre diciembre am pm o'clock noon midnight uhr"
)


# Words that occur in sentences on any topic.
FILLERS = FUNCTION | NEWS | DAYS | PREPOSITIONS

# Verbs whose value is a reading at one time.
READING = _set("read show measure mark marcaba zeigte")
OF_NUMBERS = _set("version number release nummer número versión")
BOUNDS = _set("above below over under beyond ab über unter sobre bajo")
# Prepositions before a name that is not a value.
OF_ANOTHER = _set("from of since after before without von seit nach vor ohne desde sin")
EACH = _set("a an per each every pro im al por cada")
HAVING, ONE_OF = _set("have has got hat haben tiene tienen"), _set("a an ein eine einen un una")

# Words that say that something changed, in a text that does not repeat the older one's words.
CHANGES = re.compile(
    rf"\b(?:{_MOVED}|{_NOW}|updated|bumped|reduced|renewed|pushed\s+(?:back|to)|put\s[\w' ]{{0,30}}?(?:up|down)\s+to|"
    r"brought\s+forward|slipped|took\s+over|taken\s+over|voted|swapped|lifted|dialled|(?:turned|switched)\s+(?:on|off|up|down)|"
    r"disabled|enabled|armed|disarmed|set\s+(?:\w+\s+)?to|rather\s+than|from\s+(?:here|today)\s+on|as\s+of|since|latest|"
    r"called\s+off|cancell?ed|expired|lapsed|new\s+(?:venue|contract|address|number|date|time|plan|price|rate|owner|lead|place|"
    r"password|phone|job|home|flat|school|teacher|doctor)|nun|inzwischen|mittlerweile|nicht\s+mehr|nur\s+noch|statt|anstelle|"
    r"umgestellt|erhöht|gesenkt|abgeschaltet|eingeschaltet|heruntergedreht|hochgedreht|gewechselt|ersetzt|seit|ab\s+sofort|ya\s+no|"
    r"en\s+lugar|en\s+vez|ha\s+subido|ha\s+bajado|cambiado|desde)\b",
    re.IGNORECASE,
)
# Words of plans, opinions and exceptions: such a text does not change the present value.
NOT_YET = re.compile(
    r"\b(?:plan(?:s|ned|ning)? to|want to|would like to|hop(?:e|es|ing) to|thinking (?:of|about)|consider(?:s|ing)?|"
    r"saving (?:up )?(?:to|for)|looking (?:at|into)|might|may be|"
    r"wants? to (?:move|switch|change|cut|start|stop|try|learn|buy|get|give)|"
    r"should(?:n't)? (?:have|be|move|switch|use)|thinks|believes|suggests|propos(?:es|al)|wishes|"
    r"later on|sollten?|meint|findet|cree que|debería\w*|propone|dreams? of|overrid(?:es?|ing|den)|except(?:ion|ions)?|unless|"
    r"möchten?|überleg\w*|ausnahm\w*|außer|quiero|queremos|pensando|planea\w*|salvo|excepto)\b",
    re.IGNORECASE,
)
# Parts of a day are times, too.
PARTS_OF_DAY = _set("morning afternoon evening night midday morgen vormittag nachmittag abend nacht mañana tarde noche")
# Words that say that the words before them are no longer true.
GONE = re.compile(
    r"\b(?:(?:was|were|is|are|got|has\s+been|have\s+been|has|have|wird|wurde|ist|hat)\s+)?(?:retired|gone|shut\s+down|"
    r"closed(?:\s+down)?|decommissioned|scrapped|sold|quit|left|resigned|(?:went\s+)?on\s+(?:maternity\s+|parental\s+)?leave|"
    r"gekündigt|abgeschaltet|geschlossen|weg|cerró|cerrado|retirado|se\s+fue)\b",
    re.IGNORECASE,
)
_NO_MORE = r"(?:no longer|nicht mehr|ya no)(?:\s+(?!like|love|want|need|think)\w+)?(?:\s+(?:at|in|on|with|by|bei|en|con))?"
# Phrases before an old value, which is the first group.
IN_PLACE = re.compile(
    r"\b(?:instead of|rather than|in place of|replac(?:es|ed|ing)|took over from|statt|anstelle von|anstatt|en lugar de|"
    rf"en vez de|(?:{_MOVED}|bumped|reduced|updated) (?:from|von|de)|{_NO_MORE})\s+"
    r"(?:(?:the|a|an|my|our|der|die|das|dem|den|el|la|los|las)\s+)?([^\s,;.!?]+(?:\s[A-Z][^\s,;.!?]*)?)",
    re.IGNORECASE,
)
# A renaming: the old name, then the new one.
RENAMED = re.compile(
    r"([^\s,;]+)\s+(?:(?:was|is|has been|got|wurde)\s+)?(?:renamed|umbenannt)\s+(?:to|as|in|into)\s+([^\s,;]+)", re.IGNORECASE
)
# Verbs of a role that one person has at a time.
ROLES = _set("own lead manage maintain chair coach leitet")
# Words that say that another person has taken a role.
ROLE = re.compile(
    r"\b(?:took over|taken over|takes over|succeed(?:s|ed)|is the new|is now the|voted|elected|übernimmt|ahora es)\b",
    re.IGNORECASE,
)
# Words that are used of many things and identify none of them.
GENERIC = _set(
    "port month version user week default year day number current currently team people name thing place time cost costs price "
    "rate fee membership subscription kept keep set plan planned paid wants want like prefer feature flag setting option release "
    "system mes mensual monat jahr monthly weekly yearly every each usually app tool steht liegt läuft gilt hat beträgt sale"
)
_SWITCHED = r"(?:is|are|was|were|been|turned|switched|put|runs?)\s+(?:back\s+)?"
_BEHIND = r"(?=\W*(?:$|[.,;]|in\b|for\b|at\b|again|now|everywhere|since))"
ON = re.compile(
    rf"\b(?:{_SWITCHED}on{_BEHIND}|(?:is|are)\s+running{_BEHIND}|enabled|activated|active|armed|aktiv|aktiviert|eingeschaltet|activad[oa])\b",
    re.IGNORECASE,
)
OFF = re.compile(
    rf"\b(?:{_SWITCHED}off{_BEHIND}|disabled|deactivated|inactive|disarmed|inaktiv|deaktiviert|abgeschaltet|ausgeschaltet|"
    r"desactivad[oa])\b",
    re.IGNORECASE,
)
