"""Full-text search finds what reading every publication finds; no text at all breaks the query language."""

import json
import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import permutations
from pathlib import Path
from random import Random

import pytest

from shirube.caller import LOCAL
from shirube.query.errors import QuerySyntaxError
from shirube.query.filters import Filters
from shirube.query.parser import parse
from shirube.query.tree import And, Near, Node, Not, Or, Phrase, Term, walk
from shirube.settings import load_settings
from shirube.text.normalize import fold
from shirube.toolsets.patents import schema
from shirube.toolsets.patents.errors import InvalidQuery
from shirube.toolsets.patents.importing import import_files
from shirube.toolsets.patents.service import PatentsService
from shirube.toolsets.registry import Application
from tests.beside import beside

# Reading is quick in few publications; together there are more than ten thousand queries.
PUBLICATIONS, QUERIES, FEW, QUERIES_OF_FEW = 250, 2500, 25, 7000
REAL_PUBLICATIONS, REAL_QUERIES, MISREAD_QUERIES, SAVED_QUERIES, NONSENSE = 400, 500, 800, 100, 20_000
MUCH_NONSENSE = 100_000
EVERYTHING = 2000

# Words of patents, words inside words, one word in several writings, and what looks like a word and is none.
WORDS = (
    "顔認証|顔|認証|認|装置|顔認証装置|車両|車|車両制御装置|制御|制御部|自動運転|運転者|自動|無人搬送車|搬送|センサ|センサー|"
    "ｾﾝｻ|ガイド|ｶﾞｲﾄﾞ|カ|ガ|カメラ|画像処理|画像|人間|人々|々|ー|サーバー|サーバ|の|を備える|すること|こと|ことこと|"
    "櫻|桜|國|国|第1の|第１|１|12|123|3.5|1,000|10km/h|５Ｇ|5G|2本|AGV|ＡＧＶ|agv|AG|a|A|GV|CPU|GPU|cpu12|IoT|iot機器|"
    "Wi-Fi|Wi—Fi|wi|fi|ﬁ|A-1|B2|x_y|x|C++|C|Straße|STRASSE|é|e|α|β|①|㎝|cm|½|℃|°C|…|...|～|~|"
    "q\u0301|q|𠮷野|𠮷|𩸽|😀|or|AND|not|nor|株式会社|(株)|㈱|R&D|a*b|ab|a\\b|“引用”|ＡＢＣ|abcabc|abc|bc"
).split("|")
SIGNS = (
    "、|。|・|，|,|.|-|－|/|\\|(|)|（|）|「|」|[|]|{|}|%|&|#|@|!|?|+|=|^|_|:|;|'|\"|*|＊|>|$|`|×|→|■".split(
        "|"
    )
)
BETWEEN = ("", "", "", "", "、", "。", " ", "　", "\n", "・", "-", "  ", "_")
SYNTAX = frozenset('()（）*＊"＂“”„‟〝〞〟\\＼')
FULL_WIDTH = {**{chr(code): chr(code + 0xFEE0) for code in range(0x21, 0x7F)}, " ": "　", '"': "“"}
KINDS = ("term", "wildcard", "phrase", "near", "order", "group", "and", "or", "not")
FIELDS = ("title", "abst", "claim", "desc")
BOOSTS: Mapping[schema.FieldName, float] = {"title": 80, "abst": 10, "claim": 5, "desc": 1}

Publication = Sequence[str]
Row = Mapping[str, object]


# The texts that are searched


def made_text(random: Random, fewest: int, most: int) -> str:
    pieces: list[str] = []
    for _ in range(random.randint(fewest, most)):
        word = random.choice(SIGNS if random.random() < 0.08 else WORDS)
        cut = random.randrange(len(word)) if random.random() < 0.1 else 0
        pieces += [word[cut:], random.choice(BETWEEN)]
    return "".join(pieces).strip()


def made_rows(random: Random) -> list[Row]:
    return [
        {
            "pub_id": f"JP2021-{100_000 + number}A",
            "title": made_text(random, 1, 3),
            "abst": made_text(random, 0, 9),
            "claims": [made_text(random, 1, 4) for _ in range(random.choice((0, 0, 1, 1, 2)))],
            "desc": made_text(random, 5, 15) if random.random() < 0.2 else "",
        }
        for number in range(PUBLICATIONS)
    ]


def real_rows(path: Path) -> list[Row]:
    """Real titles and abstracts, without the line breaks of the gazette."""
    lines = path.read_text().splitlines()
    chosen = [json.loads(line) for line in lines[:: len(lines) // REAL_PUBLICATIONS]]
    texts = [(row["title"], re.sub("(?i)<br>", "", row["abstract"] or "").strip()) for row in chosen]
    return [
        {"pub_id": f"JP2022-{100_000 + number}A", "title": title, "abst": abstract}
        for number, (title, abstract) in enumerate(texts)
        if title and "<" not in title + abstract
    ]


def folded_fields(row: Row) -> Publication:
    claims = row.get("claims", ())
    assert isinstance(claims, Sequence)
    texts = {**row, "claim": "\n".join(claim for claim in claims if claim)}
    return [fold(str(texts.get(name, ""))) for name in FIELDS]


# What a query means


@dataclass
class Oracle:
    """Reads every text. `misread` makes it misread one kind of node, to see which answers hang on that kind."""

    publications: Mapping[str, Publication]
    misread: str = ""
    _terms: dict[tuple[str, ...], frozenset[str]] = field(default_factory=dict)
    _spans: dict[tuple[tuple[str, ...], str, int], list[tuple[int, int]]] = field(default_factory=dict)

    @cached_property
    def everything(self) -> frozenset[str]:
        return frozenset(self.publications)

    def found(self, node: Node) -> frozenset[str]:
        match node:
            case And(operands):
                return self._joined([self.found(each) for each in operands], all_of=self.misread != "and")
            case Or(operands):
                return self._joined([self.found(each) for each in operands], all_of=self.misread == "or")
            case Not(operand):
                inner = self.found(operand)
                return inner if self.misread == "not" else self.everything - inner
            case Term(parts):
                return self._with_term(tuple(map(fold, parts)))
            case Phrase(text) if self.misread == "phrase":
                return self._joined([self._with_term((word,)) for word in fold(text).split()], all_of=True)
            case Phrase(text):
                return self._with_term((fold(text),))
            case Near():
                return self._with_near(node)

    def _joined(self, sets: Sequence[frozenset[str]], *, all_of: bool) -> frozenset[str]:
        joined = self.everything if all_of else frozenset[str]()
        for each in sets:
            joined = joined & each if all_of else joined | each
        return joined

    def _with_term(self, parts: tuple[str, ...]) -> frozenset[str]:
        if parts not in self._terms:
            gap = r"[\s\S]*" if self.misread == "wildcard" else r"\w*"
            pattern = gap.join(map(re.escape, parts))
            if self.misread == "term":
                pattern = rf"(?<!\w){pattern}(?!\w)"
            search = re.compile(pattern).search
            self._terms[parts] = frozenset(
                name for name, texts in self.publications.items() if any(search(text) for text in texts)
            )
        return self._terms[parts]

    def _with_near(self, near: Near) -> frozenset[str]:
        groups = [[tuple(map(fold, term.parts)) for term in group] for group in near.groups]
        if self.misread == "group":
            groups = [group[:1] for group in groups]
        held = [self._joined([self._with_term(term) for term in group], all_of=False) for group in groups]
        candidates = self._joined(held, all_of=True)
        if self.misread == "near":
            return candidates
        if near.ordered and self.misread != "order":
            orders = [tuple(range(len(groups)))]
        else:
            orders = list(permutations(range(len(groups))))
        return frozenset(
            name
            for name in candidates
            for at in range(len(FIELDS))
            if self._close(self._places(name, at, groups), orders, near.distance)
        )

    def _places(
        self, name: str, at: int, groups: Sequence[Sequence[tuple[str, ...]]]
    ) -> list[list[tuple[int, int]]]:
        """Of each group, where one of its terms stands in a field: [start, end)."""
        for group in groups:
            for parts in group:
                if (parts, name, at) not in self._spans:
                    self._spans[parts, name, at] = list(spans(parts, self.publications[name][at]))
        return [[span for parts in group for span in self._spans[parts, name, at]] for group in groups]

    def _close(
        self, places: list[list[tuple[int, int]]], orders: Sequence[tuple[int, ...]], distance: int
    ) -> bool:
        if not all(places):
            return False
        for order in orders:
            ends = sorted({end for _, end in places[order[0]]})
            for group in order[1:]:
                ends = sorted({end for start, end in places[group] if follows(ends, start, distance)})
            if ends:
                return True
        return False


def follows(ends: Sequence[int], start: int, distance: int) -> bool:
    """Whether one of the ends lies before `start`, no more than `distance` characters away."""
    at = bisect_right(ends, start)
    return at > 0 and start - ends[at - 1] <= distance


def spans(parts: tuple[str, ...], text: str) -> Iterator[tuple[int, int]]:
    """Every place where a term stands, with every length that its wildcards may take."""
    start = text.find(parts[0])
    while start >= 0:
        ends = {start + len(parts[0])}
        for part in parts[1:]:
            reached = set[int]()
            for end in ends:
                last = end
                while last < len(text) and re.match(r"\w", text[last]):
                    last += 1
                reached |= {at + len(part) for at in range(end, last + 1) if text.startswith(part, at)}
            ends = reached
        yield from ((start, end) for end in ends)
        start = text.find(parts[0], start + 1)


# What is asked


@dataclass
class Asking:
    """Makes queries: of the words, and of pieces of the texts."""

    random: Random
    texts: Sequence[str]
    words: Sequence[str]

    def query(self) -> str:
        """Most of them short, so that each kind stands alone too."""
        if self.random.random() < 0.65:
            return self.operand(3)
        return self.joined(self.random.choice((1, 2, 3, 3, 3)))

    def joined(self, depth: int) -> str:
        written = self.operand(depth)
        for _ in range(self.random.choice((1, 1, 1, 1, 2))):
            between = self.random.choice(("", "AND", "OR", "OR"))
            written += self.space() + (self.operator(between) + self.space() if between else "")
            written += self.operand(depth)
        return written

    def operand(self, depth: int) -> str:
        chance = self.random.random()
        if chance < 0.09:
            return self.operator("NOT") + self.space() + self.operand(depth)
        if chance < 0.24:
            return self.near()
        if chance < 0.38:
            return self.phrase()
        if chance < 0.58 and depth < 3:
            opening, closing = self.random.choice(("()", "()", "（）", "(）"))
            return opening + self.joined(depth + 1) + closing
        return self.word()

    def word(self) -> str:
        return escaped(self.piece()) if self.random.random() < 0.7 else self.wildcard()

    def wildcard(self) -> str:
        """The star at the end, or inside where the text goes on with something else."""
        star = self.random.choice(("*", "*", "＊", "**"))
        text = self.piece(2, 8)
        if self.random.random() < 0.3 or len(text) < 2:
            return escaped(text) + star
        if self.random.random() < 0.4:
            return escaped(text) + star + escaped(self.piece())
        start = self.random.randint(1, len(text) - 1)
        end = self.random.randint(start, len(text))
        return escaped(text[:start]) + star + escaped(text[end:])

    def phrase(self) -> str:
        if self.random.random() < 0.7:
            text = self.cut_out(self.random.randint(1, 12))
        else:
            text = self.piece() + self.random.choice(("", " ", "　", "、")) + self.piece()
        inner = re.sub(r'([\\＼"＂“”„‟〝〞〟])', r"\\\1", text.strip() or "の")
        quote = self.random.choice(('""', '""', "“”", "＂＂"))
        return quote[0] + inner + quote[1]

    def near(self) -> str:
        count = self.random.choice((2, 2, 2, 2, 2, 3, 4))
        groups = [self.group(text) for text in self.neighbours(count)]
        distance = self.random.choice((0, 1, 2, 3, 5, 8, 10, 20, 50))
        number = self.random.choice((f"{{{distance}}}", f"{distance}"))
        head = self.random.choice(("*N", "*N", "*n", "*ONP", "*ONP", "*onp")) + number
        if self.random.random() < 0.15:
            head = full_width(head)
        opening, closing = self.random.choice(('""', '""', "“”"))
        return head + opening + self.space().join(groups) + closing

    def neighbours(self, count: int) -> list[str]:
        """Texts that stand near each other, or anything."""
        if self.random.random() < 0.25:
            return [self.piece() for _ in range(count)]
        text = self.random.choice(self.texts)
        places = sorted(self.random.randrange(len(text)) for _ in range(count))
        if self.random.random() < 0.6:
            first = places[0]
            places = [first + self.random.randint(1, 5) * number for number in range(count)]
        pieces = [text[place : place + self.random.choice((1, 1, 2, 2, 3))].strip() for place in places]
        if self.random.random() < 0.3:
            self.random.shuffle(pieces)
        return [piece or self.piece() for piece in pieces]

    def group(self, text: str) -> str:
        written = escaped(text)
        if self.random.random() < 0.15:
            written += self.random.choice(("*", "＊", f"*{escaped(self.piece(1, 1))}"))
        if self.random.random() > 0.25:
            return written
        others = [escaped(self.piece()) for _ in range(self.random.choice((1, 1, 2)))]
        alternatives = [written, *others]
        self.random.shuffle(alternatives)
        inner = self.random.choice((" ", " OR ", " ＯＲ ")).join(alternatives)
        return f"({inner})" if self.random.random() < 0.8 else f"（{inner}）"

    def piece(self, shortest: int = 1, longest: int = 5) -> str:
        """A word, a part of one, a sign, or something out of a text without its spaces."""
        chance = self.random.random()
        if chance < 0.3:
            return self.random.choice(self.words)
        if chance < 0.35:
            return self.random.choice(SIGNS)
        if chance < 0.45:
            return full_width(self.random.choice(self.words))
        text = self.cut_out(self.random.randint(shortest, longest)).split()
        return self.random.choice(text) if text else self.random.choice(self.words)

    def cut_out(self, size: int) -> str:
        text = self.random.choice(self.texts)
        start = self.random.randint(0, max(len(text) - size, 0))
        return text[start : start + size]

    def operator(self, name: str) -> str:
        return self.random.choice((name, name, name.lower(), name.capitalize(), full_width(name)))

    def space(self) -> str:
        return self.random.choice((" ", " ", " ", "　", "  ", "\t"))


def full_width(text: str) -> str:
    return "".join(FULL_WIDTH.get(character, character) for character in text)


def escaped(text: str) -> str:
    """A word that stands for itself."""
    written = "".join("\\" + each if each in SYNTAX or each.isspace() else each for each in text)
    return f"\\{written}" if fold(text) in ("and", "or", "not") else written


def kinds_of(node: Node) -> set[str]:
    kinds = set[str]()
    for each in walk(node):
        match each:
            case Term(parts):
                kinds.add("term" if len(parts) == 1 else "wildcard")
            case Near(groups=groups):
                chosen = any(len(group) > 1 for group in groups)
                kinds |= {"near", "order" if each.ordered else "near", "group" if chosen else "near"}
            case _:
                kinds.add(type(each).__name__.lower())
    return kinds


# The product


@dataclass
class Library:
    """Publications, once in the product and once as they were written."""

    service: PatentsService
    rows: Sequence[Row]

    @cached_property
    def publications(self) -> dict[str, Publication]:
        return {str(row["pub_id"]): folded_fields(row) for row in self.rows}

    @cached_property
    def oracle(self) -> Oracle:
        return Oracle(self.publications)

    def found(self, node: Node) -> tuple[list[str], int]:
        hits, count = self.service.library.found(LOCAL, node, Filters(), BOOSTS, EVERYTHING, "score")
        return [name for name, _ in hits], count

    def asking(self, seed: int, words: Sequence[str] = WORDS) -> Asking:
        written = [text for row in self.rows for text in (row["title"], row["abst"], row.get("desc"))]
        folded = [text for texts in self.publications.values() for text in texts]
        return Asking(Random(seed), [str(text) for text in [*written, *folded] if text], words)

    def compare(self, queries: Sequence[str]) -> Counter[str]:
        """Asks both; how many found some and nothing, and how many had each kind of node."""
        seen, wrong = Counter[str](), list[str]()
        for query in queries:
            node = parse(query)
            expected = self.oracle.found(node)
            found, count = self.found(node)
            if sorted(found) != sorted(expected) or count != len(expected):
                wrong.append(difference(query, node, found, expected))
            seen.update({"some" if expected else "nothing", *kinds_of(node)})
        assert not wrong, "\n".join([f"{len(wrong)} of {len(queries)}", *sorted(wrong, key=len)[:20]])
        return seen


def difference(query: str, node: Node, found: Sequence[str], expected: frozenset[str]) -> str:
    wrong, missing = sorted(set(found) - expected), sorted(expected - set(found))
    return f"{query!r} read as {node}: {len(expected)} hold, wrong are {wrong[:2]}, missing are {missing[:2]}"


def library_of(rows: Sequence[Row], folder: Path) -> Library:
    path = folder / "rows.jsonl"
    path.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows))
    app = Application(load_settings({"SHIRUBE_HOME": str(folder / "home"), "SHIRUBE_EMBEDDER": "none"}))
    report = import_files(app.workspace().database, LOCAL, [path])
    assert (report.added, report.refused) == (len(rows), [])
    service = app.patents()
    service.library.catch_up(LOCAL.tenant)
    return Library(service, rows)


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return library_of(made_rows(Random(1)), tmp_path_factory.mktemp("made"))


@pytest.fixture(scope="module")
def few(tmp_path_factory: pytest.TempPathFactory) -> Library:
    return library_of(made_rows(Random(7))[:FEW], tmp_path_factory.mktemp("few"))


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory) -> Library:
    path = beside("patents", "jplatpat-vehicle-control.jsonl")
    return library_of(real_rows(path), tmp_path_factory.mktemp("real"))


def enough_of_each(seen: Mapping[str, int], count: int) -> None:
    """Most find something, some find nothing, and every kind of node is there."""
    assert seen["some"] >= count * 0.5, seen
    assert seen["nothing"] >= count * 0.02, seen
    assert all(seen[kind] >= count * 0.05 for kind in KINDS), seen


def test_generated_queries_find_what_reading_every_publication_finds(made: Library) -> None:
    """Thousands of queries over texts that are made to be confusing."""
    asking = made.asking(2)
    enough_of_each(made.compare([asking.query() for _ in range(QUERIES)]), QUERIES)


def test_generated_queries_find_what_reading_a_few_publications_finds(few: Library) -> None:
    asking = few.asking(8)
    enough_of_each(few.compare([asking.query() for _ in range(QUERIES_OF_FEW)]), QUERIES_OF_FEW)


def test_each_kind_of_node_decides_answers(made: Library) -> None:
    """Whoever misreads one kind of node finds something else for many of the same queries."""
    asking = made.asking(2)
    nodes = [parse(asking.query()) for _ in range(MISREAD_QUERIES)]
    for kind in KINDS:
        reader = Oracle(made.publications, kind)
        concerned = [node for node in nodes if kind in kinds_of(node)]
        changed = sum(reader.found(node) != made.oracle.found(node) for node in concerned)
        assert changed >= 10, (kind, changed, len(concerned))


def test_queries_over_real_abstracts_find_what_reading_them_finds(real: Library) -> None:
    texts = "".join(text for texts in real.publications.values() for text in texts)
    words = Counter(re.findall(r"[一-龠]{2,4}|[ァ-ー]{2,6}|[a-z]+", texts)).most_common(300)
    asking = real.asking(3, [word for word, _ in words])
    assert len(real.rows) >= REAL_PUBLICATIONS * 0.9
    enough_of_each(real.compare([asking.query() for _ in range(REAL_QUERIES)]), REAL_QUERIES)


@pytest.mark.parametrize(
    ("query", "same"),
    [
        ("Wi—Fi", "wi-fi"),
        ("Wi−Fi", "wi-fi"),
        ('"Wi‐Fi"', "wi-fi"),
        ("國", "国"),
        ('*N9"櫻 a"', '*N9"桜 a"'),
        ("顔\u200b認証", "顔認証"),
        ("顔*\u200b", "顔*"),
        ("ｾﾝｻ", "センサ"),
        ("ＡＧＶ", "agv"),
    ],
)
def test_a_query_is_folded_as_the_texts_are(made: Library, query: str, same: str) -> None:
    """Whoever copies a word out of a text finds that text, whatever dash or old character it is written with."""
    found, expected = (set(made.found(parse(each))[0]) for each in (query, same))
    assert expected
    assert found == expected


def test_a_saved_run_counts_all_matches_and_holds_the_first(made: Library) -> None:
    """The tool itself: the count is of all matches, the run holds as many as were asked for."""
    asking = made.asking(4)
    for _ in range(SAVED_QUERIES):
        query = asking.query()
        expected = made.oracle.found(parse(query))
        handle = made.service.fulltext(LOCAL, schema.FulltextInput(query=query, top_k=10))
        ids = made.service.ids(LOCAL, handle.run_id).root
        assert handle.hit_count == len(expected), query
        assert len(ids) == len(set(ids)) == min(10, len(expected)), query
        assert set(ids) <= expected, query


# What nobody would ask

READABLE = (
    "顔認証", "AGV", '"顔 認証"', "(顔 OR 認証)", "顔*", "a*b", '*N3"顔 装置"', '*ONP{2}"顔 (認 OR 証)"', "NOT 顔",
)  # fmt: skip
SYNTACTIC = [
    *'()（）*＊"“”＂\\＼{}｛｝　 \t',
    *'*N *ONP *n{ ＊ＮＯ *N3" *ONP{2}" ＊Ｎ５“ *N1000" AND OR NOT and or not ＡＮＤ ＯＲ ＮＯＴ And'.split(),
]
CHARACTERS = [
    *"\n \u3000、。・-_.,;:!?/+=<>[]|&%$#@~^`'0１2９aAａnNｎoOｏpPｐ顔認証装置ｶﾞ゛ﾟー々éß½㈱İﷺ😀𠮷",
    *("\u200b", "\ufe0f", "\u0301", "\u3099", "\x00", "\x7f", "\u2028", "\u202e"),
]


def nonsense(random: Random) -> str:
    if random.random() < 0.045:
        pieces = random.choices(READABLE, k=random.randint(1, 3))
        pieces += random.choices(SYNTACTIC + CHARACTERS, k=random.choice((0, 1, 1, 2)))
        random.shuffle(pieces)
        return random.choice(("", " ")).join(pieces)
    count = random.randint(0, 2) if random.random() < 0.02 else random.randint(5, random.choice((10, 30)))
    kinds = (*[SYNTACTIC] * 5, CHARACTERS)
    return "".join(random.choice(random.choice(kinds)) for _ in range(count))


def asked_without_saving(library: Library, query: str) -> int:
    """As the tool asks, but no run is kept of what can be read."""
    try:
        node = parse(query)
    except QuerySyntaxError:
        return library.service.fulltext(LOCAL, schema.FulltextInput(query=query)).hit_count
    return library.found(node)[1]


def outcome(library: Library, query: str, saved: bool) -> str | InvalidQuery:
    """Whatever else is raised fails the test."""
    try:
        if saved:
            count = library.service.fulltext(LOCAL, schema.FulltextInput(query=query)).hit_count
        else:
            count = asked_without_saving(library, query)
    except InvalidQuery as refused:
        return refused
    return "found" if count else "nothing"


@pytest.mark.parametrize(
    ("seed", "queries"), [(5, NONSENSE), pytest.param(6, MUCH_NONSENSE, marks=pytest.mark.soak)]
)
def test_any_text_gives_a_result_or_invalid_query_with_its_position(
    few: Library, seed: int, queries: int
) -> None:
    random = Random(seed)
    seen = Counter[str]()
    for number in range(queries):
        query = nonsense(random)
        answer = outcome(few, query, saved=number % 200 == 0)
        if isinstance(answer, InvalidQuery):
            position = answer.details["position"]
            assert answer.code == "INVALID_QUERY"
            assert type(position) is int, query
            assert 0 <= position <= len(query), query
        seen["refused" if isinstance(answer, InvalidQuery) else answer] += 1
    assert min(seen["found"], seen["nothing"]) >= 200, seen
    assert seen["refused"] >= queries / 2, seen


def test_the_oracle_itself_reads_as_a_person_would() -> None:
    """Cases small enough to see: the evaluator that judges the product is judged here."""
    texts = {"A": ["顔認証装置", "車両を制御する。agv-12を"], "B": ["顔、認証", "", "制御\n車両"]}
    oracle = Oracle({name: [*fields, "", "", ""][:4] for name, fields in texts.items()})
    for query, expected in {
        "認証装": "A",
        "顔 認証": "AB",
        "gv": "A",
        '"顔認証"': "A",
        "顔*装置": "A",
        "顔*認証": "A",
        "NOT 装置": "B",
        '*N0"車両 を"': "A",
        '*N1"車両 制御"': "AB",
        '*ONP1"車両 制御"': "A",
        '*ONP0"顔* 装置"': "A",
        '*N0"顔 (認 OR 、)"': "AB",
        '*N50"顔 制御"': "",
        '*N0"認証 証装"': "",
    }.items():
        assert "".join(sorted(oracle.found(parse(query)))) == expected, query
