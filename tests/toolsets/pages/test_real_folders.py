"""Real folders of Markdown: what is found in them is what somebody else's reading of the same rules finds."""

import re
import unicodedata
from collections import Counter
from collections.abc import Callable
from pathlib import Path, PurePosixPath
from urllib.parse import unquote

import pytest

from benchmarks.datasets import unpack
from shirube.toolsets.pages import schema
from shirube.toolsets.pages.service import PagesService
from tests.beside import beside

Open = Callable[[Path], PagesService]


def unpacked(name: str, folder: Path) -> Path:
    unpack(beside("pages", name), folder)
    return folder


class Vault:
    """An independent reading of wiki-links: by lines and regular expressions, without a parser."""

    FENCE = re.compile(r"^\s*(?:>\s*)*(`{3,}|~{3,})")
    LINK = re.compile(r"!?\[\[([^\[\]\n]+)\]\](?!\()")

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.files = {
            unicodedata.normalize("NFC", path.relative_to(folder).as_posix()): path
            for path in folder.rglob("*.md")
        }
        self.stems = Counter(PurePosixPath(name).stem.casefold() for name in self.files)
        self.paths = {name[: -len(".md")].casefold() for name in self.files}
        self.titles = {self.title(path).casefold() for path in self.files.values()} - {""}
        self.aliases = {each.casefold() for path in self.files.values() for each in self.names(path)}

    def lines(self, path: Path) -> list[str]:
        text = path.read_text(encoding="utf-8")
        body = re.sub(r"\A---\n.*?\n---\n", "", text, flags=re.DOTALL)
        kept, fence = [], ""
        for line in body.splitlines():
            marked = self.FENCE.match(line)
            if fence:
                if marked and marked[1].startswith(fence):
                    fence = ""
                continue
            if marked:
                fence = marked[1]
                continue
            kept.append(re.sub(r"(`+)(?!`).*?(?<!`)\1(?!`)", "", line))
        return kept

    def front(self, path: Path) -> str:
        found = re.match(r"\A---\n(.*?)\n---\n", path.read_text(encoding="utf-8"), re.DOTALL)
        return found[1] if found else ""

    def title(self, path: Path) -> str:
        said = re.search(r"^title:\s*[\"']?(.+?)[\"']?\s*$", self.front(path), re.MULTILINE)
        first = next((line[2:].strip() for line in self.lines(path) if line.startswith("# ")), "")
        return said[1] if said else first

    def names(self, path: Path) -> list[str]:
        said = re.search(r"^aliases:\s*\n((?:\s*-\s*.+\n?)+)", self.front(path) + "\n", re.MULTILINE)
        return [each.strip().strip("\"'") for each in re.findall(r"-\s*(.+)", said[1])] if said else []

    def dangling(self) -> Counter[tuple[str, str]]:
        found: Counter[tuple[str, str]] = Counter()
        for name, path in self.files.items():
            for line in self.lines(path):
                for written in self.LINK.findall(line):
                    target = re.split(r"[#|]", written.replace("\\|", "|"))[0].strip()
                    if target and not self.known(target) and not re.search(r"\.(?!md$)\w{2,6}$", target):
                        found[name, target] += 1
        return found

    def known(self, target: str) -> bool:
        key = unicodedata.normalize("NFC", target).casefold().removesuffix(".md").strip("/")
        if "/" in key:
            return any(path == key or path.endswith("/" + key) for path in self.paths)
        return key in self.stems or key in self.titles or key in self.aliases


@pytest.mark.parametrize("language", ["ja", "en"])
def test_the_dangling_links_of_a_vault_are_those_an_independent_checker_finds(
    tmp_path: Path, opened: Open, language: str
) -> None:
    folder = unpacked("obsidian-help.tar.xz", tmp_path) / language
    vault = Vault(folder)
    service = opened(folder)
    service.site.read()
    with service.site.graph() as graph:
        assert {page.filepath for page in graph.pages.values()} == set(vault.files)
        mine = Counter(
            (page.filepath, each.link.target) for page, each in graph.dangling() if not each.link.is_path
        )
        assert mine == vault.dangling()
        names = Counter(PurePosixPath(page.filepath).stem.casefold() for page in graph.pages.values())
        for _, each in graph.ambiguous():
            if "/" not in each.link.target:
                assert names[each.link.target.casefold().removesuffix(".md")] > 1
        assert sum(each.link.is_embed for page in graph.pages for each in graph.links(page))
        assert sum(each.link.alias is not None for page in graph.pages for each in graph.links(page)) > 100


@pytest.mark.soak
def test_nearly_every_relative_link_of_a_large_manual_leads_to_its_page(tmp_path: Path, opened: Open) -> None:
    folder = unpacked("visualstudio-docs-ja.tar.xz", tmp_path)
    service = opened(folder)
    report = service.site.read()
    assert (len(report.added), report.refused) == (6339, {})
    there = {unicodedata.normalize("NFC", str(path)).casefold() for path in folder.rglob("*.md")}
    wanted = resolved = 0
    with service.site.graph() as graph:
        targets = {
            (page.filepath, each.target) for page in graph.pages.values() for each in graph.outlinks(page.id)
        }
        paths = {page.filepath.casefold(): page.id for page in graph.pages.values()}
    for path in folder.rglob("*.md"):
        body = re.sub(r"(?ms)^\s*(```|~~~).*?^\s*\1", "", path.read_text(encoding="utf-8", errors="replace"))
        for href in re.findall(
            r"(?<!`)\]\(\s*<?([^)<>\s]+?\.md)(?:[#?][^)\s]*)?>?(?:\s+\"[^\"]*\")?\s*\)", body
        ):
            if re.match(r"[a-z]+:|/", href, re.IGNORECASE):
                continue
            target = (path.parent / unquote(href).replace("\\", "/")).resolve()
            if str(target).casefold() not in there or target == path:
                continue
            wanted += 1
            source = path.relative_to(folder).as_posix()
            resolved += (source, paths.get(target.relative_to(folder).as_posix().casefold())) in targets
    assert wanted > 30_000
    assert resolved / wanted >= 0.99
    assert service.list_pages(schema.ListInput()).total == 6339
