"""Alembic's entry: the connection is handed over by `store.database`, never opened here."""

from alembic import context

from shirube.store.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata, render_as_batch=True)
context.run_migrations()
