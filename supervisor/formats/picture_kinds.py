"""The kinds of pictures that models take, told by their first bytes. A leaf, of the standard library alone."""

STARTS: dict[str, bytes | tuple[bytes, ...]] = {
    "image/png": b"\x89PNG\r\n\x1a\n",
    "image/jpeg": b"\xff\xd8\xff",
    "image/gif": (b"GIF87a", b"GIF89a"),
}


def kind_of(data: bytes) -> str | None:
    """Return the media type by the first bytes. A provider refuses other types, and every later request with them."""
    if data.startswith(b"RIFF") and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for kind, starts in STARTS.items() if data.startswith(starts)), None)
