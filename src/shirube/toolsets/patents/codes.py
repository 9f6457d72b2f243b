"""Classification symbols: FI, F-term, IPC and CPC in the form in which they are compared."""

import re
import unicodedata

_EDITION = re.compile("(?<=[0-9])[A-Z]$")
_WHOLE = re.compile("[A-HY][0-9]{2}[A-Z][0-9]+/[0-9]+")
_GROUP = re.compile("[A-HY][0-9]{2}[A-Z][0-9]+")


def normal_symbol(written: str) -> str:
    """Upper case, NFKC, without white space."""
    return "".join(unicodedata.normalize("NFKC", written).upper().split())


def fi_norm(written: str) -> str:
    """The class symbol alone: B60R21/00,624@D, B60R21/00@A and B60R21/00A are all B60R21/00."""
    symbol = normal_symbol(written).partition("@")[0].partition(",")[0]
    return _EDITION.sub("", symbol) if "/" in symbol else symbol


def subtree(written: str) -> str | None:
    """The beginning that all symbols below one share, None where it is a whole symbol: G06V10 is G06V10/…"""
    symbol = normal_symbol(written)
    if symbol.endswith("*"):
        return symbol.rstrip("*")
    symbol = fi_norm(symbol)
    if _WHOLE.fullmatch(symbol) or "/" in symbol:
        return None
    return f"{symbol}/" if _GROUP.fullmatch(symbol) else symbol
