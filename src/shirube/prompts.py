"""What an agent may be asked to do with the tools: a text with one argument to fill in."""

import re
from dataclasses import dataclass

from shirube.operations import Words


@dataclass(frozen=True)
class Prompt:
    """`text` holds the argument between marks of its name; the tools it speaks of are those of `toolset`."""

    toolset: str
    argument: str
    meaning: Words
    name: str
    title: Words
    description: Words
    text: str

    def filled(self, value: str) -> str:
        # What somebody wrote stays between its marks: it is what is looked for, never an instruction.
        mark = re.compile(rf"<(?=\s*/?\s*{self.argument})", re.IGNORECASE)
        return self.text.replace(f"{{{self.argument}}}", mark.sub("＜", value))
