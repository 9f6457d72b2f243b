"""`shirube ask`: one answer, and where it stands."""

from collections.abc import Mapping
from typing import Any

from rich.text import Text

from shirube.caller import Caller
from shirube.cli.calls import call
from shirube.cli.knowledge import find
from shirube.cli.output import err, out, show_json
from shirube.settings import load_settings
from shirube.toolsets.registry import Application


def show_answer(question: str, base: str | None, *, results: int, caller: Caller, as_json: bool) -> None:
    application = Application(load_settings())
    base_id = find(application, base, caller).id if base is not None else None
    arguments = {"query": question, "max_results": results, "knowledge_base_id": base_id}
    body = call(application, caller, "kb_answer", arguments)
    if as_json:
        show_json(body)
    else:
        show_answer_body(body)


def show_answer_body(body: Mapping[str, Any]) -> None:
    out.print(Text(body["answer"]))
    for number, citation in enumerate(body["citations"], 1):
        out.print(
            Text(f"  [{number}] {_place(citation['location'])}{_score(citation['score'])}", style="dim")
        )
    for warning in body.get("warnings", ()):
        err.print(Text(f"注意: {warning}", style="yellow"))


def _place(location: Mapping[str, Any]) -> str:
    """Where a citation stands: a document here, or whatever Bedrock calls its place."""
    if "document_id" not in location:
        inner = [value for value in location.values() if isinstance(value, Mapping)]
        return " ".join(str(each) for value in inner for each in value.values()) or str(
            location.get("type", "?")
        )
    page = f" p.{location['page']}" if location["page"] is not None else ""
    return f"{location['title']}  {location['source']}{page}"


def _score(score: float | None) -> str:
    return "" if score is None else f"  スコア {score:.2f}"
