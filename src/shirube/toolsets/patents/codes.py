"""Classification symbols: FI, F-term, IPC and CPC in the form in which they are compared."""

import re
import unicodedata

# A colon is that of an indexing code: F16H59:44.
_WHOLE = re.compile(r"\s*([A-HY][0-9]{2}[A-Z])\s*([0-9]+)\s*([/:])\s*([0-9]+)")
_GROUP = re.compile("[A-HY][0-9]{2}[A-Z][0-9]+")
# Between two codes of a list; a comma or a space may also stand inside one (B60W30/12,624).
_BETWEEN = re.compile(
    r"\s*[;|\n、]+\s*|[\s,]+(?=[A-HY][0-9]{2}[A-Z](?![A-Z])|[0-9][A-Z][0-9]{3}(?![0-9]))", re.IGNORECASE
)
_HALF_WIDTH = {0xFF01 + at: 0x21 + at for at in range(94)} | {0x3000: 0x20}


def normal_symbol(written: str) -> str:
    """Upper case, NFKC, without white space."""
    return "".join(unicodedata.normalize("NFKC", written).upper().split())


def fi_norm(written: str) -> str:
    """The class symbol alone: B60R21/00,624@D, B60R21/00@A, B60R21/00ZHV and B60R21/00 624 are all B60R21/00."""
    found = _WHOLE.match(unicodedata.normalize("NFKC", written).upper())
    return "".join(found.groups()) if found else normal_symbol(written).partition("@")[0].partition(",")[0]


def below(symbol: str) -> tuple[str, ...]:
    """How all symbols below a normal one begin: G06V10/… and G06V10:… for G06V10; none where it is a whole one."""
    symbol = symbol.rstrip("/:")
    if "/" in symbol or ":" in symbol:
        return ()
    return (f"{symbol}/", f"{symbol}:") if _GROUP.fullmatch(symbol) else (symbol,)


def listed(written: str) -> list[str]:
    """The codes of a list, each as it is written."""
    plain = written.translate(_HALF_WIDTH)
    ends = [(0, 0), *(found.span() for found in _BETWEEN.finditer(plain)), (len(plain), len(plain))]
    codes = (written[ends[at][1] : ends[at + 1][0]].strip() for at in range(len(ends) - 1))
    return [code for code in codes if code]
