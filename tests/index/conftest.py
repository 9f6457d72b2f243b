"""The store's database and knowledge base, for what is derived from them."""

from tests.store.conftest import base, database, migrated

__all__ = ["base", "database", "migrated"]
