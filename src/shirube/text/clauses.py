"""The parts of a query that say something of their own: what stands between commas, spaces and brackets."""

import re

_BORDER = re.compile(r"[、,，。．・\s「」『』（）()/／;；]+")
# Less says too little to have a direction of its own.
_LEAST = 8


def clauses(text: str) -> list[str]:
    """`text` cut after commas, spaces and brackets, into parts of at least eight characters: one if it is short."""
    ends = [border.end() for border in _BORDER.finditer(text)] + [len(text)]
    parts: list[str] = []
    start = 0
    for end in ends:
        if len(_BORDER.sub("", text[start:end])) >= _LEAST:
            parts.append(text[start:end])
            start = end
    if not parts:
        return [text]
    parts[-1] += text[start:]
    return parts
