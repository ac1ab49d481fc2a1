"""Standing wishes of a user: whether a text states one, and whether a question depends on one."""

from __future__ import annotations

import re

from vault_tool.util.deferred import deferred_pattern

PREFERENCE, INSTRUCTION = "preference", "instruction"

# The most standing instructions that are shown at once.
MOST_INSTRUCTIONS = 3

# The letters of a text that are searched: a wish stands at its beginning.
_READ = 400
# The least words of an instruction: the title of a note has fewer, or has capitals like `Always On VPN`.
_LEAST_WORDS = 4

_SENTENCE = deferred_pattern(r"(?<=[.!?;\n])\s+")
_SPEAKER = deferred_pattern(r"^(?:[\w .-]{1,30}: |- )")
_ASKED = "ask|say|want|request|mention"
_RULE = deferred_pattern(
    r"^(?:please |also |but |and |ok(?:ay)?,? |so )*(?:(?:always|never) [a-z]|(?:don't|do not) (?:ever |you ever )[a-z]"
    r"|from now on,? [a-z]|(?:make sure|be sure|remember) (?:to |you )?always [a-z]"
    rf"|when(?:ever)? (?:i|we) (?:{_ASKED})\b.*, ?(?:please |then |always )*[a-z]"
    r"|(?:immer|niemals|ab jetzt|siempre|nunca|toujours|ne jamais|jamais) [a-zäöüéèñ])",
    re.IGNORECASE,
)
_LARGE = deferred_pattern(r"^(?:\S+ )?(?:Always|Never|ALWAYS|NEVER) [A-Z]")
_HOW_MUCH = "really|strongly|generally|usually|much|definitely|absolutely|personally|also|still"
_DAILY = "eat|use|drink|buy|wear|read|watch|stay|travel|fly|work"
_LIKES = (
    "prefer|rather|like to|love|hate|dislike|detest|enjoy|avoid|favou?r|refuse to|can't stand|cannot stand|insist on|"
    rf"(?:only|never) (?:{_DAILY})|(?:don't|do not) (?:really )?(?:like|enjoy|eat|drink|want|use|care for)"
)
_IS = (
    "(?:not )?a fan of|allergic|intolerant|lactose|vegan|vegetarian|a vegetarian|(?:afraid|scared|fond) of|averse|"
    "not (?:fond|keen) o[fn]"
)
_HAS = "preference|aversion|fear|phobia|allergy|dislike|intolerance"
_WISH = deferred_pattern(
    rf"\b(?:i|we)(?:'d| would)? (?:(?:{_HOW_MUCH}) )*(?:{_LIKES})\b"
    rf"|\b(?:i'm|i am|we're) (?:{_IS})|\bi have (?:an? )?(?:\w+ )?(?:{_HAS})\b|\bmy (?:\w+ )?(?:preference|favou?rite)\b"
    rf"|\b[a-z]+ (?:(?:{_HOW_MUCH}) )?(?:prefers|dislikes|avoids|is allergic to|would rather|can't stand)\b"
    r"|\bich (?:mag|bevorzuge|hasse|esse kein)|\bprefiero\b|\bje (?:préfère|déteste|n'aime pas)\b",
    re.IGNORECASE,
)
_ADVICE = deferred_pattern(
    r"\b(?:recommend|recommendations?|suggest(?:ions?)?|advise|advice|tips?|ideas?|help me|should (?:i|we)\b"
    r"|(?:how|where|what|which) (?:do|can|could|should|would|might) (?:i|we|you)\b|how to\b|best way|good way|walk me through"
    r"|show me|guide me|explain|(?:can|could|would) you\b|(?:i'm|i am|we're) (?:planning|looking|trying|thinking|about to)"
    r"|plan (?:a|my|our|for)|what (?:are|is) (?:some|the (?:different|best))|ways to|options for|empfiehl|empfehlen"
    r"|wie (?:soll|kann|mache) ich|recomienda|recomendar|(?:que|comment) (?:me )?(?:recommandes|puis-je|faire))(?!\w)",
    re.IGNORECASE,
)
# Questions about earlier talk, which ask for no advice.
_LOOKS_BACK = deferred_pattern(
    r"\b(?:summar\w+|the order|did|have (?:i|we)|i (?:brought|told|said|mentioned)"
    r"|(?:our|my) (?:chats?|conversations?|sessions?)|over the past|progress\w*|evolv\w+)\b",
    re.IGNORECASE,
)
# Questions about the work itself, not about an object that was left somewhere: `where did Ann leave the keys?` is not one.
_LEFT = deferred_pattern(
    r"^(?:so |and |ok(?:ay)?,? |please,? |hi,? |hello,? )*(?:"
    r"where (?:was|is|were) (?:the |my |our |this )?(?:work|project|session|job)(?: last)?(?: left(?: off)?| standing)?"
    r"|where (?:did|have) (?:i|we|you) (?:leave|left|stop|stopped)(?: off)?(?: the work| work)?"
    r"|where (?:were|was) (?:i|we|you)|where do (?:i|we|you|things) stand|where does (?:the |this )?(?:work|project) stand"
    r"|what (?:is|was|remains|'s)? ?(?:still )?(?:left|open|to be done|to do|next)(?: to do| to be done)?"
    r"|what (?:should|do|shall|can|must) (?:i|we|you) do next|what comes next|what's (?:left|next)(?: to do)?"
    r"|(?:continue|resume|go on with|pick up) (?:the |my |our )?(?:last )?(?:work|session|task)"
    r"|left to do|next steps?|where it was left"
    r")(?: (?:here|now|today|yesterday|last time|in the last session|from last time|off|on this project))*\s*[?.!]*$",
    re.IGNORECASE,
)


def asks_what_is_left(text: str) -> bool:
    """Whether a question asks only where the work was left, or what comes next."""
    return bool(_LEFT.match(text.strip().replace("’", "'")))


def wish_in(text: str) -> str:
    """`instruction` if a text says what is always to be done, `preference` if it says what a person likes, else empty."""
    for sentence in _SENTENCE.split(text[:_READ].strip()):
        spoken = _SPEAKER.sub("", sentence.strip())
        if _RULE.match(spoken) and not _LARGE.match(spoken) and len(spoken.split()) >= _LEAST_WORDS:
            return INSTRUCTION
        if _WISH.search(spoken):
            return PREFERENCE
    return ""


def asks_for_advice(text: str) -> bool:
    """Whether a question asks what to do, or how to do it: its asker's general preferences belong in the answer."""
    return bool(_ADVICE.search(text)) and not _LOOKS_BACK.search(text)
