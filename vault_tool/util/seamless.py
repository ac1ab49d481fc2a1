"""Scripts without spaces: their runs of letters, and which of a question's say what is asked, and which only frame it.

A text is indexed by all overlapping pairs of the letters of a run. Most pairs of a question lie across two words, or in words
that frame it (`我最近去哪个公园玩了？`): no text that answers has them, so that it seems to lack most of what is asked. A library
that cuts words apart (jieba) takes two seconds and 37 MB to load; words that frame a question are few.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from itertools import groupby, pairwise

from vault_tool.util.deferred import deferred_pattern
from vault_tool.util.structs import Struct

_LETTERS = (
    "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff"  # Thai, Lao, Burmese, Khmer
    "\u1100-\u11ff\u3040-\u30ff\u3130-\u318f\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\ua960-\ua97f\uac00-\ud7ff\uf900-\ufaff"
    "\U0001b000-\U0001b16f\U00020000-\U0003ffff"  # Chinese, Japanese, Korean
)
RUN = deferred_pattern(f"[{_LETTERS}々ー]+")

# Words that frame a question and tell nothing of its answer.
_CHINESE = (
    "什么时候 为什么 怎么样 怎么办 什么样 什么 怎么 怎样 哪里 哪儿 哪个 哪些 哪家 哪位 哪天 哪年 多少 多久 多大 多长 "
    "几点 几个 几次 几岁 星期几 有没有 是不是 能不能 会不会 要不要 请问 告诉 记得 自己 大家 这个 那个 这些 那些 这里 "
    "那里 一下 一个 一些 之前 以前 曾经 上次 最近 刚才 可以 能够 应该 因为 所以 但是 而且 如果 虽然 不过 然后 关于 "
    "对于 以及 或者 还是 还有 已经 正在 现在 目前 总是 经常 非常 特别 觉得 知道 為什麼 什麼時候 什麼 怎麼 哪裡 哪個 "
    "幾點 關於"
)
_JAPANESE = (
    "でしょうか ましたか ですか ますか ません ました でした ください について どこ どれ どの どんな どう いつ だれ "
    "なに なぜ いくら いくつ ています ていました ている ていた って します です ます この その あの これ それ あれ "
    "こと もの ところ ため から まで より ので けど など という する した して いる いた ある あった なる なった 何時 "
    "何の 何を 何が 何で 何 誰"
)
_KOREAN = (
    "뭐예요 뭐였지 뭐야 뭐지 무엇 언제 어디 누구 얼마 어떻게 무슨 어느 어떤 몇 인가요 이에요 예요 입니까 습니까 "
    "하나요 했나요 했지 였지 있지 있나요 내가 나는 제가 저는 우리"
)
_THAI = "อะไร เมื่อไหร่ เมื่อไร ที่ไหน ไหน ใคร เท่าไหร่ เท่าไร ทำไม อย่างไร ยังไง ไหม มั้ย หรือเปล่า ฉัน ผม ของ คือ เป็น กี่"
_FRAMING = deferred_pattern(
    "|".join(sorted(f"{_CHINESE} {_JAPANESE} {_KOREAN} {_THAI}".split(), key=lambda word: (-len(word), word)))
)
# Letters that are such a word, or an ending or particle, by themselves. Some stand in other words too (`吉他`): the letter beside
# them is then looked for alone.
_PARTICLES = frozenset(
    "我你您他她它们們的了吗嗎呢吧啊嘛呀么麼谁誰哪什是几幾和在有给給跟对對也很还還就都把被让讓会會能要想去来來做说說不没沒最这這那过過"
    "はがをにでともへやかねよの"
)
_MOST_LETTERS_OF_NAMES = 6
_FRAME, _BENDING, _TELLING = range(3)


class AskedPairs(Struct):
    """The pairs of a run that a question asks for. In each of `words` they overlap: it is a word or several. `alone` are letters
    that stand by themselves between what frames them. `bending` are pairs of words that also bend, with the letters that
    do: they say something where a text has them, and nothing where none has.
    """

    words: tuple[tuple[str, ...], ...]
    alone: tuple[str, ...]
    bending: tuple[str, ...]


@lru_cache(256)
def asked_pairs(run: str) -> AskedPairs:
    """The pairs that a run of two letters or more asks for; all of them where all of it frames a question."""
    kinds = _kinds(run)
    words: list[tuple[str, ...]] = []
    alone: list[str] = []
    at = 0
    for kind, same in groupby(kinds):
        part = run[at : at + len(list(same))]
        at += len(part)
        if kind == _TELLING and len(part) > 1:
            words.append(_pairs(part))
        elif kind == _TELLING:
            alone.append(part)
    bending = tuple(pair for pair, (kind, other) in zip(_pairs(run), pairwise(kinds), strict=True) if _bends(kind, other))
    if not (words or alone or bending):
        words.append(_pairs(run))
    return AskedPairs(tuple(words), tuple(alone), bending)


def frames_only(run: str) -> bool:
    """Whether all of a run frames a question."""
    return set(_kinds(run)) <= {_FRAME}


def is_letter(token: str) -> bool:
    """Whether a token is one letter of a script without spaces: it stands for all pairs that begin with it."""
    return len(token) == 1 and RUN.fullmatch(token) is not None


def is_word_by_letter(pair: str) -> bool:
    """Whether each letter of a pair means something by itself, as Chinese ones do."""
    return all("\u3400" <= letter <= "\u9fff" for letter in pair)


def names_within(text: str) -> Iterator[str]:
    """All parts of the runs of a text that may be a name: from two letters to six."""
    for match in RUN.finditer(text):
        run = match[0]
        for start in range(len(run)):
            for stop in range(start + 2, min(len(run), start + _MOST_LETTERS_OF_NAMES) + 1):
                yield run[start:stop]


def _kinds(run: str) -> list[int]:
    kinds = [_FRAME if letter in _PARTICLES else _BENDING if "\u3040" <= letter <= "\u309f" else _TELLING for letter in run]
    for match in _FRAMING.finditer(run):
        kinds[match.start() : match.end()] = [_FRAME] * len(match[0])
    return kinds


def _bends(kind: int, other: int) -> bool:
    return _BENDING in (kind, other) and _FRAME not in (kind, other)


def _pairs(part: str) -> tuple[str, ...]:
    return tuple(map("".join, pairwise(part)))
