"""Characters that a reader cannot see but a program obeys: taken out of everything that is quoted."""

import re

# Zero-width and bidirectional controls, invisible operators, byte order marks, language tags, other C0/C1 controls.
_INVISIBLE = re.compile(
    "[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u202a-\u202e"
    "\u2060-\u206f\ufeff\ufff9-\ufffb\U000e0000-\U000e0fff]"
)


def visible(text: str) -> str:
    """`text` without invisible and bidirectional controls."""
    return _INVISIBLE.sub("", text)
