"""What can be wrong with a query or a filter. Both say it in Japanese and in English."""


class QuerySyntaxError(Exception):
    """`position` is an index into the query as it was written; it equals its length at the end.

    `expected` is a short English name of what could stand there; the messages count characters from 1.
    """

    def __init__(self, position: int, expected: str, message_ja: str, message_en: str) -> None:
        super().__init__(message_en)
        self.position = position
        self.expected = expected
        self.message_ja = message_ja
        self.message_en = message_en


class FilterError(Exception):
    """`index` is the place of the entry in the list, None when the list itself is wrong.

    `key` is the part of the entry to correct (lop, field, op, value, or an unknown key); `field` is the
    document field the entry names, as far as it could be read.
    """

    def __init__(
        self, index: int | None, field: str | None, key: str | None, message_ja: str, message_en: str
    ) -> None:
        super().__init__(message_en)
        self.index = index
        self.field = field
        self.key = key
        self.message_ja = message_ja
        self.message_en = message_en
