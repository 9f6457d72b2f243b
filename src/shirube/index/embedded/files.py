"""Putting a file in place at once: a reader sees the old one or the new one, never half of it."""

import os
from pathlib import Path


def replace_text(path: Path, text: str) -> None:
    draft = path.with_name(f"{path.name}.{os.getpid()}.new")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)
