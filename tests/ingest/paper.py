"""PDFs written by hand: Japanese text that PDFium reads without any font being there."""

from collections.abc import Sequence
from dataclasses import dataclass
from zlib import compress

A4 = (595, 842)


@dataclass(frozen=True)
class Line:
    """Text at a place on a page, measured in points from its lower left corner."""

    text: str
    x: float = 72
    y: float = 770
    size: float = 10.5
    downwards: bool = False


@dataclass(frozen=True)
class Scan:
    """A grey image over the whole page."""

    width: int
    height: int
    pixels: bytes


def paragraph(lines: Sequence[str], y: float, x: float = 72, size: float = 10.5) -> list[Line]:
    """Lines below each other, with half a line between them."""
    return [Line(text, x, y - 1.5 * size * at, size) for at, text in enumerate(lines)]


def pdf(
    *pages: Sequence[Line | Scan],
    title: str | None = None,
    outline: Sequence[tuple[str, int]] = (),
    trailer: str = "",
) -> bytes:
    """A PDF of these pages; `outline` names titles and the pages they are on, from 0."""
    objects: list[bytes] = [b""] * 7
    kids = []
    for page in pages:
        resources = "/Font << /F1 3 0 R /F2 7 0 R >>"
        drawn = []
        for at, item in enumerate(page):
            if isinstance(item, Scan):
                pixels = compress(item.pixels)
                objects.append(
                    _stream(
                        f"/Type /XObject /Subtype /Image /Width {item.width} /Height {item.height} "
                        "/ColorSpace /DeviceGray /BitsPerComponent 8 /Filter /FlateDecode",
                        pixels,
                    )
                )
                resources += f" /XObject << /I{at} {len(objects)} 0 R >>"
                drawn.append(f"q {A4[0]} 0 0 {A4[1]} 0 0 cm /I{at} Do Q")
            else:
                letters = item.text.encode("utf-16-be").hex()
                font = "F2" if item.downwards else "F1"
                drawn.append(f"BT /{font} {item.size} Tf {item.x} {item.y} Td <{letters}> Tj ET")
        objects.append(_stream("", "\n".join(drawn).encode()))
        objects.append(
            f"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 {A4[0]} {A4[1]}] /Resources << {resources} >> "
            f"/Contents {len(objects)} 0 R >>".encode()
        )
        kids.append(len(objects))
    first = len(objects) + 1
    for at, (name, page_number) in enumerate(outline):
        around = f"/Prev {first + at - 1} 0 R " if at else ""
        around += f"/Next {first + at + 1} 0 R" if at + 1 < len(outline) else ""
        objects.append(
            f"<< /Title {_text(name)} /Parent 6 0 R /Dest [{kids[page_number]} 0 R /Fit] {around} >>".encode()
        )
    objects[0] = f"<< /Type /Catalog /Pages 2 0 R {'/Outlines 6 0 R' if outline else ''} >>".encode()
    listed = " ".join(f"{kid} 0 R" for kid in kids)
    objects[1] = f"<< /Type /Pages /Kids [{listed}] /Count {len(kids)} >>".encode()
    objects[2], objects[6] = _font("H"), _font("V")
    objects[3] = (
        b"<< /Type /Font /Subtype /CIDFontType0 /BaseFont /HeiseiKakuGo-W5 /DW 1000 /W [1 [500 500] 231 632 500] "
        b"/CIDSystemInfo << /Registry (Adobe) /Ordering (Japan1) /Supplement 2 >> /FontDescriptor "
        b"<< /Type /FontDescriptor /FontName /HeiseiKakuGo-W5 /Flags 4 /FontBBox [0 -120 1000 880] "
        b"/ItalicAngle 0 /Ascent 880 /Descent -120 /CapHeight 700 /StemV 80 >> >>"
    )
    objects[4] = f"<< /Title {_text(title or '')} >>".encode()
    last = first + len(outline) - 1
    objects[5] = f"<< /Type /Outlines /First {first} 0 R /Last {last} 0 R /Count {len(outline)} >>".encode()
    return _file(objects, trailer)


def _file(objects: Sequence[bytes], trailer: str) -> bytes:
    written = bytearray(b"%PDF-1.7\n")
    places = []
    for number, content in enumerate(objects, 1):
        places.append(len(written))
        written += b"%d 0 obj\n%s\nendobj\n" % (number, content)
    table = len(written)
    written += b"xref\n0 %d\n0000000000 65535 f \n" % (len(objects) + 1)
    for place in places:
        written += b"%010d 00000 n \n" % place
    written += f"trailer << /Size {len(objects) + 1} /Root 1 0 R /Info 5 0 R {trailer} >>\n".encode()
    written += b"startxref\n%d\n%%%%EOF\n" % table
    return bytes(written)


def _font(direction: str) -> bytes:
    return (
        "<< /Type /Font /Subtype /Type0 /BaseFont /HeiseiKakuGo-W5 "
        f"/Encoding /UniJIS-UTF16-{direction} /DescendantFonts [4 0 R] >>"
    ).encode()


def _stream(entries: str, data: bytes) -> bytes:
    return f"<< {entries} /Length {len(data)} >>\nstream\n".encode() + data + b"\nendstream"


def _text(text: str) -> str:
    return f"<feff{text.encode('utf-16-be').hex()}>"


# With a password nobody knows: the keys are made up, so no password fits.
ENCRYPTION = (
    "/Encrypt << /Filter /Standard /V 2 /R 3 /Length 128 /P -4 "
    f"/O <{'1b' * 32}> /U <{'2c' * 32}> >> /ID [<{'3d' * 16}> <{'3d' * 16}>]"
)
