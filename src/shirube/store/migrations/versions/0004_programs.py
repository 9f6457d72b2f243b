"""Programmes, the rules of what may not be combined, and the imports they came by."""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "program_imports",
        sa.Column(
            "id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), autoincrement=True, nullable=False
        ),
        sa.Column("tenant_id", sa.String(length=100), nullable=False),
        sa.Column("at", sa.String(length=40), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("report", sa.JSON(), nullable=False),
        sa.Column("has_moved", sa.Boolean(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sqlite_autoincrement=True,
    )
    op.create_index("program_imports_by_tenant", "program_imports", ["tenant_id", "id"])
    op.create_table(
        "programs",
        sa.Column("tenant_id", sa.String(length=100), nullable=False),
        sa.Column("unified_id", sa.String(length=200), nullable=False),
        sa.Column("source_checksum", sa.String(length=16), nullable=False),
        sa.Column("fetched_on", sa.String(length=10), nullable=False),
        sa.Column("name", sa.Text(), nullable=False),
        sa.Column("tier", sa.String(length=1), nullable=True),
        sa.Column("authority_level", sa.String(length=20), nullable=True),
        sa.Column("amount_max_man_yen", sa.Float(), nullable=True),
        sa.Column("opens", sa.String(length=10), nullable=True),
        sa.Column("closes", sa.String(length=10), nullable=True),
        sa.Column("is_excluded", sa.Boolean(), nullable=False),
        sa.Column("purposes", sa.Text(), nullable=False),
        sa.Column("targets", sa.Text(), nullable=False),
        sa.Column("name_text", sa.Text(), nullable=False),
        sa.Column("alias_text", sa.Text(), nullable=False),
        sa.Column("other_text", sa.Text(), nullable=False),
        sa.Column("name_words", sa.Text(), nullable=False),
        sa.Column("other_words", sa.Text(), nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.Column("layers", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "unified_id"),
    )
    op.create_index("programs_by_tier", "programs", ["tenant_id", "tier", "fetched_on"])
    op.create_table(
        "program_areas",
        sa.Column("tenant_id", sa.String(length=100), nullable=False),
        sa.Column("unified_id", sa.String(length=200), nullable=False),
        sa.Column("prefecture", sa.String(length=10), nullable=False),
        sa.ForeignKeyConstraint(
            ["tenant_id", "unified_id"], ["programs.tenant_id", "programs.unified_id"], ondelete="CASCADE"
        ),
        sa.PrimaryKeyConstraint("tenant_id", "unified_id", "prefecture"),
    )
    op.create_table(
        "program_versions",
        sa.Column("tenant_id", sa.String(length=100), nullable=False),
        sa.Column("unified_id", sa.String(length=200), nullable=False),
        sa.Column("import_id", sa.BigInteger(), autoincrement=False, nullable=False),
        sa.Column("record", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "unified_id", "import_id"),
    )
    op.create_index("program_versions_by_import", "program_versions", ["tenant_id", "import_id"])
    op.create_table(
        "exclusion_rules",
        sa.Column("tenant_id", sa.String(length=100), nullable=False),
        sa.Column("rule_id", sa.String(length=200), nullable=False),
        sa.Column("position", sa.Integer(), nullable=False),
        sa.Column("rule", sa.JSON(), nullable=False),
        sa.PrimaryKeyConstraint("tenant_id", "rule_id"),
    )


def downgrade() -> None:
    for name in ("exclusion_rules", "program_versions", "program_areas", "programs", "program_imports"):
        op.drop_table(name)
