"""Full text by Tantivy: one folder a generation, many readers, one writer.

A commit is atomic and carries the revision it contains as an entry of its own, so text and revision never disagree.
Tantivy's BM25 has k1 = 1.2 and b = 0.75 built in (see docs/adr/003).
"""

import math
import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from itertools import pairwise
from pathlib import Path

import numpy as np
import numpy.typing as npt
import tantivy
from tantivy import Document, Query

from shirube.errors import InvalidInput
from shirube.index import contract
from shirube.index.contract import Entry, Hits, Kind, Layout, Terms, Weight
from shirube.index.embedded.queries import ENTRY, META, compile_filters, compile_query, entries_only
from shirube.index.embedded.tokens import Tokens
from shirube.index.embedded.workers import WORKERS, tokenised
from shirube.query.filters import Filters

# Tokens are made at a quarter of this thread's speed by each core.
_THREADS = max(1, WORKERS // 4)
_REPORT = 256
_WRITER_BYTES = 256_000_000
# Merging segments takes a second or two: a small write leaves that to a later one until there are so many.
_SMALL, _SEGMENTS = 500, 24
_FORWARD = "forward"
# Entries whose words are kept at hand, half a kilobyte or so each.
_REMEMBERED = 50_000


class TantivySpace:
    """One generation of a space's full text, open for reading and, on request, for writing."""

    def __init__(self, folder: Path, layout: Layout) -> None:
        """Open the index in `folder`, or start an empty one. A damaged one raises what Tantivy raises."""
        self.layout = layout
        self._folder = folder
        folder.mkdir(parents=True, exist_ok=True)
        self._index = tantivy.Index(_schema(layout), str(folder))
        self._index.register_tokenizer("tokens", _tokens_analyser())
        self._index.config_reader("manual")
        self._reloading = threading.Lock()
        self.reload()

    def reload(self) -> None:
        """See what was committed since, by this process or another.

        One thread at a time: a slow one would put back what it had seen before a quicker one saw more.
        """
        with self._reloading:
            self._index.reload()
            self._searcher = self._index.searcher()
            self._revision = self._read_revision()
            self._terms: dict[int, list[npt.NDArray[np.uint32]]] = {}

    @property
    def revision(self) -> int:
        return self._revision

    def count(self) -> int:
        meta = 1 if self._revision or self._searcher.num_docs else 0
        return self._searcher.num_docs - meta

    def search(
        self, query: contract.Query, weights: Mapping[str, Weight], filters: Filters, limit: int
    ) -> Hits:
        return self._found(query, weights, filters, limit, count=False)[0] if limit > 0 else Hits()

    def find(
        self, query: contract.Query, weights: Mapping[str, Weight], filters: Filters, limit: int
    ) -> tuple[Hits, int]:
        return self._found(query, weights, filters, max(limit, 1), count=True)

    def matches(self, query: contract.Query, filters: Filters) -> int:
        return self._found(query, {}, filters, 1, count=True)[1]

    def _found(
        self,
        query: contract.Query,
        weights: Mapping[str, Weight],
        filters: Filters,
        limit: int,
        *,
        count: bool,
    ) -> tuple[Hits, int]:
        searcher = self._searcher
        try:
            compiled = compile_query(self._index.schema, self.layout, query, weights, filters)
        except ValueError as error:
            raise _unsearchable(error) from error
        try:
            result = searcher.search(compiled, limit, count=count)
        except ValueError as error:
            if "max expansions" in str(error):  # the query's fault, not damage to the index
                raise _unsearchable(error) from error
            raise
        keys = searcher.fast_field_values("key", [address for _, address in result.hits])
        hits = Hits(np.array(keys, np.int64), [score for score, _ in result.hits])
        return hits, int(result.count or 0)  # type: ignore[attr-defined]  # missing in Tantivy's stubs

    def facets(self, field: str, filters: Filters, limit: int) -> dict[str, int]:
        schema = self._index.schema
        entries = (tantivy.Occur.Must, entries_only(schema))
        query = Query.boolean_query([entries, *compile_filters(schema, self.layout, filters)])
        answer = self._searcher.aggregate(query, {"values": {"terms": {"field": field, "size": limit}}})
        return {str(bucket["key"]): int(bucket["doc_count"]) for bucket in answer["values"]["buckets"]}

    def rarity(self, tokens: Iterable[str], text: str, kind: Kind = "words") -> dict[str, float]:
        """ln(1 + (N − n + 0.5)/(n + 0.5)), the idf of the ranking itself."""
        total = self.count()
        found = {}
        for token in tokens:
            holding = self._searcher.doc_freq(f"{text}_{kind}", token)
            found[token] = math.log(1 + (max(total - holding, 0) + 0.5) / (holding + 0.5))
        return found

    def terms(self, keys: Sequence[int]) -> Terms:
        if len(self._terms) > _REMEMBERED:
            self._terms = {}
        held = self._terms
        if not held.keys() >= set(keys):
            held.update(self._read_terms([key for key in keys if key not in held]))
        found = {key: held[key] for key in keys if key in held}
        columns = zip(*found.values(), strict=True) if found else ([] for _ in self.layout.texts)
        return Terms(list(found), dict(zip(self.layout.texts, columns, strict=True)))

    def _read_terms(self, keys: Sequence[int]) -> Iterator[tuple[int, list[npt.NDArray[np.uint32]]]]:
        wanted = Query.term_set_query(self._index.schema, "key", list(keys))
        size = len(self.layout.texts)
        for _, address in self._searcher.search(wanted, len(keys), count=False).hits:
            document = self._searcher.doc(address)
            forward = np.frombuffer(document[_FORWARD][0], np.uint32)
            # First the lengths of the texts, then the texts.
            starts = [size, *(size + np.cumsum(forward[:size])).tolist()]
            yield document["key"][0], [forward[start:end] for start, end in pairwise(starts)]

    def write(self, revision: int, groups: Iterable[str], entries: Iterable[Entry]) -> Iterator[int]:
        """Replace `groups` by `entries` and take on `revision`, all at once; yields the entries added so far.

        Nothing is visible before its commit, at the very end; an iterator that is dropped leaves the index as it was.
        """
        schema = self._index.schema
        writer = self._index.writer(_WRITER_BYTES, _THREADS)
        try:
            _tidy(self._folder, writer)
            for group in groups if self._searcher.num_docs else ():
                writer.delete_documents_by_term("group", group)
            added = 0
            for entry, tokens in tokenised(entries, self.layout.phrases):
                writer.add_document(_document(self.layout, entry, tokens))
                added += 1
                if added % _REPORT == 0:
                    yield added
            writer.delete_documents_by_query(Query.term_query(schema, "kind", META))
            writer.add_document(_meta(revision))
            writer.commit()
            self.reload()
        except BaseException:
            writer.rollback()
            writer.wait_merging_threads()
            raise
        if added > _SMALL or self._searcher.num_segments > _SEGMENTS:
            writer.wait_merging_threads()
            self.reload()
        del writer  # or nobody else could write
        yield added

    def _read_revision(self) -> int:
        query = Query.term_query(self._index.schema, "kind", META)
        hits = self._searcher.search(query, 1, count=False).hits
        if not hits:
            return 0
        [revision] = self._searcher.fast_field_values("revision", [hits[0][1]])
        return int(revision or 0)


def _unsearchable(error: ValueError) -> InvalidInput:
    return InvalidInput(
        f"This cannot be searched for: {error}",
        "この条件では検索できません。",
        hint="短くするか、語を変えてください。 Make it shorter, or use other words.",
    )


def _tidy(folder: Path, writer: tantivy.IndexWriter) -> None:
    """Clear away what a killed writer left: it would stand in this one's way.

    Then spend the writer's first stamp on nothing. It equals that of the last commit, and a merge that begins before
    this writer's own commit takes a deletion with that stamp for one already done: the deletion would be lost.
    """
    writer.garbage_collect_files()
    for litter in folder.glob(".tmp*"):
        litter.unlink(missing_ok=True)
    writer.delete_documents_by_term("group", "")


def _schema(layout: Layout) -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("kind", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("group", tokenizer_name="raw", index_option="basic")
    builder.add_unsigned_field("key", stored=True, indexed=True, fast=True)
    builder.add_unsigned_field("revision", fast=True)
    builder.add_bytes_field(_FORWARD, stored=True)
    for name in layout.texts:
        builder.add_text_field(f"{name}_words", tokenizer_name="tokens", index_option="freq")
        positions = "position" if layout.phrases else "freq"
        builder.add_text_field(f"{name}_bigrams", tokenizer_name="tokens", index_option=positions)
    for name in layout.keywords:
        builder.add_text_field(name, fast=True, tokenizer_name="raw", index_option="basic")
    for name in layout.numbers:
        builder.add_integer_field(name, indexed=True, fast=True)
    return builder.build()


@cache
def _tokens_analyser() -> tantivy.TextAnalyzer:
    return tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.whitespace()).build()


def _document(layout: Layout, entry: Entry, tokens: Mapping[str, Tokens]) -> Document:
    document = Document()
    document.add_text("kind", ENTRY)
    document.add_text("group", entry.group)
    document.add_unsigned("key", entry.key)
    for name in layout.texts:
        if name in tokens:
            document.add_text(f"{name}_words", tokens[name].words)
            document.add_text(f"{name}_bigrams", tokens[name].bigrams)
    forward = [tokens[name].fingerprints if name in tokens else b"" for name in layout.texts]
    lengths = np.array([len(each) // 4 for each in forward], np.uint32)
    document.add_bytes(_FORWARD, b"".join([lengths.tobytes(), *forward]))
    for name in layout.keywords:
        for value in entry.keywords.get(name, ()):
            document.add_text(name, value)
    for name in layout.numbers:
        if name in entry.numbers:
            document.add_integer(name, entry.numbers[name])
    return document


def _meta(revision: int) -> Document:
    document = Document()
    document.add_text("kind", META)
    document.add_unsigned("revision", revision)
    return document
