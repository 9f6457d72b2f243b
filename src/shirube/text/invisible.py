"""Characters that a reader cannot see but a program obeys: taken out of everything that is quoted."""

import re

# Unicode's Default_Ignorable_Code_Point: zero-width and bidirectional controls, invisible operators, fillers, byte
# order marks, tags. Not here are the selectors, which choose between two looks (葛󠄀 in a name).
IGNORABLE = (
    "\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\u3164\ufeff\uffa0"
    "\ufff0-\ufff8\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e00ff"
    "\U000e01f0-\U000e0fff"
)
# Those, the other C0 and C1 controls (tabs and line ends stay), and the marks of interlinear notes.
_INVISIBLE = re.compile(f"[{IGNORABLE}\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\ufff9-\ufffb]")


def visible(text: str) -> str:
    """`text` without invisible and bidirectional controls."""
    return _INVISIBLE.sub("", text)


def stretches(text: str) -> list[tuple[int, int]]:
    """Where `text` stands between invisible characters; the whole where there are none."""
    borders = [0, *(place for found in _INVISIBLE.finditer(text) for place in found.span()), len(text)]
    return [(start, end) for start, end in zip(borders[::2], borders[1::2], strict=True) if start < end] or [
        (0, 0)
    ]
