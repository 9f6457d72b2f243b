"""The names of a table's columns with passages that begin below its head."""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("passages", sa.Column("columns", sa.JSON(none_as_null=True), nullable=True))


def downgrade() -> None:
    op.drop_column("passages", "columns")
