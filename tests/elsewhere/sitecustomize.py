"""For processes that tests start: their default store is the tests' PostgreSQL too."""

from shirube import settings


def _default_store(home):  # type: ignore[no-untyped-def]
    from tests.stores import store_url

    return store_url(home / "shirube.db")


settings.default_store = _default_store
