"""An index as no git writes it: with any path, its names whole or shortened."""

import hashlib
import struct

EMPTY = bytes.fromhex("e69de29bb2d1d6434b8b29ae775ad8c2e48c5391")


def entry(path: bytes, *, version: int = 2, stripped: int = 0, length: int | None = None) -> bytes:
    said = min(len(path) if length is None else length, 0x0FFF)
    head = struct.pack(">10I", *[0] * 6, 0o100755, 0, 0, 0) + EMPTY + struct.pack(">H", said)
    if version == 4:
        return head + bytes([stripped]) + path + b"\0"
    return head + path + b"\0" * (8 - len(head + path) % 8)


def index(*entries: bytes, version: int = 2, extensions: bytes = b"") -> bytes:
    data = struct.pack(">4sII", b"DIRC", version, len(entries)) + b"".join(entries) + extensions
    return data + hashlib.sha1(data, usedforsecurity=False).digest()
