"""`shirube mcp install`: an entry in the settings of an MCP client, shown before it is written."""

import difflib
import json
import os
import stat
import sys
import tempfile
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from rich.console import Console
from rich.text import Text
from typer import confirm

from shirube.cli.output import err, out, show_json
from shirube.errors import InvalidInput

NAME = "shirube"
_MODELS = ("SHIRUBE_EMBEDDER", "SHIRUBE_RERANKER", "SHIRUBE_LLM")


def install(client: str, project: Path, docs: Path | None, *, yes: bool, as_json: bool) -> None:
    path, group = _settings(client, project)
    before = _read(path)
    entry = _entry(client, docs)
    after = {**before, group: {**_group(before, group, path), NAME: entry}}
    told = {"client": client, "path": str(path), "changed": after != before, "entry": entry}
    if after == before:
        if as_json:
            show_json(told)
        else:
            out.print(f"{path} にはもう入っています。")
        return
    _show(path, before, after, err if as_json else out)
    if client != "claude-desktop" and _password():
        err.print(
            "SHIRUBE_STORE のパスワードが入ります。このファイルを共有やコミットしないでください。 "
            "The password of SHIRUBE_STORE goes into this file: do not share or commit it.",
            style="yellow",
        )
    if not yes:
        confirm("書き込みますか？", abort=True, err=True)
    _write(path.resolve(), _written(after))
    if as_json:
        show_json(told)
    else:
        out.print(f"{path} に書きました。クライアントを再起動してください。")


def _settings(client: str, project: Path) -> tuple[Path, str]:
    """Where a client keeps its servers, and under which name."""
    match client:
        case "claude-desktop":
            return _claude_desktop(), "mcpServers"
        case "claude-code":
            return project / ".mcp.json", "mcpServers"
        case "cursor":
            return project / ".cursor" / "mcp.json", "mcpServers"
        case "vscode":
            return project / ".vscode" / "mcp.json", "servers"
    raise InvalidInput(
        f"There is no client {client}: claude-desktop, claude-code, cursor, vscode",
        f"{client} というクライアントはありません（claude-desktop・claude-code・cursor・vscode）。",
    )


def _claude_desktop() -> Path:
    file = Path("Claude") / "claude_desktop_config.json"
    match sys.platform:
        case "darwin":
            return Path.home() / "Library" / "Application Support" / file
        case "win32":
            return Path(os.environ.get("APPDATA", str(Path.home()))) / file
    return Path(os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config") / file


def _entry(client: str, docs: Path | None) -> dict[str, Any]:
    command = Path(sys.executable).with_name("shirube")
    arguments = ["serve", *(["--docs", str(docs.resolve())] if docs else [])]
    environ = _environ()
    return {
        **({"type": "stdio"} if client == "vscode" else {}),
        "command": str(command) if command.exists() else "shirube",
        "args": arguments,
        **({"env": environ} if environ else {}),
    }


def _environ() -> dict[str, str]:
    """Where the data are and which models made them, if that was chosen here: clients start the server elsewhere."""
    home, store = os.environ.get("SHIRUBE_HOME"), os.environ.get("SHIRUBE_STORE")
    return {
        **{name: os.environ[name] for name in _MODELS if os.environ.get(name)},
        **({"SHIRUBE_HOME": str(Path(home).expanduser().resolve())} if home else {}),
        **({"SHIRUBE_STORE": _from_anywhere(store)} if store else {}),
    }


def _password() -> bool:
    """Whether the address of the store holds one."""
    return bool(urlsplit(os.environ.get("SHIRUBE_STORE", "")).password)


def _from_anywhere(store: str) -> str:
    """A file of SQLite by its whole path."""
    scheme, separator, file = store.partition(":///")
    return f"{scheme}{separator}{Path(file).resolve()}" if scheme.startswith("sqlite") and file else store


def _read(path: Path) -> dict[str, Any]:
    try:
        found = json.loads(path.read_text(encoding="utf-8-sig") or "{}")
    except FileNotFoundError:
        return {}
    except (OSError, ValueError) as error:
        raise _unusable(path, str(error)) from None
    if not isinstance(found, dict):
        raise _unusable(path, "no object")
    return found


def _write(path: Path, text: str) -> None:
    """At once, and readable for nobody who could not read it before: settings hold keys and passwords."""
    path.parent.mkdir(parents=True, exist_ok=True)
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else 0o600
    handle, name = tempfile.mkstemp(prefix=f"{path.name}.", suffix=".new", dir=path.parent)
    beside = Path(name)
    try:
        with os.fdopen(handle, "w", encoding="utf-8") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        beside.chmod(mode)
        beside.replace(path)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _group(settings: dict[str, Any], group: str, path: Path) -> dict[str, Any]:
    found = settings.get(group, {})
    if not isinstance(found, dict):
        raise _unusable(path, f"{group} is no object")
    return found


def _unusable(path: Path, reason: str) -> InvalidInput:
    return InvalidInput(
        f"{path.name} cannot be used and was left as it is: {reason}",
        f"{path.name} を読めないため、そのままにしました（{reason}）。",
    )


def _show(path: Path, before: dict[str, Any], after: dict[str, Any], where: Console) -> None:
    lines = difflib.unified_diff(
        _written(before).splitlines(), _written(after).splitlines(), str(path), str(path), lineterm=""
    )
    for line in lines:
        style = "green" if line.startswith("+") else "red" if line.startswith("-") else "dim"
        where.print(Text(line, style=style))


def _written(settings: dict[str, Any]) -> str:
    return json.dumps(settings, ensure_ascii=False, indent=2) + "\n"
