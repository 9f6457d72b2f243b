"""What is shipped for others to deploy: read as far as it can be without a container engine."""

import json
import tomllib
from pathlib import Path

import yaml

from shirube.serve.settings import serve_settings

ROOT = Path(__file__).parents[1]


def test_the_compose_file_has_a_store_two_nodes_and_a_proxy() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    assert set(services) == {"db", "node1", "node2", "proxy"}
    assert services["node2"]["environment"]["SHIRUBE_STORE"].startswith("postgresql+psycopg://")


def test_nodes_are_given_every_setting_of_tokens_and_need_none() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    tokens = {name for name in _settings_of_the_guide() if name.startswith(("SHIRUBE_JWT_", "SHIRUBE_JWKS"))}
    assert "SHIRUBE_JWT_SECRET" in tokens
    for node in ("node1", "node2"):
        given = services[node]["environment"]
        assert {name: given.get(name) for name in tokens} == {name: f"${{{name}:-}}" for name in tokens}
    # What is left out in `.env` comes as an empty text.
    assert serve_settings(dict.fromkeys(tokens, "")).jwt is None


def test_the_container_file_copies_what_there_is_and_serves_http() -> None:
    lines = _container_lines()
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert all((ROOT / name).exists() for name in copied)
    assert lines[-1].startswith('CMD ["shirube", "serve", "--http"')


def test_the_folder_of_data_belongs_to_whoever_serves() -> None:
    lines = _container_lines()
    [user] = [line.split()[1] for line in lines if line.startswith("USER ")]
    [home] = [line.partition("SHIRUBE_HOME=")[2] for line in lines if line.startswith("ENV SHIRUBE_HOME=")]
    [made] = [at for at, line in enumerate(lines) if f"-o {user} -g {user} {home}" in line]
    assert lines[made].startswith("RUN ")
    assert made < lines.index(f"USER {user}")
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    assert all(services[node]["volumes"] == [f"{node}:{home}"] for node in ("node1", "node2"))


def test_the_image_has_what_a_node_needs_as_the_lock_pins_it_and_nothing_of_development() -> None:
    lines = _container_lines()
    [fetched, put] = [line for line in lines if line.startswith("RUN ") and " pip " in f" {line} "]
    assert "pip wheel" in fetched
    assert "--require-hashes -r requirements.lock" in fetched
    assert "--no-index --find-links /wheels" in put
    assert put.endswith('".[${EXTRAS}]"')
    assert lines.index(fetched) < _last_stage(lines) < lines.index(put)
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    [chosen] = [line.partition("=")[2].split(",") for line in lines if line.startswith("ARG EXTRAS=")]
    assert set(chosen) <= set(extras) - {"dev"}
    locked = (ROOT / "requirements.lock").read_text()
    # The package itself is built without the network too.
    assert "\nsetuptools==" in locked


def test_every_manifest_has_the_version_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    server, bundle = (json.loads((ROOT / name).read_text()) for name in ("server.json", "manifest.json"))
    assert server["version"] == server["packages"][0]["version"] == bundle["version"] == version
    assert (ROOT / bundle["server"]["entry_point"]).exists()


def test_every_setting_of_the_guide_is_one_that_is_read() -> None:
    sources = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    named = _settings_of_the_guide()
    assert named
    assert all(name in sources for name in named)


def _settings_of_the_guide() -> set[str]:
    guide = (ROOT / "docs" / "serving.md").read_text()
    return {
        word.strip("`,")
        for line in guide.splitlines()
        if line.startswith("| `SHIRUBE_")
        for word in line.split("|")[1].split()
    }


def _container_lines() -> list[str]:
    """The instructions of the container file, each on one line."""
    text = (ROOT / "deploy" / "Containerfile").read_text()
    return [
        " ".join(line.split())
        for line in text.replace("\\\n", " ").splitlines()
        if line and not line.startswith("#")
    ]


def _last_stage(lines: list[str]) -> int:
    return max(at for at, line in enumerate(lines) if line.startswith("FROM "))
