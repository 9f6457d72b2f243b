"""What the re-ranker learns from: questions, keywords, captions, sentences and translations, each with its passages.

None of it comes from a set that judges. The same data give the same sets, whenever they are made.

| set | query → passage | from |
| --- | --- | --- |
| questions | a question → the paragraph that answers it | jaquad-train (CC BY-SA 3.0) |
| keywords | the rarest one to four words of another question → paragraphs that hold them | jaquad-train |
| entries | the words that mark a text, as an index would list them → the text | jaquad-train, laws |
| sentences | a sentence → the paragraph it was taken out of | jaquad-train |
| captions | the caption of an article → the article | laws (e-Gov, CC BY 4.0) |
| summaries | what a manual page says of itself → the page without its first paragraph | Visual Studio (CC BY 4.0) |
| headings | the heading of a section → the section | Visual Studio |
| paraphrases | a sentence → one that people judged to say the same | JSTS (JGLUE, CC BY-SA 4.0) |
| into_english, into_japanese | a sentence → a page that says it in the other language | Tatoeba (CC BY 2.0 FR) |
"""

import gzip
import json
import math
import random
import re
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from benchmarks.datasets import Dataset, Passage, data_folder, load, with_distractors
from shirube.text.sentences import sentences as sentence_spans
from shirube.text.tokenize import words

QUESTIONS = 14_000
KEYWORDS = 2000
SENTENCES = 2500
CAPTIONS = 3000
ENTRIES = 3000
SUMMARIES = 2500
HEADINGS = 2500
PARAPHRASES = 2000
TRANSLATIONS = 2500
_ARTICLES = 9000
_TITLED = 4000
_SECTIONS = 7000
_BESIDE = 0.35
_LAWS_EVERY = 12
_SAME = 4.0
_PAGES = "pages/visualstudio-docs-ja.tar.xz"
_PAGE = re.compile(r"---\n(?P<head>.*?)\n---\n(?P<body>.*)", re.DOTALL)
_DESCRIPTION = re.compile(r"^description: *['\"]?(.+?)['\"]?$", re.MULTILINE)
_HEADING = re.compile(r"^#+ +(.+)$", re.MULTILINE)
_ANCHOR = re.compile(r"<a name=[^>]*></a>")
_LINK = re.compile(r"!?\[([^\]\n]*)\]\([^)\n]*\)")
_KANA = re.compile("[ぁ-ゖァ-ヺ]")
_CAPTION = re.compile(r"^## (第[^\s]+) （(.+?)）\s*$", re.MULTILINE)


def training_sets() -> dict[str, Dataset]:
    makers: Mapping[str, Callable[[], Dataset]] = {
        "questions": questions,
        "sentences": sentences,
        "captions": captions,
        "entries": entries,
        "summaries": summaries,
        "headings": headings,
        "paraphrases": paraphrases,
        "into_english": into_english,
        "into_japanese": into_japanese,
    }
    return {name: make() for name, make in makers.items()}


def questions() -> Dataset:
    """Questions and keyword queries, among all of JaQuAD's paragraphs."""
    chance = random.Random(1)
    train = load("jaquad-train")
    everything = with_distractors(train, load("jaquad-dev"))
    chosen = chance.sample(list(train.queries), QUESTIONS + KEYWORDS)
    asked = {name: train.queries[name] for name in chosen[:QUESTIONS]}
    qrels = {name: dict(train.qrels[name]) for name in chosen[:QUESTIONS]}
    texts = {passage.id: f"{passage.title}\n{passage.text}" for passage in train.corpus}
    held = {passage.id: frozenset(words(passage.titled_text)) for passage in everything.corpus}
    frequency = _frequency(held.values())
    for name in chosen[QUESTIONS:]:
        source = next(iter(train.qrels[name]))
        known = set(words(texts[source]))
        shared = [word for word in dict.fromkeys(words(train.queries[name])) if word in known]
        rarest = sorted(shared, key=lambda word: frequency.get(word, 0))[: chance.choice([1, 2, 2, 3, 4])]
        if not rarest:
            continue
        # In the order of the question, as somebody would type them.
        picked = [word for word in shared if word in rarest]
        holding = [each for each, has in held.items() if has.issuperset(picked)]
        if len(holding) <= 10:
            asked[f"k-{name}"] = " ".join(picked)
            qrels[f"k-{name}"] = dict.fromkeys((*holding, source), 1)
    return Dataset("questions", everything.corpus, asked, qrels)


def sentences() -> Dataset:
    """A sentence of a paragraph is asked for, and the paragraph has lost it."""
    chance = random.Random(2)
    corpus, asked, qrels = [], {}, {}
    for passage in load("jaquad-train").corpus[::2]:
        spans = sentence_spans(passage.text)
        long = [span for span in spans if 20 <= span[1] - span[0] <= 120]
        if len(spans) < 4 or not long:
            corpus.append(replace(passage, title=""))
            continue
        start, end = chance.choice(long)
        corpus.append(Passage(passage.id, "", passage.text[:start] + passage.text[end:]))
        asked[passage.id] = passage.text[start:end].strip().rstrip("。")
        qrels[passage.id] = {passage.id: 1}
    return _with_queries("sentences", corpus, asked, qrels, SENTENCES, chance)


def captions() -> Dataset:
    """Articles that lost their caption, or have it as their title; the caption, or some of its words, is asked for."""
    chance = random.Random(3)
    articles = law_articles()
    corpus = []
    same: dict[str, list[tuple[str, str]]] = {}
    for number, (law, caption, text) in enumerate(articles[:_ARTICLES]):
        name = f"a{number}"
        corpus.append(Passage(name, caption if number % 2 else law, text))
        same.setdefault(caption, []).append((name, law))
    asked, qrels = {}, {}
    for number, (caption, holding) in enumerate(same.items()):
        if len(holding) <= 3:
            asked[f"c{number}"] = caption
            qrels[f"c{number}"] = {name: 1 for name, _ in holding}
        if number % 3 == 0:
            name, law = chance.choice(holding)
            asked[f"l{number}"] = f"{law} {caption}"
            qrels[f"l{number}"] = {each: 1 for each, other in holding if other == law}
        kept = words(caption)
        if number % 3 == 1 and len(kept) > 3 and len(holding) == 1:
            kept.pop(chance.randrange(len(kept)))
            asked[f"w{number}"] = " ".join(kept)
            qrels[f"w{number}"] = {holding[0][0]: 1}
    return _with_queries("captions", corpus, asked, qrels, CAPTIONS, chance)


def entries() -> Dataset:
    """Pages and articles with titles of their own; one to three words that mark a text stand for it.

    A word marks a text when it is frequent there, or in its title, and rare elsewhere. Among many texts that hold a
    word, this is what tells the one it was listed for.
    """
    chance = random.Random(7)
    corpus: list[Passage] = []
    paragraphs: dict[str, list[str]] = {}
    for passage in load("jaquad-train").corpus:
        paragraphs.setdefault(passage.title, []).append(passage.text)
    for title, parts in paragraphs.items():
        corpus.append(
            Passage(f"page-{len(corpus)}", title, "\n".join(parts)[: chance.choice([500, 1500, 3000])])
        )
    for law, caption, text in law_articles()[_ARTICLES:][:_TITLED]:
        corpus.append(Passage(f"article-{len(corpus)}", chance.choice([caption, f"{law} {caption}"]), text))
    held = {passage.id: words(passage.text) + words(passage.title) * 3 for passage in corpus}
    frequency = _frequency(frozenset(each) for each in held.values())
    common = sorted(frequency, key=lambda word: (-frequency[word], word))[20:400]
    asked = {}
    for passage in corpus:
        counted = Counter(held[passage.id])
        marks = {
            word: (1 + math.log(count)) * math.log(len(corpus) / frequency[word])
            for word, count in counted.items()
            if len(word) > 1 and not word.isdecimal()
        }
        best = sorted(marks, key=lambda word: (-marks[word], word))[:6]
        if best:
            picked = chance.sample(best, min(len(best), chance.choice([1, 1, 2, 2, 3])))
            # People add words that the text does not have: how to, list of, function.
            if chance.random() < _BESIDE:
                picked.append(chance.choice(common))
            asked[passage.id] = chance.choice([" ", "", "の", ";"]).join(picked)
    qrels = {name: {name: 1} for name in asked}
    return _with_queries("entries", corpus, asked, qrels, ENTRIES, chance)


def summaries() -> Dataset:
    """Pages that lost their first paragraph, and every other one its title; their own summary is asked for."""
    chance = random.Random(8)
    corpus, asked, qrels = [], {}, {}
    for number, (title, summary, body) in enumerate(manual_pages()):
        _, _, rest = body.partition("\n\n")
        if len(rest) < 200:
            continue
        name = f"page-{number}"
        corpus.append(Passage(name, title if number % 2 else "", rest[: chance.choice([600, 1500, 3000])]))
        if 15 <= len(summary) <= 120 and _KANA.search(summary):
            asked[name] = summary.rstrip("。")
            qrels[name] = {name: 1}
    return _with_queries("summaries", corpus, asked, qrels, SUMMARIES, chance)


def headings() -> Dataset:
    """Sections under the title of their page, which lost their heading; it is asked for where it stands only once."""
    chance = random.Random(10)
    sections = []
    for title, _, body in manual_pages():
        marks = list(_HEADING.finditer(body))
        ends = [each.start() for each in marks[1:]] + [len(body)]
        for mark, end in zip(marks, ends, strict=False):
            text = body[mark.end() : end].strip()
            if len(text) >= 100:
                sections.append((title, mark[1].strip(), text[:1500]))
    times = Counter(heading for _, heading, _ in sections)
    corpus, asked, qrels = [], {}, {}
    for number, (title, heading, text) in enumerate(sections):
        name = f"section-{number}"
        # A rare one stays: a page's own heading is its title, and what is asked for may stand there word for word.
        corpus.append(Passage(name, heading if number % 7 == 0 else title, text))
        if times[heading] == 1 and 5 <= len(heading) <= 40 and _KANA.search(heading):
            asked[name] = heading
            qrels[name] = {name: 1}
    kept = chance.sample(corpus, _SECTIONS)
    there = {passage.id for passage in kept}
    asked = {name: text for name, text in asked.items() if name in there}
    return _with_queries("headings", kept, asked, qrels, HEADINGS, chance)


def manual_pages() -> Iterator[tuple[str, str, str]]:
    """Title, summary and body of the pages of a manual, without their marks of Markdown that nobody reads."""
    with tarfile.open(data_folder() / _PAGES) as pages:
        members = sorted((each for each in pages if each.name.endswith(".md")), key=lambda each: each.name)
        for member in members:
            file = pages.extractfile(member)
            found = _PAGE.match(file.read().decode("utf-8", "replace")) if file else None
            summary = _DESCRIPTION.search(found["head"]) if found else None
            if not (found and summary):
                continue
            body = _LINK.sub(r"\1", _ANCHOR.sub("", found["body"])).replace("`", "").replace("**", "").strip()
            first = _HEADING.match(body)
            if first:
                yield first[1].strip(), summary[1].strip(), body[first.end() :].strip()


def paraphrases() -> Dataset:
    rows = [json.loads(line) for line in (data_folder() / "pairs/jsts-train.jsonl").open(encoding="utf-8")]
    ids = {text: f"s{number}" for number, text in enumerate(dict.fromkeys(row["b"] for row in rows))}
    asked: dict[str, str] = {}
    qrels: dict[str, dict[str, int]] = {}
    for row in rows:
        if row["similarity"] >= _SAME and row["a"] != row["b"]:
            asked[row["a"]] = row["a"]
            qrels.setdefault(row["a"], {})[ids[row["b"]]] = 1
    corpus = [Passage(name, "", text) for text, name in ids.items()]
    return _with_queries("paraphrases", corpus, asked, qrels, PARAPHRASES, random.Random(4))


def into_english() -> Dataset:
    return _translated("into_english", "ja", "en", 5)


def into_japanese() -> Dataset:
    return _translated("into_japanese", "en", "ja", 6)


def _translated(name: str, asked_in: str, answered_in: str, seed: int) -> Dataset:
    """Pages of one to many sentences; most have the first as their title. A fifth are in the language of the query."""
    chance = random.Random(seed)
    rows = [json.loads(line) for line in (data_folder() / "pairs/enja-train.jsonl").open(encoding="utf-8")]
    chance.shuffle(rows)
    corpus, asked, qrels = [], {}, {}
    at = 0
    for number in range(TRANSLATIONS * 2):
        part = rows[at : at + chance.choice([1, 3, 8, 16, 24])]
        at += len(part)
        if not part:
            break
        language = asked_in if number % 5 == 4 else answered_in
        titled = number % 4 != 0
        lines = [row[language] for row in part]
        corpus.append(Passage(f"p{number}", lines[0] if titled else "", "\n".join(lines)))
        if language == answered_in:
            asked[f"q{number}"] = (part[0] if titled else chance.choice(part[:3]))[asked_in].rstrip("。. ")
            qrels[f"q{number}"] = {f"p{number}": 1}
    return _with_queries(name, corpus, asked, qrels, TRANSLATIONS, chance)


def law_articles() -> list[tuple[str, str, str]]:
    """Law, caption and text of articles, in no order but always the same."""
    articles = list(_read_articles())
    random.Random(9).shuffle(articles)
    return articles


def _read_articles() -> Iterator[tuple[str, str, str]]:
    """Law, caption and text of articles, from every twelfth law."""
    with gzip.open(data_folder() / "laws/laws.jsonl.gz", "rt", encoding="utf-8") as lines:
        for number, line in enumerate(lines):
            if number % _LAWS_EVERY:
                continue
            law = json.loads(line)
            marks = list(_CAPTION.finditer(law["text"]))
            for mark in marks:
                end = law["text"].find("\n## ", mark.end())
                text = law["text"][mark.end() : end if end >= 0 else None].strip()
                text = text.removeprefix(f"（{mark[2]}）")
                if 60 <= len(text) <= 1500 and "\n#" not in text:
                    yield law["title"], mark[2], text


def _with_queries(
    name: str,
    corpus: Sequence[Passage],
    asked: Mapping[str, str],
    qrels: Mapping[str, Mapping[str, int]],
    most: int,
    chance: random.Random,
) -> Dataset:
    chosen = chance.sample(list(asked), min(most, len(asked)))
    return Dataset(
        name, tuple(corpus), {each: asked[each] for each in chosen}, {each: qrels[each] for each in chosen}
    )


def _frequency(texts: Iterable[frozenset[str]]) -> dict[str, int]:
    counted: dict[str, int] = {}
    for text in texts:
        for word in text:
            counted[word] = counted.get(word, 0) + 1
    return counted
