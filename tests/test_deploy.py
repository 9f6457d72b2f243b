"""What is shipped for others to deploy: read as far as it can be without a container engine."""

import json
import tomllib
from pathlib import Path

import yaml

ROOT = Path(__file__).parents[1]


def test_the_compose_file_has_a_store_two_nodes_and_a_proxy() -> None:
    services = yaml.safe_load((ROOT / "deploy" / "compose.yaml").read_text())["services"]
    assert set(services) == {"db", "node1", "node2", "proxy"}
    assert services["node2"]["environment"]["SHIRUBE_STORE"].startswith("postgresql+psycopg://")


def test_the_container_file_copies_what_there_is_and_serves_http() -> None:
    lines = (ROOT / "deploy" / "Containerfile").read_text().splitlines()
    copied = [name for line in lines if line.startswith("COPY ") for name in line.split()[1:-1]]
    assert all((ROOT / name).exists() for name in copied)
    assert lines[-1].startswith('CMD ["shirube", "serve", "--http"')


def test_every_manifest_has_the_version_of_the_package() -> None:
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    server, bundle = (json.loads((ROOT / name).read_text()) for name in ("server.json", "manifest.json"))
    assert server["version"] == server["packages"][0]["version"] == bundle["version"] == version
    assert (ROOT / bundle["server"]["entry_point"]).exists()


def test_every_setting_of_the_guide_is_one_that_is_read() -> None:
    guide = (ROOT / "docs" / "serving.md").read_text()
    sources = "".join(path.read_text() for path in (ROOT / "src").rglob("*.py"))
    named = {
        word.strip("`,")
        for line in guide.splitlines()
        if line.startswith("| `SHIRUBE_")
        for word in line.split("|")[1].split()
    }
    assert named
    assert all(name in sources for name in named)
