"""Shortens an event that is too large: long texts lose their middle, and say how many bytes that was.

Pure. The result is an event of the same type: nothing is left out but parts of texts and, where there are too many of
them, the later members of a list. Short texts, such as ids, are never touched.
"""

import json
import re
from collections.abc import Iterable
from typing import Any

SHORT = 1024  # bytes of a text that is left alone
MARK = 80  # bytes, roughly, of the words in place of a gap

_IN_STRING = re.compile(rb'[^"\\]*(?:\\.[^"\\]*)*', re.DOTALL)
_WHOLE = re.compile(rb"(?:[^\\]+|\\u[0-9a-fA-F]{4}|\\[^u])*")
_HALF_A_PAIR = re.compile(rb"\\u[dD][89abAB][0-9a-fA-F]{2}$")


def shorten_json(body: bytes, most: int) -> bytes:
    """A JSON object in at most so many bytes, or in as few as its short texts and its shape allow."""
    if len(body) <= most:
        return body
    tree, allowed = json.loads(body), most
    while allowed > 0:
        cut = _encode(_with_texts_of(tree, _fair_length(tree, allowed)))
        if len(cut) <= most:
            return cut
        if allowed < most // 4:
            break
        allowed -= max(len(cut) - most, most // 16)
    return _encode(_with_fewer(_with_texts_of(tree, SHORT), most))


def outline(pieces: Iterable[bytes], most: int) -> bytes | None:
    """Shorten an object too large for memory: each long text keeps its beginning. None: there are too many texts."""
    scan = _Outline(most // 16)
    for piece in pieces:
        scan.feed(piece)
        if len(scan.done) > most:
            return None
    return bytes(scan.done)


def omission_mark(count: int) -> str:
    return f"[… {count} bytes were left out here …]"


# --- in memory ------------------------------------------------------------------------------------------------------


def _encode(tree: Any) -> bytes:
    return json.dumps(tree, ensure_ascii=False, separators=(",", ":")).encode()


def _size(text: str) -> int:
    return len(json.dumps(text, ensure_ascii=False).encode())


def _texts(tree: Any) -> Iterable[str]:
    places = [tree]
    while places:
        place = places.pop()
        if isinstance(place, str):
            yield place
        elif isinstance(place, dict):
            places += place.values()
        elif isinstance(place, list):
            places += place


def _fair_length(tree: Any, allowed: int) -> int:
    """The length at which texts are cut so that all together fit: only the longest lose something."""
    sizes = sorted(_size(text) for text in _texts(tree))
    room = allowed - (len(_encode(tree)) - sum(sizes))
    for place, size in enumerate(sizes):
        share = room // (len(sizes) - place)
        if size > share:
            return max(share, SHORT)
        room -= size
    return max(allowed, SHORT)


def _with_texts_of(tree: Any, length: int) -> Any:
    if isinstance(tree, str):
        return _cut_middle(tree, length)
    if isinstance(tree, dict):
        return {key: _with_texts_of(value, length) for key, value in tree.items()}
    return [_with_texts_of(value, length) for value in tree] if isinstance(tree, list) else tree


def _cut_middle(text: str, length: int) -> str:
    """Cut the middle out: two thirds of what is kept are the beginning, one third is the end."""
    size = _size(text)
    if size <= max(length, SHORT):
        return text
    kept = int(len(text) * max(length - MARK, SHORT // 2) / size)
    head, tail = kept - kept // 3, kept // 3
    return f"{text[:head]}{omission_mark(len(text[head : len(text) - tail].encode()))}{text[len(text) - tail :]}"


def _with_fewer(tree: Any, most: int) -> Any:
    """Drop the later half of the largest list or table, again and again, until the rest fits."""
    while (size := len(_encode(tree))) > most:
        path = _largest(tree)
        if path is None:
            return tree
        tree = _halve(tree, path, size)
    return tree


def _largest(tree: Any) -> tuple[str | int, ...] | None:
    """The path to the list or table with the most members."""
    best: tuple[int, tuple[str | int, ...]] = (1, ())
    places: list[tuple[tuple[str | int, ...], Any]] = [((key,), value) for key, value in tree.items()]
    while places:
        path, value = places.pop()
        if isinstance(value, dict | list):
            best = max(best, (len(value), path), key=lambda candidate: candidate[0])
            inner = value.items() if isinstance(value, dict) else enumerate(value)
            places += [((*path, key), child) for key, child in inner]
    return best[1] or None


def _halve(tree: Any, path: tuple[str | int, ...], size: int) -> Any:
    if not path:
        half = len(tree) // 2
        if isinstance(tree, dict):
            return dict(list(tree.items())[:half])
        lost = omission_mark(len(_encode(tree[half:])))
        return [*tree[: max(half - 1, 0)], lost] if all(isinstance(member, str) for member in tree) else tree[:half]
    key, *rest = path
    inner = _halve(tree[key], tuple(rest), size)
    if isinstance(tree, dict):
        return {**tree, key: inner}
    return [inner if place == key else member for place, member in enumerate(tree)]


def end_of_text(piece: bytes, at: int) -> int:
    """The end of a JSON text that goes on at `at`: at its quote, at half an escape, or with the piece."""
    quote = piece.find(b'"', at)
    end = len(piece) if quote < 0 else quote
    escape = piece.find(b"\\", at, end)
    if escape < 0:  # nearly always where a text is long, and found a hundred times as fast
        return end
    found = _IN_STRING.match(piece, escape)
    return found.end() if found else escape


# --- in pieces ------------------------------------------------------------------------------------------------------


class _Outline:
    """Follows JSON far enough to know its texts. `kept`: bytes of each of them."""

    def __init__(self, kept: int) -> None:
        self.done = bytearray()
        self._kept = kept
        self._text: bytearray | None = None  # the beginning of the text that we are in
        self._size = 0
        self._escaped = False

    def feed(self, piece: bytes) -> None:
        at = 0
        while at < len(piece):
            if self._text is None:
                end = piece.find(b'"', at)
                self.done += piece[at : len(piece) if end < 0 else end]
                if end < 0:
                    return
                self._text, self._size, at = bytearray(), 0, end + 1
            else:
                at = self._in_text(self._text, piece, at)

    def _in_text(self, text: bytearray, piece: bytes, at: int) -> int:
        begin = at
        if self._escaped:
            self._escaped, at = False, at + 1
        end = end_of_text(piece, at)
        closed = piece[end : end + 1] == b'"'
        if not closed and end < len(piece):
            self._escaped, end = True, end + 1  # a backslash, and the escaped character comes with the next piece
        self._size += end - begin
        text += piece[begin : min(end, begin + max(0, self._kept + 1 - len(text)))]
        if closed:
            self._close(text)
            return end + 1
        return end

    def _close(self, text: bytearray) -> None:
        self.done += b'"'
        if self._size <= self._kept:
            self.done += text
        else:
            head = _beginning(bytes(text[: self._kept]))
            self.done += head + omission_mark(self._size - len(head)).encode()
        self.done += b'"'
        self._text = None


def _beginning(text: bytes) -> bytes:
    """The text without the half of a character or of an escape that a cut leaves."""
    text = text.decode(errors="ignore").encode()
    found = _WHOLE.match(text)
    return _HALF_A_PAIR.sub(b"", text[: found.end()] if found else b"")
