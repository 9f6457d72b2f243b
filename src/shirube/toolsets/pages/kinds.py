"""The kinds of pages and of links, as their specification names them."""

from typing import Literal, get_args

LinkType = Literal["references", "depends_on", "implements", "extends", "conflicts_with"]
LINK_TYPES: tuple[LinkType, ...] = get_args(LinkType)
DocType = Literal["spec", "design", "adr", "guide", "api", "meeting", "todo", "db-schema", "config", "other"]
DOC_TYPES: tuple[DocType, ...] = get_args(DocType)
