"""Publications, and those that somebody called representative."""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "publications",
        sa.Column(
            "key", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("tenant_id", sa.String(length=100), nullable=False),
        sa.Column("doc_id", sa.String(length=60), nullable=False),
        sa.Column("revision", sa.BigInteger(), nullable=False),
        sa.Column("pub_id", sa.String(length=60), nullable=True),
        sa.Column("app_doc_id", sa.String(length=60), nullable=True),
        sa.Column("exam_id", sa.String(length=60), nullable=True),
        sa.Column("content_hash", sa.String(length=64), nullable=False),
        sa.Column("scopes", sa.Integer(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("key"),
        sa.UniqueConstraint("tenant_id", "doc_id"),
        sqlite_autoincrement=True,
    )
    for name in ("revision", "pub_id", "app_doc_id", "exam_id"):
        op.create_index(f"publications_by_{name}", "publications", ["tenant_id", name])
    op.create_table(
        "representatives",
        sa.Column("tenant_id", sa.String(length=100), nullable=False),
        sa.Column("owner", sa.String(length=200), nullable=False),
        sa.Column("lineage", sa.String(length=60), nullable=False),
        sa.Column("doc_id", sa.String(length=60), nullable=False),
        sa.Column("category", sa.String(length=1), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "owner", "lineage", "doc_id"),
    )


def downgrade() -> None:
    for name in ("representatives", "publications"):
        op.drop_table(name)
