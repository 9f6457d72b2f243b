"""The reference of all operations, made from the registry: `make reference` writes docs/reference/.

python -m shirube.serve.reference FOLDER
"""

import json
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from shirube.operations import Operation, Registry
from shirube.serve.examples import EXAMPLES
from shirube.settings import TOOLSETS, load_settings
from shirube.toolsets.registry import Application

_MADE = "<!-- Made from the registry by `make reference`: change the operations, not this file. -->"


def reference(registry: Registry) -> dict[str, str]:
    """A page for each toolset, by its file name."""
    pages = {}
    for toolset in TOOLSETS:
        lines = [f"# {toolset}", "", _MADE, ""]
        for operation in registry:
            if operation.toolset == toolset:
                lines += _section(operation)
        pages[f"{toolset}.md"] = "\n".join(lines).rstrip("\n") + "\n"
    return pages


def _section(operation: Operation[Any]) -> Iterator[str]:
    method, path = operation.rest
    example = json.dumps(EXAMPLES[operation.name], ensure_ascii=False)
    taken, given = operation.input_schema(), operation.output_schema()
    yield from (f"## `{operation.name}` {operation.title.ja}", "")
    for words in (operation.description.ja, operation.description.en):
        yield from (words, "")
    yield from (f"`{method} {path}`", "")
    yield from (_quoted(example, operation.name), "")
    if taken.get("properties"):
        yield from ("| 引数 argument | 型 type | 既定 default | |", "| --- | --- | --- | --- |")
        yield from _rows(taken, with_default=True)
        yield ""
    yield from ("| 応答 answer | 型 type | |", "| --- | --- | --- |")
    yield from _rows(given, with_default=False)
    yield ""


def _quoted(example: str, name: str) -> str:
    written = example.replace("'", "'\\''")
    return f"```sh\nshirube call {name} --args '{written}'\n```"


def _rows(schema: Mapping[str, Any], *, with_default: bool) -> Iterator[str]:
    needed = schema.get("required", ())
    for name, each in schema.get("properties", {}).items():
        cells = [f"`{name}`", _type(each, schema.get("$defs", {}))]
        if with_default:
            cells.append("必須 required" if name in needed else _default(each))
        cells.append(" ".join(str(each.get("description", "")).split()))
        yield "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _default(schema: Mapping[str, Any]) -> str:
    default = schema.get("default")
    return "" if default is None else f"`{json.dumps(default, ensure_ascii=False)}`"


def _type(schema: Mapping[str, Any], defined: Mapping[str, Any]) -> str:
    match schema:
        case {"$ref": str(place)}:
            name = place.rpartition("/")[2]
            return _type(defined[name], {}) if name in defined else "object"
        case {"enum": list(values)}:
            return ", ".join(f"`{value}`" for value in values)
        case {"const": value}:
            return f"`{value}`"
        case {"anyOf": list(options)} | {"oneOf": list(options)}:
            kinds = dict.fromkeys(_type(each, defined) for each in options if each.get("type") != "null")
            return " / ".join(kinds)
        case {"type": "array", "items": dict(items)}:
            return f"array: {_type(items, defined)}"
        case {"type": str(kind)}:
            return f"{kind}{_bounds(schema)}"
    return "any"


def _bounds(schema: Mapping[str, Any]) -> str:
    least, most = (
        next((schema[key] for key in keys if key in schema), None)
        for keys in (
            ("minimum", "exclusiveMinimum", "minLength"),
            ("maximum", "exclusiveMaximum", "maxLength"),
        )
    )
    if least is None and most is None:
        return ""
    return f" {'' if least is None else least}〜{'' if most is None else most}"


def main() -> None:
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, page in reference(Application(load_settings()).registry).items():
        (folder / name).write_text(page, encoding="utf-8")


if __name__ == "__main__":
    main()
