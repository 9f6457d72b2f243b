"""Where links lead, and who links to whom."""

from collections import deque

import pytest
from hypothesis import given
from hypothesis import strategies as st

from shirube.store.pages import StoredLink, StoredPage
from shirube.toolsets.pages.graph import Edge, Graph


def wiki(target: str, link_type: str = "references", heading: str | None = None) -> StoredLink:
    return StoredLink(target, False, 1, link_type, heading, None, False)


def path(target: str) -> StoredLink:
    return StoredLink(target, True, 1, "references", None, None, False)


def page(
    filepath: str, *links: StoredLink, title: str | None = None, aliases: tuple[str, ...] = ()
) -> StoredPage:
    stem = filepath.rpartition("/")[2].removesuffix(".md")
    return StoredPage(filepath, filepath, title or stem, "other", aliases, (), 0, links)


def graph(*pages: StoredPage) -> Graph:
    made = Graph()
    made.update(pages)
    return made


def leads(made: Graph, link: StoredLink, source: str = "start.md") -> str | None:
    resolved = made.resolve(link, source)
    assert resolved is not None
    return resolved.target


@pytest.mark.parametrize(
    ("target", "found"),
    [
        ("設計", "a/設計.md"),
        ("設計.md", "a/設計.md"),
        ("a/設計", "a/設計.md"),
        ("/a/設計", "a/設計.md"),
        ("API の題", "b/api.md"),
        ("api", "b/api.md"),
        ("API", "b/api.md"),
        ("別名", "b/api.md"),
        ("深い/頁", "c/深い/頁.md"),
        ("か\u3099", "が.md"),
        ("無い", None),
        ("a/無い", None),
    ],
)
def test_a_target_is_a_path_a_file_name_a_title_or_an_alias(target: str, found: str | None) -> None:
    made = graph(
        page("a/設計.md"),
        page("b/api.md", title="API の題", aliases=("別名",)),
        page("c/深い/頁.md"),
        page("が.md"),
    )
    assert leads(made, wiki(target)) == found


def test_a_file_name_counts_before_a_title() -> None:
    made = graph(page("a.md", title="b"), page("b.md", title="a"))
    assert leads(made, wiki("a")) == "a.md"
    assert leads(made, wiki("b")) == "b.md"


def test_of_several_the_one_in_the_same_folder_then_the_shallowest_then_the_first() -> None:
    made = graph(page("x/y/n.md"), page("x/n.md"), page("a/n.md"), page("z/n.md"))
    assert leads(made, wiki("n"), "x/y/s.md") == "x/y/n.md"
    assert leads(made, wiki("n"), "z/s.md") == "z/n.md"
    assert leads(made, wiki("n"), "s.md") == "a/n.md"
    resolved = made.resolve(wiki("n"), "s.md")
    assert resolved
    assert resolved.ambiguous
    alone = made.resolve(wiki("x/y/n"), "s.md")
    assert alone
    assert not alone.ambiguous


def test_markdown_links_are_paths_from_the_page() -> None:
    made = graph(page("a/b.md"), page("c.md"))
    assert leads(made, path("../c.md"), "a/b.md") == "c.md"
    assert leads(made, path("b.md"), "a/c.md") == "a/b.md"
    assert leads(made, path("/c.md"), "a/b.md") == "c.md"
    assert leads(made, path("c.md"), "a/b.md") is None
    assert made.resolve(path("../../c.md"), "a/b.md") is None


def test_a_wiki_link_that_leaves_the_folder_is_none() -> None:
    made = graph(page("deep/x.md"), page("secret/y.md"))
    assert made.resolve(wiki("../x"), "index.md") is None
    assert made.resolve(wiki("../../secret/y"), "deep/x.md") is None
    assert leads(made, wiki("../deep/x"), "secret/y.md") == "deep/x.md"


def test_attachments_are_no_dangling_pages() -> None:
    made = graph(page("Node.js.md"))
    assert made.resolve(wiki("図.png"), "a.md") is None
    assert leads(made, wiki("Node.js")) == "Node.js.md"


def test_a_dangling_link_leads_somewhere_once_its_page_appears() -> None:
    made = graph(page("a.md", wiki("b"), wiki("b"), wiki("題")))
    assert [each.link.target for _, each in made.dangling()] == ["b", "b", "題"]
    made.update([page("x/b.md"), page("c.md", title="題")])
    assert list(made.dangling()) == []
    assert {edge.target for edge in made.outlinks("a.md")} == {"x/b.md", "c.md"}
    made.update(removed=["x/b.md"])
    assert [each.link.target for _, each in made.dangling()] == ["b", "b"]


def test_a_page_that_moves_keeps_its_backlinks() -> None:
    made = graph(page("a.md", wiki("b")), page("b.md"))
    made.update([page("深い/b.md")], removed=["b.md"])
    assert made.backlinks("深い/b.md") == [Edge("a.md", "深い/b.md", "references")]


def test_two_links_of_one_type_to_one_page_are_one_and_a_page_does_not_link_to_itself() -> None:
    made = graph(page("a.md", wiki("b"), wiki("b"), wiki("b", "extends"), wiki("a")), page("b.md"))
    assert made.outlinks("a.md") == [Edge("a.md", "b.md", "references"), Edge("a.md", "b.md", "extends")]


def test_neighbours_come_by_distance_then_strength_then_title() -> None:
    made = graph(
        page("m.md", wiki("b"), wiki("c", "depends_on"), wiki("a")),
        page("a.md", wiki("far")),
        page("b.md"),
        page("c.md"),
        page("far.md"),
        page("back.md", wiki("m", "extends")),
    )
    assert [(each.id, each.depth, each.link_type, each.direction) for each in made.around("m.md", 2)] == [
        ("c.md", 1, "depends_on", "outlink"),
        ("back.md", 1, "extends", "backlink"),
        ("a.md", 1, "references", "outlink"),
        ("b.md", 1, "references", "outlink"),
        ("far.md", 2, "references", "outlink"),
    ]


NAMES = ["a.md", "b.md", "x/a.md", "x/c.md", "y/c.md"]
LINKS = st.lists(
    st.one_of(
        st.sampled_from(["a", "b", "c", "x/c", "T1", "T2"]).map(wiki),
        st.sampled_from(["a.md", "../b.md", "x/c.md"]).map(path),
    ),
    max_size=4,
)
PAGE = st.builds(
    lambda name, links, title: page(name, *links, title=title),
    st.sampled_from(NAMES),
    LINKS,
    st.sampled_from(["T1", "T2", "T3"]),
)


@given(st.lists(st.one_of(PAGE, st.sampled_from(NAMES)), max_size=12))
def test_step_by_step_is_the_same_as_at_once(steps: list[StoredPage | str]) -> None:
    stepped = Graph()
    held: dict[str, StoredPage] = {}
    for step in steps:
        if isinstance(step, str):
            stepped.update(removed=[step])
            held.pop(step, None)
        else:
            stepped.update([step])
            held[step.id] = step
    whole = graph(*held.values())
    for name in held:
        assert stepped.links(name) == whole.links(name)
        assert stepped.outlinks(name) == whole.outlinks(name)
        assert stepped.backlinks(name) == whole.backlinks(name)
    assert sorted(stepped.edges()) == sorted(whole.edges())


@given(st.lists(PAGE, max_size=8), st.integers(1, 4))
def test_distances_are_those_of_a_plain_search(pages: list[StoredPage], depth: int) -> None:
    made = graph(*pages)
    if not made.pages:
        return
    start = sorted(made.pages)[0]
    near: dict[str, set[str]] = {name: set() for name in made.pages}
    for edge in made.edges():
        near[edge.source].add(edge.target)
        near[edge.target].add(edge.source)
    hops, waiting = {start: 0}, deque([start])
    while waiting:
        at = waiting.popleft()
        for other in near[at]:
            if other not in hops and hops[at] < depth:
                hops[other] = hops[at] + 1
                waiting.append(other)
    assert made.distances([start], depth) == hops
