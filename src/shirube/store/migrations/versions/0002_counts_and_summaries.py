"""Counts by who may see them, and what a collection's summary is made of."""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "document_counts",
        sa.Column("knowledge_base_id", sa.String(length=36), nullable=False),
        sa.Column("department", sa.String(length=200), nullable=False),
        sa.Column("confidentiality", sa.Integer(), autoincrement=False, nullable=False),
        sa.Column("documents", sa.BigInteger(), nullable=False),
        sa.Column("chunks", sa.BigInteger(), nullable=False),
        sa.ForeignKeyConstraint(["knowledge_base_id"], ["knowledge_bases.id"], ondelete="CASCADE"),
        sa.PrimaryKeyConstraint("knowledge_base_id", "department", "confidentiality"),
    )
    op.execute(
        "INSERT INTO document_counts (knowledge_base_id, department, confidentiality, documents, chunks) "
        "SELECT knowledge_base_id, coalesce(department, ''), confidentiality, count(*), sum(chunk_count) "
        "FROM documents GROUP BY knowledge_base_id, coalesce(department, ''), confidentiality"
    )
    # One by one, never in a batch: that would make the table anew and take every document with the old one.
    op.add_column("collections", sa.Column("revision", sa.BigInteger(), nullable=False, server_default="0"))
    op.add_column("collections", sa.Column("summary", sa.Text(), nullable=False, server_default=""))
    op.add_column(
        "collections", sa.Column("summary_revision", sa.BigInteger(), nullable=False, server_default="0")
    )
    op.add_column(
        "collections", sa.Column("summary_model", sa.String(length=200), nullable=False, server_default="")
    )
    op.add_column("collections", sa.Column("summary_vector", sa.LargeBinary(), nullable=True))
    # What is there was changed at some revision; its base's own is the latest that it can have been.
    op.execute(
        "UPDATE collections SET revision = "
        "(SELECT revision FROM knowledge_bases WHERE knowledge_bases.id = collections.knowledge_base_id)"
    )


def downgrade() -> None:
    for name in ("summary_vector", "summary_model", "summary_revision", "summary", "revision"):
        op.drop_column("collections", name)
    op.drop_table("document_counts")
