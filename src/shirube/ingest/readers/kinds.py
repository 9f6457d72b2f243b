"""Which module reads which binary format, and what a file is by its first bytes, whatever it is called."""

import zipfile
from io import BytesIO

from shirube.ingest.readers.contract import Unreadable

IMAGES = (".png", ".jpg", ".jpeg", ".tif", ".tiff", ".webp", ".bmp")
# What may need Tesseract to be read.
SCANNED = frozenset({".pdf", *IMAGES})
# An ending, and the module of this package that reads it.
MODULES = {
    ".pdf": "pdf",
    ".docx": "word",
    ".xlsx": "workbook",
    ".pptx": "slides",
    **dict.fromkeys(IMAGES, "scans"),
}
_OFFICE = {"word/": "docx", "xl/": "xlsx", "ppt/": "pptx"}
_IMAGE_BEGINNINGS = (b"\x89PNG\r\n\x1a\n", b"\xff\xd8\xff", b"II*\0", b"MM\0*", b"BM")
# What Office wraps a document in that has a password, and what its files were before 2007.
_COMPOUND = b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1"
_ENCRYPTED_PACKAGE = "EncryptedPackage".encode("utf-16-le")


def encrypted() -> Unreadable:
    return Unreadable(
        "encrypted; remove the password", "暗号化されています。パスワードを外してから登録してください。"
    )


def check_kind(suffix: str, data: bytes) -> None:
    """Refuse a file that is something other than its name says, and say what it is."""
    if data.startswith(_COMPOUND):
        if _ENCRYPTED_PACKAGE in data:
            raise encrypted()
        raise Unreadable(
            "an Office file of before 2007 (doc, xls, ppt); save it as docx, xlsx or pptx",
            "2007年より前の Office ファイル（doc、xls、ppt）です。docx、xlsx、pptx で保存し直してください。",
        )
    real = _kind(data)
    named = "image" if suffix in IMAGES else suffix[1:]
    if real is not None and real != named:
        raise Unreadable(
            f"named {suffix}, but it is {_called(real)}; give it its right name",
            f"名前は {suffix} ですが、中身は {real} です。正しい拡張子に直してください。",
        )


def _kind(data: bytes) -> str | None:
    """What the file is, where its bytes tell."""
    if data[:1024].find(b"%PDF-") >= 0:
        return "pdf"
    if data.startswith(_IMAGE_BEGINNINGS) or (data[:4] == b"RIFF" and data[8:12] == b"WEBP"):
        return "image"
    if data.startswith(b"PK\x03\x04"):
        try:
            with zipfile.ZipFile(BytesIO(data)) as archive:
                names = archive.namelist()
        except (zipfile.BadZipFile, ValueError, NotImplementedError):
            return None
        found = {_OFFICE[start] for start in _OFFICE if any(name.startswith(start) for name in names)}
        return found.pop() if len(found) == 1 else "zip" if not found else None
    return None


def _called(kind: str) -> str:
    return {"image": "an image", "zip": "a zip file", "pdf": "a PDF"}.get(kind, f"a {kind}")
