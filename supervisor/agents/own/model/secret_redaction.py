"""Cut secrets out of a server's text, in every spelling. Pure.

A secret is found as it is, with any of its characters escaped for JSON, a URL or HTML, in base64 and in hexadecimal.
Pieces of a key are found, too, because a text may be cut inside a key or hold it in two fields.
"""

import re
from base64 import b64encode
from collections.abc import Iterable, Iterator
from functools import lru_cache

REDACTED = "[…]"
PIECE = 8  # adjacent characters of a key that can't be there by chance
LONG = 16  # characters of a key whose pieces are looked for
BEFORE = ("", "-", "--")  # base64 has three spellings of the same bytes, by their distance from the beginning


def redact(text: str, secrets: Iterable[str], keys: Iterable[str] = ()) -> str:
    """Cut out all secrets; of the `keys` among them, also the pieces."""
    for secret in secrets:
        text = _spellings_of(secret).sub(REDACTED, text)
    for key in keys:
        if len(key) >= LONG:
            text = _without_pieces(text, key)
    return text


@lru_cache(64)
def _spellings_of(secret: str) -> re.Pattern[str]:
    return re.compile("|".join(("".join(map(_character, secret)), *map(re.escape, _encodings_of(secret)))))


def _character(character: str) -> str:
    code, plain = ord(character), re.escape(character)
    return rf"(?:\\?{plain}|(?i:\\u{code:04x}|\\x{code:02x}|%{code:02x}|&\#0*{code};|&\#x0*{code:x};))"


def _encodings_of(secret: str) -> Iterator[str]:
    raw = secret.encode()
    for before in BEFORE:
        # The first and the last characters also hold bits of their neighbours.
        whole = b64encode(before.encode() + raw).decode().rstrip("=")
        inner = whole[(len(before) * 8 + 5) // 6 : (len(before) + len(raw)) * 8 // 6]
        yield from {inner, inner.replace("+", "-").replace("/", "_")}
    yield from (raw.hex(), raw.hex().upper())


def _without_pieces(text: str, key: str) -> str:
    pieces = {key[at : at + PIECE] for at in range(len(key) - PIECE + 1)}
    kept, at = [], 0
    while at < len(text):
        end = at
        while text[end : end + PIECE] in pieces:
            end += 1
        if end > at:
            kept.append(REDACTED)
            at = end + PIECE - 1
        else:
            kept.append(text[at])
            at += 1
    return "".join(kept)
