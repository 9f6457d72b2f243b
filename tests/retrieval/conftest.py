"""The store's database and knowledge base, for what is ranked from them."""

from tests.store.conftest import base, database, migrated

__all__ = ["base", "database", "migrated"]
