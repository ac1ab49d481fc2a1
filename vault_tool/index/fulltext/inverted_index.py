"""The full-text index: BM25 over titles, names and bodies in any script."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from itertools import pairwise
from pathlib import Path

import tantivy
from tantivy import Occur, Query

from vault_tool.index.fulltext.documents import (
    Clause,
    NameMatch,
    SearchDocument,
    TextHit,
    read_query,
    said_alone,
    searchable,
    words_alone,
)
from vault_tool.index.fulltext.index_format import (
    FIELD,
    PROPERTIES,
    SCHEMA,
    SPELLINGS,
    Analyzer,
    document_of,
    light_parts,
    names_of_document,
    names_with,
    open_index,
    parts_of,
)
from vault_tool.util.seamless import is_letter, is_word_by_letter

# A word that more than this part of the documents has tells nothing, in whatever language.
EVERYWHERE = 0.8

# How much a word counts that stands among properties or in another spelling alone, and there where other texts have it as it is.
_LIGHTLY = 0.3
_KNOWN = {PROPERTIES: 0.3, SPELLINGS: 0.02}
# How much of a question such a word covers.
_COVERS = {PROPERTIES: 1.0, SPELLINGS: 0.1}

_K1 = 1.2
_NEAR_GAP = 2
_NEAR_BOOST = 0.4
_MANY = 50
_MOST_ENDINGS = 50
_SPARE = 40
_MOST_VALUES = 200
_MOST_PLACES = 1_000
_MOST_KEPT = 20_000
_MOST_READ = 16
_MOST_SAID = 23
_FEW = 50
# What each word in common with a conversation counts less for each factor of e by which a vault has more than a few notes: many
# weak coincidences add up in some of them.
_CHANCE = 0.25
# Bytes: the least that tantivy takes for a thread.
_ONE_WRITER = 15_000_000


class InvertedIndex:
    """An index that answers. Raises OSError or ValueError for a folder that holds none."""

    def __init__(self, folder: Path, language: str) -> None:
        self._index = open_index(folder, language, new=False)
        self._analyze = Analyzer(language)
        self._searcher = self._index.searcher()
        self._stored: dict[int, str] = {}
        self._called: dict[str, str] = {}
        self._rarities: dict[str, float] = {}
        self._counts: dict[str, tuple[int, ...]] = {}
        self._meant: dict[tuple[str, ...], tuple[Occur, Query]] = {}
        self._read: dict[str, tuple[Clause, ...]] = {}

    @property
    def count(self) -> int:
        """The number of documents."""
        return self._searcher.num_docs

    def reload(self) -> None:
        """See what was committed since."""
        self._index.reload()
        self._searcher = self._index.searcher()
        self._stored, self._called, self._rarities, self._counts, self._meant = {}, {}, {}, {}, {}

    def apply(self, changes: Mapping[str, SearchDocument | None]) -> None:
        """Replace the documents of these files (None: remove); the caller holds the lock.

        Raises OSError or ValueError when that fails; the index must then be built anew.
        """
        writer = self._index.writer(_ONE_WRITER, 1)
        # What a killed process left half written would stand in the way under the very names that come next.
        writer.garbage_collect_files()
        for path, text in changes.items():
            writer.delete_documents_by_term("path", path)
            if text is not None:
                writer.add_document(document_of(text, self._analyze))
        writer.commit()
        writer.wait_merging_threads()
        self.reload()

    def search(
        self,
        text: str,
        limit: int,
        classes: Collection[str] | None = None,
        types: Collection[str] | None = None,
        pending: Mapping[str, SearchDocument | None] | None = None,
        *,
        near: bool = False,
    ) -> list[TextHit]:
        """The best files for a person's text, best first; never fails on what it says.

        `pending` holds files that changed since the index was written (None: gone): they are answered from here.
        With `near`, words of the query that follow each other count more where they stand close together.
        """
        clauses = self._clauses(text)
        if not clauses or limit <= 0:
            return []
        hidden = pending or {}
        # Those that wait may be among the index's best, as they were; they are taken out below.
        hits = self._found(clauses, limit + len(hidden), classes, types, near)
        if hidden:
            hits = [hit for hit in hits if hit.path not in hidden]
        for path, waiting in hidden.items():
            if waiting is not None and _matches_filter(waiting, classes, types):
                score = self._score(waiting, clauses)
                if score > 0:
                    hits.append(TextHit(path, score))
        # The index gives them by score: only what waits and what scores alike is to be put in order.
        if hidden or len({score for _, score in hits}) < len(hits):
            hits.sort(key=lambda hit: (-hit.score, hit.path))
        return hits[:limit]

    def shared(self, text: str, others: Iterable[str]) -> tuple[int, list[int]]:
        """How many words of a question are looked for, and how many of them each of these texts has."""
        words = {
            token for clause in self._clauses(text) if not (clause.instead or clause.optional) for token in self._counted(clause)
        }
        return len(words), [sum(_has(tokens, word) for word in words) for tokens in map(self._tokens_of, others)]

    def _tokens_of(self, text: str) -> frozenset[str]:
        return frozenset(self._analyze(searchable(text)))

    def weights(self, text: str) -> dict[str, float]:
        """How much each word of a question says: its rarity (BM25's idf).

        Their sum is an absolute scale for scores: what a document of average length would reach which holds every word once
        in its body.
        """
        return self._weights(self._clauses(text))

    def _weights(self, clauses: Iterable[Clause]) -> dict[str, float]:
        """The rarity of each word; another spelling of one counts where any document has it."""
        weights: dict[str, float] = {}
        for clause in clauses:
            for token in self._counted(clause):
                if not clause.instead:
                    weights[token] = self._rarity(token)
                elif token not in weights and self._frequencies(token)[0]:
                    weights[token] = self._part(clause) * self._rarity(token)
        return weights

    def _counted(self, clause: Clause) -> Sequence[str]:
        """The tokens of a clause that a text lacks which does not have them."""
        if not (clause.optional or clause.pairs):
            return clause.tokens
        known = [self._frequencies(token)[0] > 0 for token in clause.tokens]
        if clause.optional:
            return clause.tokens if all(known) else ()
        # A pair that no text has, beside one that some text has, most likely lies across two words.
        around = [False, *known, False]
        return [token for at, token in enumerate(clause.tokens) if known[at] or not (around[at] or around[at + 2])]

    def _part(self, clause: Clause) -> float:
        """How much a clause counts: another spelling as much as it is the usual one of the two."""
        if not clause.instead:
            return 1.0
        usual, typed = (min(self._frequencies(token)[0] for token in tokens) for tokens in (clause.tokens, clause.instead))
        return usual / (usual + typed) if typed else 1.0

    def _frequencies(self, token: str) -> tuple[int, ...]:
        """How many documents have a word in their text, and how many in each of the fields that are searched lightly."""
        counts = self._counts.get(token)
        if counts is None:
            if len(self._counts) >= _MOST_KEPT:
                self._counts.clear()
            fields = (FIELD, *_KNOWN)
            if _is_letter(token):
                begun = (self._searcher.terms_with_prefix(field, token, limit=_MOST_ENDINGS) for field in fields)
                counts = tuple(min(self.count, sum(count for _, count in terms)) for terms in begun)
            else:
                counts = tuple(self._searcher.doc_freq(field, token) for field in fields)
            self._counts[token] = counts
        return counts

    def called(
        self, text: str, whole: str, paths: Iterable[str], pending: Mapping[str, SearchDocument | None] | None = None
    ) -> dict[str, NameMatch]:
        """How nearly a question is what each of these files, found by the last search, may be called.

        `whole` is the question with the words that only frame it: these count in no name.
        """
        # With what stands everywhere too: `file formats` is not called `Format` where every note speaks of files.
        weights = self._weights(self._query_of(text))
        total = sum(weights.values())
        if not total:
            return {}
        hidden = pending or {}
        words = frozenset(weights)
        framing = frozenset(self._analyze(words_alone(whole.encode("utf-8", "replace").decode()))) - words
        names = {}
        for path in paths:
            waiting = hidden.get(path)
            called = self._called.get(path, "") if waiting is None else names_of_document(waiting, self._analyze)
            # Whether a word stands anywhere in it is told in a fraction of the time that taking it apart takes.
            if not any(map(called.__contains__, words)):
                continue
            handles, headings, tags = names_with(called, words)
            tag = any(tag <= words for tag in tags)
            if tag or handles or headings:
                handle = self._nearest(handles, words, weights, total, framing)
                heading = self._nearest(headings, words, weights, total, framing) if headings else 0.0
                names[path] = NameMatch(handle, heading, tag)
        return names

    def coverage(
        self, weights: Mapping[str, float], paths: Collection[str], pending: Mapping[str, SearchDocument | None] | None = None
    ) -> dict[str, float]:
        """The part of a question's words (`weights`) that each of these files has at all: from 0 to 1.

        A score grows with how often and where a word stands, so one word in a title can score like all of a question.
        """
        total = sum(weights.values())
        if not paths or not total:
            return {}
        hidden = pending or {}
        parts = [(Occur.Must, self._filter("path", paths))]
        for token, weight in weights.items():
            parts.append((Occur.Should, self._anywhere(token, weight)))
        hits = self._searcher.search(Query.boolean_query(parts), len(paths), count=False).hits
        shares = {path: score / total for path, score in self._files(hits)}
        for path in paths:
            waiting = hidden.get(path)
            if waiting is not None:
                present = frozenset(self._tokens(waiting))
                shares[path] = sum(weight for token, weight in weights.items() if _has(present, token)) / total
        return shares

    def mentioned(
        self,
        sentences: Sequence[Mapping[str, float]],
        limit: int,
        classes: Collection[str],
        longer: Callable[[Collection[str]], Mapping[str, float]],
        pending: Mapping[str, SearchDocument | None] | None = None,
        among: Collection[str] | None = None,
    ) -> dict[str, float]:
        """By how much the best files of a conversation have more in common with one of its sentences, or with two that follow
        each other, than chance would give: the rarity of the words in common, less the logarithms of how many files there are
        and of how many words were said (of so many trials one succeeds by chance). Below 0 it is none. Each word counts less
        where there are many files, and where a file is long: it then has many words by chance.

        `sentences` are words, each with how much it tells (0..1). For each the best `limit` files are looked at, or those `among`
        the given. `longer` gives the logarithm of how many times longer than most some files are.
        """
        sentence_tokens = [self._rarest_tokens(words) for words in sentences]
        hidden = pending or {}
        meant = [self._only("class", classes)]
        waiting = {
            path: frozenset(self._tokens(text))
            for path, text in hidden.items()
            if text is not None and _matches_filter(text, classes, None) and (among is None or path in among)
        }
        best: dict[str, float] = {}
        by_sentence: list[dict[str, frozenset[str]]] = []
        near = [self._weighed(words, limit, meant) if among is None else among for words, _ in sentence_tokens]
        for at, (words, _) in enumerate(sentence_tokens):
            paths = {path for paths_near in near[max(0, at - 1) : at + 2] for path in paths_near if path not in hidden}
            by_sentence.append(self._common(words, paths))
        fewer = _CHANCE * max(0.0, math.log(max(2, self._searcher.num_docs) / _FEW))
        less = {path: fewer + more for path, more in longer({path for by_path in by_sentence for path in by_path}).items()}
        for at, (words, count) in enumerate(sentence_tokens):
            tokens = frozenset(words)
            by_sentence[at].update((path, tokens & theirs) for path, theirs in waiting.items() if tokens & theirs)
            _keep_best(best, by_sentence[at], words, self._chance(count), less)
            if at:
                before, earlier = sentence_tokens[at - 1][0], by_sentence[at - 1]
                both = {path: common | earlier[path] for path, common in by_sentence[at].items() if path in earlier}
                _keep_best(best, both, {**before, **words}, self._chance(count + sentence_tokens[at - 1][1]), less)
        return best

    def _chance(self, words: int) -> float:
        return math.log(max(2, self._searcher.num_docs)) + math.log(max(1, words))

    def _rarest_tokens(self, words: Mapping[str, float]) -> tuple[dict[str, float], int]:
        """The rarest tokens of a sentence that any file has, with how much each tells; and how many it has in all."""
        telling: dict[str, float] = {}
        for word, part in words.items():
            if self._analyze.tells(word):
                telling.update((token, max(part, telling.get(token, 0.0))) for token in self._analyze(said_alone(word)))
        weights = {token: part * self._rarity(token) for token, part in telling.items() if self._searcher.doc_freq(FIELD, token)}
        return dict(sorted(weights.items(), key=lambda weighted: (-weighted[1], weighted[0]))[:_MOST_SAID]), len(telling)

    def _weighed(self, words: Mapping[str, float], limit: int, meant: list[tuple[Occur, Query]]) -> dict[str, float]:
        """The files that have most of these words by what they weigh, with what that is."""
        if not words:
            return {}
        any_of = [(Occur.Should, Query.const_score_query(self._term(token), weight)) for token, weight in words.items()]
        parts = [(Occur.Must, Query.boolean_query(any_of)), *meant]
        hits = self._searcher.search(Query.boolean_query(parts), limit, count=False).hits
        return dict(self._files(hits))

    def _common(self, words: Collection[str], paths: Collection[str]) -> dict[str, frozenset[str]]:
        """Which of these words each of these files has."""
        if not words or not paths:
            return {}
        tokens = list(words)
        # Each word scores a bit of its own: sums of powers of two below 2**24 are exact in a score's 32 bits.
        bits = [(Occur.Should, Query.const_score_query(self._term(token), float(1 << n))) for n, token in enumerate(tokens)]
        parts = [(Occur.Must, Query.boolean_query(bits)), (Occur.Must, self._filter("path", paths))]
        hits = self._searcher.search(Query.boolean_query(parts), len(paths), count=False).hits
        return {
            path: frozenset(token for n, token in enumerate(tokens) if int(score) >> n & 1) for path, score in self._files(hits)
        }

    def _clauses(self, text: str) -> tuple[Clause, ...]:
        """The clauses to look for: without the function words of the language, and without words that stand everywhere."""
        clauses = self._query_of(text)
        if self._searcher.num_docs < _MANY:
            return clauses
        most = EVERYWHERE * self._searcher.num_docs
        telling = [
            c for c in clauses if c.needed or c.prefix or any(self._searcher.doc_freq(FIELD, token) <= most for token in c.tokens)
        ]
        return tuple(telling) or clauses

    def _query_of(self, text: str) -> tuple[Clause, ...]:
        """A question as it is read; kept for a moment, for one answer asks for it several times."""
        clauses = self._read.get(text)
        if clauses is None:
            if len(self._read) >= _MOST_READ:
                self._read.clear()
            read = read_query(text, self._analyze, self._analyze.tells)
            clauses = self._read[text] = tuple(part for clause in read for part in self._with_letters(clause))
        return clauses

    def _with_letters(self, clause: Clause) -> Iterator[Clause]:
        """A clause, and the letters of a word in a script without spaces that no text has: `公园` is asked for, `颐和园` said."""
        yield clause
        if (
            clause.pairs
            and all(map(is_word_by_letter, clause.tokens))
            and not any(self._frequencies(token)[0] for token in clause.tokens)
        ):
            letters = dict.fromkeys("".join(clause.tokens))
            yield from (Clause((letter,), prefix=True, optional=True) for letter in letters)

    def _nearest(
        self,
        names: Iterable[frozenset[str]],
        words: frozenset[str],
        weights: Mapping[str, float],
        total: float,
        framing: frozenset[str],
    ) -> float:
        """How nearly the nearest of some names, each with a word of it, is the question: the part of the question that it has,
        squared, times the part of it that is asked for.
        """
        best = 0.0
        for name in names:
            asked = sum(map(weights.__getitem__, name.intersection(words)))
            share = (asked / total) ** 2
            # It is no nearer than the share; where that is not enough, how rare all its words are need not be asked.
            if share > best:
                telling = name if name.isdisjoint(framing) else name.difference(framing)
                best = max(best, share * asked / sum(map(self._rarity, telling)))
        return best

    def _tokens(self, text: SearchDocument) -> list[str]:
        tokens = [token for part, times in parts_of(text) for token in self._analyze(part) * times]
        return [*tokens, *(token for _, part in light_parts(text) for token in self._analyze(part))]

    def _found(
        self,
        clauses: Sequence[Clause],
        limit: int,
        classes: Collection[str] | None,
        types: Collection[str] | None,
        near: bool,
    ) -> list[TextHit]:
        parts_of_query = [(Occur.Must if clause.needed else Occur.Should, self._query(clause)) for clause in clauses]
        parts_of_query.extend((Occur.Should, pair) for pair in (self._pairs(clauses) if near else ()))
        parts = [(Occur.Must, Query.boolean_query(parts_of_query))]
        for field, values in (("class", classes), ("type", types)):
            if values is not None:
                parts.append(self._only(field, values))
        # More than asked, so that ties at the limit fall the same way whatever order the documents were written in.
        hits = self._searcher.search(Query.boolean_query(parts), limit + _SPARE, count=False).hits
        least = hits[limit - 1][0] if len(hits) >= limit else 0.0
        return [TextHit(path, score) for path, score in self._files(hit for hit in hits if hit[0] >= least)]

    def _files(self, hits: Iterable[tuple[float, tantivy.DocAddress]]) -> Iterator[tuple[str, float]]:
        """The files of documents with their scores; what was looked up once is kept, for unpacking takes longer than finding."""
        stored = self._stored
        for score, at in hits:
            place = at.segment_ord << 32 | at.doc
            path = stored.get(place)
            yield (path if path is not None else self._unpacked(at, place)), score

    def _unpacked(self, at: tantivy.DocAddress, place: int) -> str:
        if len(self._stored) >= _MOST_KEPT:
            self._stored.clear()
            self._called.clear()
        document = self._searcher.doc(at)
        path = self._stored[place] = str(document["path"][0])
        self._called[path] = bytes(document["called"][0]).decode()
        return path

    def _only(self, field: str, values: Collection[str]) -> tuple[Occur, Query]:
        """The filter that limits an answer to values of a field: asked of the fewer documents, those with them or with others."""
        known = self._meant.get((field, *values))
        if known is None:
            known = self._meant[(field, *values)] = self._limit(field, values)
        return known

    def _limit(self, field: str, values: Collection[str]) -> tuple[Occur, Query]:
        others = [value for value, _ in self._searcher.terms_with_prefix(field, "", limit=_MOST_VALUES) if value not in values]
        meant, meant_not = (sum(self._searcher.doc_freq(field, token) for token in tokens) for tokens in (values, others))
        if others and meant_not < meant and len(others) + len(values) < _MOST_VALUES:
            return Occur.MustNot, self._filter(field, others)
        return Occur.Must, self._filter(field, values)

    def _pairs(self, clauses: Sequence[Clause]) -> Iterable[Query]:
        """Neighbouring single words of a query, close together."""
        plain = (clause for clause in clauses if not clause.instead)
        words = [clause.tokens[0] if len(clause.tokens) == 1 and not clause.prefix else None for clause in plain]
        for word, other in pairwise(words):
            if word is None or other is None:
                continue
            # That two words stand close which stand everywhere says little, and looking at all their places takes 20 ms.
            if min(self._searcher.doc_freq(FIELD, word) for word in (word, other)) <= _MOST_PLACES:
                yield Query.boost_query(Query.phrase_query(SCHEMA, FIELD, [word, other], slop=_NEAR_GAP), _NEAR_BOOST)

    def _filter(self, field: str, values: Collection[str]) -> Query:
        # Term by term, which is three times as fast as a set of terms: that one walks through the whole dictionary.
        any_of = Query.boolean_query([(Occur.Should, Query.term_query(SCHEMA, field, value)) for value in sorted(values)])
        # With a score of nothing: that a note is of the right class says nothing of its words.
        return Query.const_score_query(any_of, 0.0)

    def _query(self, clause: Clause) -> Query:
        parts = [(Occur.Should, query) for query in self._clause_variants(clause)]
        query = Query.boolean_query(parts) if len(parts) > 1 else parts[0][1]
        share = self._part(clause)
        return query if share == 1.0 else Query.boost_query(query, share)

    def _clause_variants(self, clause: Clause) -> Iterable[Query]:
        *before, last = clause.tokens
        if clause.prefix and not before:
            # Bounded: the words that begin with one letter are a good part of the vocabulary.
            endings = self._searcher.terms_with_prefix(FIELD, last, limit=_MOST_ENDINGS)
            yield from map(self._term, dict.fromkeys([last, *(term for term, _ in endings)]))
        elif clause.prefix:
            yield Query.phrase_prefix_query(SCHEMA, FIELD, list(clause.tokens))
        elif before:
            yield Query.phrase_query(SCHEMA, FIELD, list(clause.tokens))
        else:
            yield self._term(last)
        if clause.together:
            yield from map(self._term, dict.fromkeys(clause.tokens))
        yield from self._lightly(clause)

    def _lightly(self, clause: Clause) -> Iterable[Query]:
        """Where the words of a clause stand among properties, or in another spelling: with a score that no length changes."""
        if clause.instead:  # what has the other spelling has the word as it was typed among its own
            return
        single = clause.together or len(clause.tokens) == 1
        for at, (field, share) in enumerate(_KNOWN.items(), 1):
            known = [token for token in dict.fromkeys(clause.tokens) if self._frequencies(token)[at]]
            if single:
                for token in known:
                    score = (share if self._frequencies(token)[0] else _LIGHTLY) * self._rarity(token)
                    yield Query.const_score_query(Query.term_query(SCHEMA, field, token), score)
            elif len(known) == len(set(clause.tokens)):
                phrase = Query.phrase_query(SCHEMA, field, list(clause.tokens))
                yield Query.const_score_query(phrase, share * sum(map(self._rarity, clause.tokens)))

    def _anywhere(self, token: str, weight: float) -> Query:
        """A word in the text of a document, or where it is found lightly: with its weight, or a share of that."""
        if _is_letter(token):
            begun = self._searcher.terms_with_prefix(FIELD, token, limit=_MOST_ENDINGS)
            any_of = [(Occur.Should, self._term(term)) for term, _ in begun]
            return Query.const_score_query(Query.boolean_query(any_of), weight)
        ways = [Query.const_score_query(self._term(token), weight)]
        known, *light = self._frequencies(token)
        for field, count in zip(_KNOWN, light, strict=True):
            if count:
                share = _COVERS[field] if known else 1.0
                ways.append(Query.const_score_query(Query.term_query(SCHEMA, field, token), share * weight))
        return ways[0] if len(ways) == 1 else Query.disjunction_max_query(ways)

    def _term(self, token: str) -> Query:
        return Query.term_query(SCHEMA, FIELD, token)

    def _rarity(self, token: str) -> float:
        """BM25's inverse document frequency."""
        rarity = self._rarities.get(token)
        if rarity is None:
            if len(self._rarities) >= _MOST_KEPT:
                self._rarities.clear()
            known, *lightly = self._frequencies(token)
            frequency = known or max(lightly)
            total = max(self._searcher.num_docs, frequency)
            rarity = self._rarities[token] = math.log(1 + (total - frequency + 0.5) / (frequency + 0.5))
        return rarity

    def _score(self, text: SearchDocument, clauses: Iterable[Clause]) -> float:
        """About what the index would say of a document that it does not hold yet (as of average length); 0: not found."""
        tokens = tuple(self._tokens(text))
        total = 0.0
        for clause in clauses:
            score = self._clause_score(tokens, clause)
            if clause.needed and score == 0:
                return 0.0
            total += score
        return total

    def _clause_score(self, tokens: tuple[str, ...], clause: Clause) -> float:
        counts = Counter(tokens)
        count = _occurrences(tokens, clause)
        score = sum(map(self._rarity, clause.tokens)) * _saturated(count)
        if clause.together:
            score += sum(self._rarity(token) * _saturated(counts[token]) for token in set(clause.tokens))
        return score


def _is_letter(token: str) -> bool:
    # What is ASCII, as nearly all tokens are, asks nothing of other scripts.
    return not token.isascii() and is_letter(token)


def _has(tokens: Collection[str], word: str) -> bool:
    """Whether a word is among tokens; one letter of a script without spaces where any pair begins with it."""
    return word in tokens or (_is_letter(word) and any(token.startswith(word) for token in tokens))


def _keep_best(
    best: dict[str, float],
    paths: Mapping[str, Iterable[str]],
    words: Mapping[str, float],
    chance: float,
    less: Mapping[str, float],
) -> None:
    for path, common in paths.items():
        takes = less.get(path, 0.0)
        value = sum(max(0.0, words[token] - takes) for token in common) - chance
        if value > best.get(path, -math.inf):
            best[path] = value


def _occurrences(tokens: tuple[str, ...], clause: Clause) -> int:
    *before, last = clause.tokens
    ends: Callable[[str], bool] = (lambda token: token.startswith(last)) if clause.prefix else last.__eq__
    length = len(clause.tokens)
    if length == 1:
        return sum(map(ends, tokens))
    starts = range(len(tokens) - length + 1)
    return sum(list(tokens[at : at + length - 1]) == before and ends(tokens[at + length - 1]) for at in starts)


def _saturated(count: int) -> float:
    return count * (_K1 + 1) / (count + _K1)


def _matches_filter(text: SearchDocument, classes: Collection[str] | None, types: Collection[str] | None) -> bool:
    return (classes is None or text.record_class in classes) and (types is None or text.type in types)
