"""The tables of record. Only types and SQL that SQLite and PostgreSQL both take.

A knowledge base's `revision` grows by one with every change to its documents, in the same transaction; `changes`
says which document each revision touched. Whoever derives something from the store remembers the revision it has seen.
"""

from sqlalchemy import (
    JSON,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Float,
    ForeignKey,
    ForeignKeyConstraint,
    Index,
    Integer,
    LargeBinary,
    MetaData,
    String,
    Table,
    Text,
    UniqueConstraint,
)

metadata = MetaData()

# SQLite only numbers rows by itself in a column declared INTEGER.
_Serial = BigInteger().with_variant(Integer, "sqlite")


def _within(table: str, *, primary_key: bool = False) -> Column[str]:
    """A reference to the row that this one belongs to and goes with."""
    owner = ForeignKey(f"{table}.id", ondelete="CASCADE")
    return Column(table.removesuffix("s") + "_id", String(36), owner, nullable=False, primary_key=primary_key)


tenants = Table(
    "tenants",
    metadata,
    Column("id", String(100), primary_key=True),
    Column("created_at", DateTime(timezone=True), nullable=False),
)

knowledge_bases = Table(
    "knowledge_bases",
    metadata,
    Column("id", String(36), primary_key=True),
    Column("tenant_id", String(100), ForeignKey("tenants.id"), nullable=False),
    Column("name", String(200), nullable=False),
    Column("description", Text, nullable=False, default=""),
    Column("owner", String(200), nullable=False),
    Column("is_public", Boolean, nullable=False, default=False),
    Column("status", String(20), nullable=False, default="active"),
    Column("revision", BigInteger, nullable=False, default=0),
    Column("created_at", DateTime(timezone=True), nullable=False),
    UniqueConstraint("tenant_id", "name"),
)

members = Table(
    "members",
    metadata,
    _within("knowledge_bases", primary_key=True),
    Column("subject", String(200), primary_key=True),
)

collections = Table(
    "collections",
    metadata,
    Column("id", String(36), primary_key=True),
    _within("knowledge_bases"),
    Column("name", String(200), nullable=False),
    Column("description", Text, nullable=False, default=""),
    Column("is_default", Boolean, nullable=False, default=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    # The base's revision at the last change of a document in it, and what was made of its documents at which one.
    Column("revision", BigInteger, nullable=False, default=0),
    Column("summary", Text, nullable=False, default=""),
    Column("summary_revision", BigInteger, nullable=False, default=0),
    Column("summary_model", String(200), nullable=False, default=""),
    Column("summary_vector", LargeBinary),
    UniqueConstraint("knowledge_base_id", "name"),
)

documents = Table(
    "documents",
    metadata,
    Column("id", String(36), primary_key=True),
    _within("knowledge_bases"),
    _within("collections"),
    Column("source", Text, nullable=False),
    Column("filename", Text, nullable=False),
    Column("title", Text, nullable=False),
    Column("status", String(20), nullable=False),
    Column("department", String(200)),
    Column("confidentiality", Integer, nullable=False),
    Column("version", Integer, nullable=False),
    Column("content_hash", String(64), nullable=False),
    Column("chunk_count", Integer, nullable=False),
    Column("metadata", JSON, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("updated_at", DateTime(timezone=True), nullable=False),
    UniqueConstraint("collection_id", "source"),
    Index("documents_by_base", "knowledge_base_id"),
)

# How many documents and passages a base has for each of those who may see them; "" stands for every department. Kept up
# with each change, so that counting does not take longer the more there is.
document_counts = Table(
    "document_counts",
    metadata,
    _within("knowledge_bases", primary_key=True),
    Column("department", String(200), primary_key=True),
    Column("confidentiality", Integer, primary_key=True, autoincrement=False),
    Column("documents", BigInteger, nullable=False),
    Column("chunks", BigInteger, nullable=False),
)

# Apart from `documents`, so that lists and counts never read through long texts. UTF-8, deflated.
document_texts = Table(
    "document_texts",
    metadata,
    _within("documents", primary_key=True),
    Column("text", LargeBinary, nullable=False),
)

# Passage ids are never used twice: an index that lags behind can miss a passage, never show another in its place.
passages = Table(
    "passages",
    metadata,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    _within("documents"),
    Column("chunk_index", Integer, nullable=False),
    Column("text", Text, nullable=False),
    Column("start", Integer, nullable=False),
    Column("end", Integer, nullable=False),
    Column("heading_path", JSON, nullable=False),
    Column("page", Integer),
    Column("columns", JSON(none_as_null=True)),
    UniqueConstraint("document_id", "chunk_index"),
    sqlite_autoincrement=True,
)

changes = Table(
    "changes",
    metadata,
    _within("knowledge_bases", primary_key=True),
    Column("revision", BigInteger, primary_key=True),
    Column("document_id", String(36), nullable=False),
    Column("at", DateTime(timezone=True), nullable=False),
)

# What a document is as a page: what its front matter says, and the file as it was when it was read.
pages = Table(
    "pages",
    metadata,
    _within("documents", primary_key=True),
    Column("doc_type", String(20), nullable=False),
    Column("tags", JSON, nullable=False),
    Column("aliases", JSON, nullable=False),
    Column("headings", JSON, nullable=False),
    Column("warnings", JSON, nullable=False),
    Column("mtime_ns", BigInteger, nullable=False),
    Column("ctime_ns", BigInteger, nullable=False),
    Column("size", BigInteger, nullable=False),
)

# Every link of a page as it is written, also those that lead nowhere yet: where each leads depends on all pages.
page_links = Table(
    "page_links",
    metadata,
    _within("documents", primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("target", Text, nullable=False),
    Column("is_path", Boolean, nullable=False),
    Column("line", Integer, nullable=False),
    Column("link_type", String(20), nullable=False),
    Column("heading", Text),
    Column("alias", Text),
    Column("is_embed", Boolean, nullable=False),
)

# The files that a page describes, and the hash of each when the page last changed: null where that is not known.
page_sources = Table(
    "page_sources",
    metadata,
    _within("documents", primary_key=True),
    Column("position", Integer, primary_key=True, autoincrement=False),
    Column("path", Text, nullable=False),
    Column("content_hash", String(64)),
)

# Imports of programmes and rules. A programme's state at an import is its newest version up to it.
program_imports = Table(
    "program_imports",
    metadata,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("tenant_id", String(100), nullable=False),
    Column("at", String(40), nullable=False),
    Column("files", JSON, nullable=False),
    Column("report", JSON, nullable=False),
    Column("has_moved", Boolean, nullable=False),
    Index("program_imports_by_tenant", "tenant_id", "id"),
    sqlite_autoincrement=True,
)

# `record` is what callers are shown, made of `layers`: what each kind of source says. The columns that end in `_text`
# hold the forms that are searched, those in `_words` their normal forms.
programs = Table(
    "programs",
    metadata,
    Column("tenant_id", String(100), primary_key=True),
    Column("unified_id", String(200), primary_key=True),
    Column("source_checksum", String(16), nullable=False),
    Column("fetched_on", String(10), nullable=False),
    Column("name", Text, nullable=False),
    Column("tier", String(1)),
    Column("authority_level", String(20)),
    Column("amount_max_man_yen", Float),
    Column("opens", String(10)),
    Column("closes", String(10)),
    Column("is_excluded", Boolean, nullable=False),
    Column("purposes", Text, nullable=False),
    Column("targets", Text, nullable=False),
    Column("name_text", Text, nullable=False),
    Column("alias_text", Text, nullable=False),
    Column("other_text", Text, nullable=False),
    Column("name_words", Text, nullable=False),
    Column("other_words", Text, nullable=False),
    # Last, as they are long: what stands behind them would take longer to read.
    Column("record", JSON, nullable=False),
    Column("layers", JSON, nullable=False),
    Index("programs_by_tier", "tenant_id", "tier", "fetched_on"),
)

# The prefectures a programme is for; none where it is for the whole country.
program_areas = Table(
    "program_areas",
    metadata,
    Column("tenant_id", String(100), primary_key=True),
    Column("unified_id", String(200), primary_key=True),
    Column("prefecture", String(10), primary_key=True),
    ForeignKeyConstraint(
        ["tenant_id", "unified_id"], ["programs.tenant_id", "programs.unified_id"], ondelete="CASCADE"
    ),
)

program_versions = Table(
    "program_versions",
    metadata,
    Column("tenant_id", String(100), primary_key=True),
    Column("unified_id", String(200), primary_key=True),
    Column("import_id", BigInteger, primary_key=True, autoincrement=False),
    Column("record", JSON, nullable=False),
    Index("program_versions_by_import", "tenant_id", "import_id"),
)

exclusion_rules = Table(
    "exclusion_rules",
    metadata,
    Column("tenant_id", String(100), primary_key=True),
    Column("rule_id", String(200), primary_key=True),
    Column("position", Integer, nullable=False),
    Column("rule", JSON, nullable=False),
)

# A publication is put whole; `revision` grows with every one that changed, for whoever derives something from them.
publications = Table(
    "publications",
    metadata,
    Column("key", _Serial, primary_key=True, autoincrement=True),
    Column("tenant_id", String(100), nullable=False),
    Column("doc_id", String(60), nullable=False),
    Column("revision", BigInteger, nullable=False),
    Column("pub_id", String(60)),
    Column("app_doc_id", String(60)),
    Column("exam_id", String(60)),
    Column("content_hash", String(64), nullable=False),
    # Which scopes have a text, as bits.
    Column("scopes", Integer, nullable=False),
    Column("record", JSON, nullable=False),
    UniqueConstraint("tenant_id", "doc_id"),
    Index("publications_by_revision", "tenant_id", "revision"),
    Index("publications_by_pub_id", "tenant_id", "pub_id"),
    Index("publications_by_app_doc_id", "tenant_id", "app_doc_id"),
    Index("publications_by_exam_id", "tenant_id", "exam_id"),
    sqlite_autoincrement=True,
)

# Publications that somebody called representative of what they look for; "" stands for all of their searches.
representatives = Table(
    "representatives",
    metadata,
    Column("tenant_id", String(100), primary_key=True),
    Column("owner", String(200), primary_key=True),
    Column("lineage", String(60), primary_key=True),
    Column("doc_id", String(60), primary_key=True),
    Column("category", String(1), nullable=False),
)

runs = Table(
    "runs",
    metadata,
    Column("id", String(60), primary_key=True),
    Column("tenant_id", String(100), nullable=False),
    Column("owner", String(200), nullable=False),
    Column("kind", String(40), nullable=False),
    Column("parent", String(60)),
    Column("recipe", JSON, nullable=False),
    Column("stages", JSON, nullable=False),
    Column("results", JSON, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("expires_at", DateTime(timezone=True), nullable=False),
    Index("runs_by_expiry", "expires_at"),
)

audit = Table(
    "audit",
    metadata,
    Column("id", _Serial, primary_key=True, autoincrement=True),
    Column("at", DateTime(timezone=True), nullable=False),
    Column("tenant_id", String(100), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("operation", String(60), nullable=False),
    Column("outcome", String(60), nullable=False),
    Column("duration_ms", Float, nullable=False),
    Column("result_count", Integer),
    Column("run_id", String(60)),
    Index("audit_by_time", "at"),
)

api_keys = Table(
    "api_keys",
    metadata,
    Column("id", String(20), primary_key=True),
    Column("name", String(200), nullable=False),
    Column("tenant_id", String(100), nullable=False),
    Column("subject", String(200), nullable=False),
    Column("hash", String(64), nullable=False),
    Column("scopes", JSON, nullable=False),
    Column("departments", JSON, nullable=False),
    Column("clearance", Integer, nullable=False),
    Column("roles", JSON, nullable=False),
    Column("created_at", DateTime(timezone=True), nullable=False),
    Column("expires_at", DateTime(timezone=True)),
    Column("revoked_at", DateTime(timezone=True)),
)
