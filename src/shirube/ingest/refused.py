"""Rows of a file that cannot be taken in."""


class Refused(Exception):
    """The reason in English and in Japanese."""

    def __init__(self, reason: str, ja: str) -> None:
        super().__init__(reason)
        self.reason, self.ja = reason, ja
